"""Two runs on the same tasks: the difference, its interval, and whether chance would do as much.

Pairing takes the tasks' difficulty out; papers stay the unit. The p value is that of a permutation test:
were the two runs alike, the sign of each paper's summed difference would be as good as random, so it is
flipped for whole papers. With up to 16 papers that differ every one of the 2^G patterns is counted, which
is exact; else 20,000 are drawn by a fixed seed, and the observed pattern counts as one of them (Phipson
and Smyth 2010), so that p is never 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

from expbench.schema import Record
from expbench.statistics.clusters import Array, by_cluster
from expbench.statistics.intervals import SEED, Interval, mean_interval

EXACT_UP_TO = 16
"""Papers whose every pattern of signs is counted."""
PATTERNS = 20_000
_DIFFERENCES = (-1.0, 1.0)


class Paired(Record):
    """The mean of second minus first over the tasks that both have, each task with its epochs averaged."""

    tasks: int
    papers: int
    difference: float | None
    interval: Interval
    p: float | None
    """Two-sided, before any correction for several comparisons."""
    how: Literal["exact", "drawn", "none"]
    """Whether all patterns of signs were counted, some drawn, or nothing differed at all."""
    correlation: float | None
    """Of the two runs' task values; ``None`` where one of them is constant."""
    better: int
    """Tasks with a higher value in the second run."""
    worse: int


def paired(first: Sequence[float], second: Sequence[float], papers: Sequence[str]) -> Paired:
    """Compare two runs task by task; the three sequences are of the same tasks in the same order."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    if not differences:
        none = mean_interval((), ())
        return Paired(
            tasks=0,
            papers=0,
            difference=None,
            interval=none,
            p=None,
            how="none",
            correlation=None,
            better=0,
            worse=0,
        )
    p, how = sign_flip(differences, papers)
    return Paired(
        tasks=len(differences),
        papers=len(set(papers)),
        difference=math.fsum(differences) / len(differences),
        interval=mean_interval(differences, papers, bootstrap=True, ends=_DIFFERENCES),
        p=p,
        how=how,
        correlation=correlation(first, second),
        better=sum(each > 0 for each in differences),
        worse=sum(each < 0 for each in differences),
    )


def sign_flip(
    differences: Sequence[float], papers: Sequence[str]
) -> tuple[float, Literal["exact", "drawn", "none"]]:
    """The two-sided p value of no difference, by flipping signs of whole papers, and how it was made."""
    sums, _ = by_cluster(differences, papers)
    sums = sums[np.abs(sums) > 1e-12]
    if not len(sums):
        return 1.0, "none"
    observed = abs(float(sums.sum()))
    if len(sums) <= EXACT_UP_TO:
        return _reach(_all_signs(len(sums)), sums, observed) / 2 ** len(sums), "exact"
    reached = _reach(_some_signs(len(sums)), sums, observed)
    return (reached + 1) / (PATTERNS + 1), "drawn"


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values of several comparisons, adjusted by Holm's step-down method (1979), in their order."""
    ranked = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(ranked):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation, or ``None`` where one side is constant or there are less than 3 pairs."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


@lru_cache(maxsize=4)
def _all_signs(count: int) -> Array:
    patterns = np.arange(2**count)[:, None] >> np.arange(count) & 1
    return (patterns * 2 - 1).astype(np.float64)


@lru_cache(maxsize=4)
def _some_signs(count: int) -> Array:
    random = np.random.default_rng(SEED)
    patterns = random.integers(0, 2, size=(PATTERNS, count), dtype=np.int8)
    return (patterns * 2 - 1).astype(np.float64)


def _reach(signs: Array, sums: Array, observed: float) -> int:
    """How many patterns of signs are as far from 0 as the observed one, give or take rounding."""
    totals = np.einsum("ij,j->i", signs, sums)
    return int((np.abs(totals) >= observed * (1 - 1e-12) - 1e-12).sum())
