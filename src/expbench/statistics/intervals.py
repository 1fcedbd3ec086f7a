"""95 % intervals for numbers that come in papers.

Tasks of one paper share its repository and its difficulty, so they are not independent draws. Two
intervals take papers as the unit. The cluster-robust one: with task values y, their mean m, and r_g the
sum of y - m over paper g, the variance of m is G/(G-1) * sum(r_g^2) / n^2, and Student's t has
G-1 degrees of freedom (Cameron and Miller 2015; Miller 2024, arXiv 2411.00640). The cluster bootstrap:
whole papers are drawn with replacement, 10,000 times by a fixed seed, and the interval is that of the
percentiles of the draws' means (Cameron, Gelbach and Miller 2008).

Near 0 or 1 both are too narrow, and of zero width when all agree. Shares therefore get
the Clopper-Pearson interval on tasks too (Bowyer, Aitchison and Ivanova 2025, arXiv 2503.01747),
and the widest is shown.

The quantiles come from ``scipy.special``, which loads in a third of the time of ``scipy.stats``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from expbench.schema import Record
from expbench.statistics.clusters import Papers, by_cluster

LEVEL = 0.95
"""Two-sided confidence of every interval."""
DRAWS = 10_000
SEED = 20_250_524

CLUSTER = "cluster-robust t over papers"
BOOTSTRAP = "bootstrap over papers"
EXACT = "Clopper-Pearson over tasks"
ONE_PAPER = "no interval: one paper"
NOTHING = "no interval: nothing scored"
NO_SPREAD = "no interval: all papers have the same mean"

Ends = tuple[float, float]
UNIT: Ends = (0.0, 1.0)
"""What a score can be; a difference of two scores can be from -1 to 1."""


class Interval(Record):
    """Two ends and how they were made, or two ``None`` and why there are none."""

    low: float | None = None
    high: float | None = None
    how: str

    @property
    def width(self) -> float:
        """The distance of the ends; 0 without an interval."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low


def share_interval(values: Sequence[float], papers: Papers, bootstrap: bool = False) -> Interval:
    """Interval of a share: one value in [0, 1] per task, and the task's paper.

    The wider of Clopper-Pearson over tasks and cluster-robust t over papers, with ``bootstrap`` also of
    the bootstrap over papers.
    """
    if (none := _too_few(values, papers)) is not None:
        return none
    exact = clopper_pearson(math.fsum(values), len(values))
    return wider(exact, _over_papers(values, papers, UNIT, bootstrap))


def mean_interval(
    values: Sequence[float],
    papers: Papers,
    bootstrap: bool = False,
    ends: Ends = UNIT,
) -> Interval:
    """Interval of a mean: one value per task, between the two ``ends``, and the task's paper.

    Values that are all 0 or 1 make the mean a share, and it gets a share's interval.
    """
    if (none := _too_few(values, papers)) is not None:
        return none
    if ends == UNIT and all(value in UNIT for value in values):
        return share_interval(values, papers, bootstrap)
    found = _over_papers(values, papers, ends, bootstrap)
    return found if found.width > 1e-12 else Interval(how=NO_SPREAD)


def wider(first: Interval, *others: Interval) -> Interval:
    """The widest of some intervals; of equal ones the first."""
    return max((first, *others), key=lambda interval: interval.width)


def clopper_pearson(successes: float, total: int) -> Interval:
    """The exact binomial interval.

    Averaged epochs make fractional successes, for which there is no exact interval: each end is
    then taken at the whole number that puts it further out.
    """
    tail = (1 - LEVEL) / 2
    near = round(successes, 9)
    fewest, most = math.floor(near), math.ceil(near)
    low = float(betaincinv(fewest, total - fewest + 1, tail)) if fewest > 0 else 0.0
    high = float(betaincinv(most + 1, total - most, 1 - tail)) if most < total else 1.0
    return Interval(low=low, high=high, how=EXACT)


def cluster_t(values: Sequence[float], papers: Papers, ends: Ends = UNIT) -> Interval:
    """The cluster-robust t interval of the mean, clipped to ``ends``; needs two papers or more."""
    mean = math.fsum(values) / len(values)
    error, clusters = cluster_error(values, papers)
    half = float(stdtrit(clusters - 1, (1 + LEVEL) / 2)) * error
    return Interval(low=max(ends[0], mean - half), high=min(ends[1], mean + half), how=CLUSTER)


def cluster_error(values: Sequence[float], papers: Papers) -> tuple[float, int]:
    """The cluster-robust standard error of the mean, and the number of papers (two or more)."""
    sums, sizes = by_cluster(values, papers)
    residuals = sums - sizes * (math.fsum(values) / len(values))
    clusters = len(sums)
    squares = float(residuals @ residuals)
    return math.sqrt(clusters / (clusters - 1) * squares) / len(values), clusters


def cluster_bootstrap(values: Sequence[float], papers: Papers) -> Interval:
    """The percentile interval of the mean when whole papers are drawn anew; needs two or more."""
    sums, sizes = by_cluster(values, papers)
    low, high = _drawn(sums.tobytes(), sizes.tobytes())
    return Interval(low=low, high=high, how=BOOTSTRAP)


@lru_cache(maxsize=256)
def _drawn(sums: bytes, sizes: bytes) -> Ends:
    """The percentiles of the draws' means; many metrics of a run are the same numbers by another rule."""
    of, by = np.frombuffer(sums), np.frombuffer(sizes)
    often = _draws(len(of))
    # einsum, since the threads of a matrix product cost more here than they save.
    means = np.einsum("ij,j->i", often, of) / np.einsum("ij,j->i", often, by)
    low, high = np.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(low), float(high)


@lru_cache(maxsize=8)
def _draws(clusters: int) -> NDArray[np.float64]:
    """How often each paper is in each draw: the same for all metrics of a run, and from run to run."""
    chances = np.full(clusters, 1 / clusters)
    found = np.random.default_rng(SEED).multinomial(clusters, chances, size=DRAWS)
    return found.astype(np.float64)


def _over_papers(values: Sequence[float], papers: Papers, ends: Ends, bootstrap: bool) -> Interval:
    robust = cluster_t(values, papers, ends)
    return wider(robust, cluster_bootstrap(values, papers)) if bootstrap else robust


def _too_few(values: Sequence[float], papers: Papers) -> Interval | None:
    if not values:
        return Interval(how=NOTHING)
    return Interval(how=ONE_PAPER) if len(set(papers)) == 1 else None
