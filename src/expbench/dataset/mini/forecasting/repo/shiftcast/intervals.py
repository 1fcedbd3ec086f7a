"""Prediction intervals from the past errors of a backtest.

Every method sees only errors that were known when the interval was issued: with origins
one step apart, the lead-h error of origin row j is known at row i if ``j <= i - h``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Z90 = 1.6448536269514722
ALPHA = 0.10


def conformal_quantile(scores: np.ndarray, alpha: float) -> float:
    """The ceil((n + 1)(1 - alpha))-th smallest score, the largest one if n is too small."""
    rank = int(np.ceil((scores.size + 1) * (1.0 - alpha) - 1e-9))
    return float(np.sort(scores)[min(max(rank, 1), scores.size) - 1])


def sqrt_gaussian(errors: np.ndarray, row: int, lead: int) -> float:
    """Root mean square of the known one-step errors times ``sqrt(lead)`` times z."""
    known = errors[: row, 0]
    return Z90 * float(np.sqrt(np.mean(known**2))) * float(np.sqrt(lead))


def lead_gaussian(errors: np.ndarray, row: int, lead: int) -> float:
    """Root mean square of the known errors of the same lead time, times z."""
    known = errors[: row - lead + 1, lead - 1]
    return Z90 * float(np.sqrt(np.mean(known**2)))


def expanding_conformal(errors: np.ndarray, row: int, lead: int) -> float:
    """Conformal quantile of all known absolute errors of the same lead time."""
    known = errors[: row - lead + 1, lead - 1]
    return conformal_quantile(np.abs(known), ALPHA)


def rolling_conformal(errors: np.ndarray, row: int, lead: int, size: int = 36) -> float:
    """Conformal quantile of the last ``size`` known absolute errors of the lead time."""
    known = errors[: row - lead + 1, lead - 1]
    return conformal_quantile(np.abs(known[-size:]), ALPHA)


METHODS: dict[str, Callable[[np.ndarray, int, int], float]] = {
    "sqrt-gaussian": sqrt_gaussian,
    "lead-gaussian": lead_gaussian,
    "expanding-conformal": expanding_conformal,
    "rolling-conformal": rolling_conformal,
}


def half_widths(
    method: Callable[[np.ndarray, int, int], float],
    errors: np.ndarray,
    rows: range,
    leads: tuple[int, ...],
) -> np.ndarray:
    """Half widths for the given rows and lead times, shape (rows, leads)."""
    return np.array([[method(errors, row, lead) for lead in leads] for row in rows])
