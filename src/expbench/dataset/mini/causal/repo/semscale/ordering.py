"""Causal orders that only look at second moments, and a chance-level order."""

from __future__ import annotations

import numpy as np


def variance_order(data: np.ndarray) -> list[int]:
    """Variables by increasing sample variance.

    Variances are rounded to 8 decimals and ties are broken by the column index, so that
    columns of equal variance are not sorted by their rounding errors.
    """
    return [int(j) for j in np.argsort(np.round(data.var(axis=0), 8), kind="stable")]


def r2_scores(data: np.ndarray) -> np.ndarray:
    """R^2 of each variable in a regression on all the others.

    Uses the identity R^2_j = 1 - 1 / (C^-1)_jj with C the correlation matrix.
    """
    precision = np.linalg.inv(np.corrcoef(data, rowvar=False))
    return 1.0 - 1.0 / np.diag(precision)


def r2_order(data: np.ndarray) -> list[int]:
    """Variables by increasing R^2 given all the others."""
    return [int(j) for j in np.argsort(r2_scores(data), kind="stable")]


def random_order(rng: np.random.Generator, d: int) -> list[int]:
    """A uniformly random order, the chance level of the order-based methods."""
    return [int(j) for j in rng.permutation(d)]
