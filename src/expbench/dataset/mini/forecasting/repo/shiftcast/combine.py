"""Forecast combinations; every function takes forecasts stacked on the first axis."""

from __future__ import annotations

import numpy as np


def equal_mean(forecasts: np.ndarray) -> np.ndarray:
    """Unweighted mean over the members."""
    return np.mean(np.asarray(forecasts, dtype=float), axis=0)


def median(forecasts: np.ndarray) -> np.ndarray:
    """Member-wise median."""
    return np.median(np.asarray(forecasts, dtype=float), axis=0)


def inverse_error_weights(past_errors: np.ndarray, power: float = 1.0) -> np.ndarray:
    """Weights proportional to ``mean |error| ** -power``, one per member, summing to one.

    ``past_errors`` has the members on the first axis; all other axes are averaged.
    """
    past_errors = np.abs(np.asarray(past_errors, dtype=float))
    size = past_errors.reshape(past_errors.shape[0], -1).mean(axis=1)
    raw = np.maximum(size, 1e-12) ** -power
    return raw / raw.sum()


def weighted(forecasts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sum over the members."""
    return np.tensordot(np.asarray(weights), np.asarray(forecasts, dtype=float), axes=1)
