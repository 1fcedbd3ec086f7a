"""Point and interval accuracy measures."""

from __future__ import annotations

import numpy as np


def seasonal_scale(history: np.ndarray, period: int) -> float:
    """Mean absolute seasonal difference of the history, the denominator of MASE."""
    history = np.asarray(history, dtype=float)
    if history.size <= period:
        raise ValueError("the history must be longer than one period")
    return float(np.mean(np.abs(history[period:] - history[:-period])))


def mase(errors: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Scaled absolute errors: ``errors`` (..., horizon) over ``scales`` (...).

    Returned unaveraged; take the mean over the axes you want to pool.
    """
    return np.abs(errors) / np.asarray(scales)[..., None]


def smape(actual: np.ndarray, forecast: np.ndarray) -> float:
    """Symmetric mean absolute percentage error in percent."""
    actual, forecast = np.asarray(actual), np.asarray(forecast)
    return float(np.mean(200.0 * np.abs(actual - forecast) / (np.abs(actual) + np.abs(forecast))))


def coverage(actual: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Indicator of every actual that lies in its closed interval (unaveraged)."""
    return ((actual >= lower) & (actual <= upper)).astype(float)


def winkler(
    actual: np.ndarray, lower: np.ndarray, upper: np.ndarray, alpha: float
) -> np.ndarray:
    """Winkler (interval) score of a central ``1 - alpha`` interval (unaveraged).

    Width plus ``2 / alpha`` times the distance by which the actual is missed.
    """
    below = np.maximum(lower - actual, 0.0)
    above = np.maximum(actual - upper, 0.0)
    return (upper - lower) + (2.0 / alpha) * (below + above)
