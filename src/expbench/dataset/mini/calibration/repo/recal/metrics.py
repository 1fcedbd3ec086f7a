"""Calibration metrics for binary predictions ``p = P(y=1)`` and labels ``y``."""

from __future__ import annotations

import numpy as np


def brier(p: np.ndarray, y: np.ndarray) -> float:
    """Mean squared difference between probability and label."""
    return float(np.mean((p - y) ** 2))


def log_loss(p: np.ndarray, y: np.ndarray, eps: float = 1e-4) -> float:
    """Negative log-likelihood per example; probabilities are clipped to ``[eps, 1 - eps]``."""
    p = np.clip(p, eps, 1.0 - eps)
    return float(-np.mean(np.where(y == 1, np.log(p), np.log1p(-p))))


def _bins(p: np.ndarray, n_bins: int, scheme: str) -> list[np.ndarray]:
    """Index arrays of the non-empty bins."""
    if scheme == "width":
        which = np.minimum((p * n_bins).astype(int), n_bins - 1)
        return [idx for k in range(n_bins) if len(idx := np.flatnonzero(which == k))]
    if scheme == "mass":
        order = np.argsort(p, kind="stable")
        return [part for part in np.array_split(order, n_bins) if len(part)]
    raise ValueError(f"unknown scheme {scheme!r}")


def reliability(
    p: np.ndarray, y: np.ndarray, n_bins: int = 15, scheme: str = "width"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean confidence, share of positives and weight of every non-empty bin."""
    parts = _bins(p, n_bins, scheme)
    conf = np.array([p[part].mean() for part in parts])
    freq = np.array([y[part].mean() for part in parts])
    weight = np.array([len(part) for part in parts]) / len(p)
    return conf, freq, weight


def ece(p: np.ndarray, y: np.ndarray, n_bins: int = 15, scheme: str = "width") -> float:
    """Expected calibration error (L1): the weighted mean of ``|conf - freq|`` over bins."""
    conf, freq, weight = reliability(p, y, n_bins, scheme)
    return float(np.sum(weight * np.abs(conf - freq)))


def rms_ce(
    p: np.ndarray, y: np.ndarray, n_bins: int = 15, scheme: str = "mass", debias: bool = False
) -> float:
    """Root-mean-square calibration error over bins.

    With ``debias`` the binomial variance ``freq (1 - freq) / (size - 1)`` of each bin is
    subtracted from its squared gap, and a negative total counts as zero.
    """
    conf, freq, weight = reliability(p, y, n_bins, scheme)
    gap = (conf - freq) ** 2
    if debias:
        gap = gap - freq * (1.0 - freq) / np.maximum(weight * len(p) - 1.0, 1.0)
    return float(np.sqrt(max(np.sum(weight * gap), 0.0)))


def ece_sweep(p: np.ndarray, y: np.ndarray, max_bins: int = 60) -> float:
    """ECE with the largest number of equal-mass bins that keeps ``freq`` non-decreasing.

    Starting from one bin, the number of bins grows by one until the share of positives first
    falls from some bin to the next.
    """
    positives = np.r_[0, np.cumsum(y[np.argsort(p, kind="stable")])]
    best = 1
    for k in range(2, min(max_bins, len(p)) + 1):
        size, extra = divmod(len(p), k)
        edges = np.arange(k + 1) * size + np.minimum(np.arange(k + 1), extra)
        freq = np.diff(positives[edges]) / np.diff(edges)
        if np.any(np.diff(freq) < 0.0):
            break
        best = k
    return ece(p, y, best, "mass")


def true_ce(p: np.ndarray, true: np.ndarray, order: int = 1) -> float:
    """Calibration error against the known true probability of each example (``L1`` or ``L2``)."""
    return float(np.mean(np.abs(p - true) ** order) ** (1.0 / order))


def refinement(p: np.ndarray) -> float:
    """Sharpness: the mean of ``p (1 - p)`` (0 for certain, 0.25 for uninformative predictions)."""
    return float(np.mean(p * (1.0 - p)))
