"""Estimators of the average treatment effect from fitted nuisances.

All of them take the treatment ``t``, the outcome ``y``, the propensities ``e`` and the two
outcome predictions ``m0`` and ``m1``; estimators ignore what they do not need.
"""

from __future__ import annotations

import numpy as np


def naive(t, y, e, m0, m1) -> float:
    """Difference of the group means, no adjustment."""
    return float(y[t == 1].mean() - y[t == 0].mean())


def outcome_regression(t, y, e, m0, m1) -> float:
    """Backdoor adjustment by averaging the predicted contrasts (g-formula)."""
    return float(np.mean(m1 - m0))


def ipw_ht(t, y, e, m0, m1) -> float:
    """Inverse propensity weighting with unnormalised (Horvitz-Thompson) weights."""
    return float(np.mean(t * y / e - (1.0 - t) * y / (1.0 - e)))


def ipw_hajek(t, y, e, m0, m1) -> float:
    """Inverse propensity weighting with weights normalised within each arm."""
    w1, w0 = t / e, (1.0 - t) / (1.0 - e)
    return float(np.sum(w1 * y) / np.sum(w1) - np.sum(w0 * y) / np.sum(w0))


def aipw(t, y, e, m0, m1) -> float:
    """Augmented inverse propensity weighting (doubly robust)."""
    correction = t * (y - m1) / e - (1.0 - t) * (y - m0) / (1.0 - e)
    return float(np.mean(m1 - m0 + correction))


ESTIMATORS = {
    "naive": naive,
    "or": outcome_regression,
    "ipw_ht": ipw_ht,
    "ipw_hajek": ipw_hajek,
    "aipw": aipw,
}


def clip_propensity(e: np.ndarray, floor: float) -> np.ndarray:
    """Propensities bounded to [floor, 1 - floor]."""
    return np.clip(e, floor, 1.0 - floor)
