"""95 % intervals for numbers that come in papers.

Tasks of one paper share its repository and its difficulty, so they are not independent draws. The
cluster-robust interval takes papers as the unit: with task values y, their mean m, and r_g the
sum of y - m over paper g, the variance of m is G/(G-1) * sum(r_g^2) / n^2, and Student's t has
G-1 degrees of freedom (Cameron and Miller 2015; Miller 2024, arXiv 2411.00640).

Near 0 or 1 that interval is too narrow, and of zero width when all agree. Shares therefore get
the Clopper-Pearson interval on tasks too (Bowyer, Aitchison and Ivanova 2025, arXiv 2503.01747),
and the wider of the two is shown.

The quantiles come from ``scipy.special``, which loads in a third of the time of ``scipy.stats``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from scipy.special import betaincinv, stdtrit

from expbench.schema import Record

LEVEL = 0.95
"""Two-sided confidence of every interval."""

CLUSTER = "cluster-robust t over papers"
EXACT = "Clopper-Pearson over tasks"
ONE_PAPER = "no interval: one paper"
NOTHING = "no interval: nothing scored"
NO_SPREAD = "no interval: all papers have the same mean"


class Interval(Record):
    """Two ends in [0, 1] and how they were made, or two ``None`` and why there are none."""

    low: float | None = None
    high: float | None = None
    how: str

    @property
    def width(self) -> float:
        """The distance of the ends; 0 without an interval."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low


def share_interval(values: Sequence[float], papers: Sequence[str]) -> Interval:
    """Interval of a share: one value in [0, 1] per task, and the task's paper.

    The wider of Clopper-Pearson over tasks and cluster-robust t over papers.
    """
    if (none := _too_few(values, papers)) is not None:
        return none
    exact, cluster = clopper_pearson(sum(values), len(values)), cluster_t(values, papers)
    return exact if exact.width >= cluster.width else cluster


def mean_interval(values: Sequence[float], papers: Sequence[str]) -> Interval:
    """Interval of a mean: one value in [0, 1] per task, and the task's paper.

    Values that are all 0 or 1 make the mean a share, and it gets a share's interval.
    """
    if (none := _too_few(values, papers)) is not None:
        return none
    if all(value in (0.0, 1.0) for value in values):
        return share_interval(values, papers)
    cluster = cluster_t(values, papers)
    return cluster if cluster.width > 1e-12 else Interval(how=NO_SPREAD)


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


def cluster_t(values: Sequence[float], papers: Sequence[str]) -> Interval:
    """The cluster-robust t interval of the mean, clipped to [0, 1]; needs two papers or more."""
    mean = fmean(values)
    residuals: defaultdict[str, list[float]] = defaultdict(list)
    for value, paper in zip(values, papers, strict=True):
        residuals[paper].append(value - mean)
    clusters = len(residuals)
    squares = math.fsum(math.fsum(own) ** 2 for own in residuals.values())
    error = math.sqrt(clusters / (clusters - 1) * squares) / len(values)
    half = float(stdtrit(clusters - 1, (1 + LEVEL) / 2)) * error
    return Interval(low=max(0.0, mean - half), high=min(1.0, mean + half), how=CLUSTER)


def _too_few(values: Sequence[float], papers: Sequence[str]) -> Interval | None:
    if not values:
        return Interval(how=NOTHING)
    return Interval(how=ONE_PAPER) if len(set(papers)) == 1 else None
