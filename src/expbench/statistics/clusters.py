"""How much tasks of one paper are alike, and what that costs.

The intraclass correlation is the analysis of variance's, ICC(1) of Shrout and Fleiss (1979), with the
mean size of unequal groups after Donner (1986). By Kish's design effect 1 + (m - 1) * ICC, where m is the
size of the paper that a task stems from on average, n tasks say as much as n / effect independent ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from expbench.schema import Record

Array = NDArray[np.float64]
Papers = Sequence[str] | Sequence[int]
"""The paper of each task, by any name."""


class Clustering(Record):
    """How alike the tasks of a paper are. ``icc`` may be below 0; then no effect is claimed."""

    icc: float | None
    """``None`` where it cannot be told: one paper, one task a paper, or no spread at all."""
    design_effect: float
    effective_n: float
    """As many independent tasks would say as much."""


def by_cluster(values: Sequence[float], papers: Papers) -> tuple[Array, Array]:
    """The sum of the values of each paper and their number, by the papers' names in order."""
    _, place = np.unique(np.asarray(papers), return_inverse=True)
    sums = np.bincount(place, weights=np.asarray(values, dtype=np.float64))
    return sums.astype(np.float64), np.bincount(place).astype(np.float64)


def clustering(values: Sequence[float], papers: Papers) -> Clustering:
    """The intraclass correlation of task values by paper, and the effective number of tasks."""
    n = len(values)
    between, within, size = mean_squares(values, papers) if n else (None, None, 0.0)
    total = None if between is None or within is None else between + (size - 1) * within
    if between is None or within is None or not total or total <= 0:
        return Clustering(icc=None, design_effect=1.0, effective_n=float(n))
    icc = (between - within) / total
    _, sizes = by_cluster(values, papers)
    effect = design_effect(max(icc, 0.0), float(sizes @ sizes) / n)
    return Clustering(icc=icc, design_effect=effect, effective_n=n / effect)


def design_effect(icc: float, size: float) -> float:
    """By how much clustering multiplies the variance of a mean (Kish 1965).

    ``size`` is the mean number of tasks in the paper of a task: the sum of squared sizes over their sum.
    """
    return 1 + (size - 1) * icc


def mean_squares(
    values: Sequence[float], papers: Papers
) -> tuple[float | None, float | None, float]:
    """Mean squares between and within papers, and the size of a paper that makes them comparable.

    Either is ``None`` without a degree of freedom.
    """
    numbers = np.asarray(values, dtype=np.float64)
    sums, sizes = by_cluster(values, papers)
    n, groups = len(numbers), len(sums)
    spread = float(sizes @ (sums / sizes - numbers.mean()) ** 2)
    total = float(((numbers - numbers.mean()) ** 2).sum())
    between = spread / (groups - 1) if groups > 1 else None
    within = max(total - spread, 0.0) / (n - groups) if n > groups else None
    size = (n - float(sizes @ sizes) / n) / (groups - 1) if groups > 1 else float(n)
    return between, within, size
