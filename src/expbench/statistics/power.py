"""What a comparison of two runs can see, and how many tasks or epochs it needs.

A number of one attempt has three sources of variance: its paper, its task within the paper, and the attempt
itself. Over n tasks with k epochs each, the variance of a mean is

    (paper * m + task + attempt / k) / n

where m is the mean size of the paper of a task; for a paired comparison the three are those of the
differences. More epochs shrink the last term only. Power is that of a two-sided t test with papers - 1
degrees of freedom, by the noncentral t distribution (Miller 2024, arXiv 2411.00640, on paired differences
and power; Cohen 1988). The three variances are estimated by the analysis of variance, none below 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, variance

from pydantic import Field
from scipy.special import nctdtr, stdtrit

from expbench.schema import Record
from expbench.statistics.clusters import by_cluster, mean_squares

MOST = 10_000_000
"""Where a search for tasks or epochs is given up."""


class Components(Record):
    """Variances of one attempt's number, or of the difference of two: by paper, task and attempt."""

    paper: float = Field(ge=0, allow_inf_nan=False)
    task: float = Field(ge=0, allow_inf_nan=False)
    attempt: float = Field(ge=0, allow_inf_nan=False)

    def of_difference(self, correlation: float = 0.0) -> Components:
        """Those of the difference of two such runs.

        ``correlation`` is that of the two runs' papers and tasks; attempts are independent.
        """
        shared = 2 * (1 - correlation)
        return Components(
            paper=shared * self.paper, task=shared * self.task, attempt=2 * self.attempt
        )


class Plan(Record):
    """The size of a comparison. ``size`` is the mean number of tasks in the paper of a task."""

    tasks: int = Field(ge=2)
    papers: int = Field(ge=2)
    epochs: int = Field(default=1, ge=1)
    size: float = Field(ge=1, allow_inf_nan=False)

    @classmethod
    def even(cls, tasks: int, papers: int, epochs: int = 1) -> Plan:
        """Papers of the same size."""
        return cls(tasks=tasks, papers=papers, epochs=epochs, size=max(1.0, tasks / papers))

    def scaled(self, tasks: int) -> Plan:
        """As many more tasks as papers: papers keep their size."""
        papers = max(2, round(self.papers * tasks / self.tasks))
        return self.model_copy(update={"tasks": tasks, "papers": min(papers, tasks)})


def components(attempts: Sequence[Sequence[float]], papers: Sequence[str]) -> Components:
    """Estimate the variances from one run: for each task the numbers of its attempts, and its paper.

    With one attempt at each task the last one cannot be told from the task's, and is 0.
    """
    means = [fmean(own) for own in attempts]
    rate = fmean(1 / len(own) for own in attempts)
    return _split(means, papers, rate * _noise(attempts), _noise(attempts))


def paired_components(
    first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], papers: Sequence[str]
) -> Components:
    """Estimate the variances of the difference of two runs, from their attempts at the same tasks."""
    differences = [fmean(b) - fmean(a) for a, b in zip(first, second, strict=True)]
    noises = _noise(first), _noise(second)
    rates = (fmean(1 / len(own) for own in run) for run in (first, second))
    seen = sum(noise * rate for noise, rate in zip(noises, rates, strict=True))
    return _split(differences, papers, seen, sum(noises))


def plan_of(papers: Sequence[str], epochs: int = 1) -> Plan:
    """The size of a run: the paper of each of its tasks. Raises ValueError for less than two papers."""
    _, sizes = by_cluster([0.0] * len(papers), papers)
    size = float(sizes @ sizes) / len(papers)
    return Plan(tasks=len(papers), papers=len(sizes), epochs=epochs, size=size)


def standard_error(parts: Components, plan: Plan) -> float:
    """The standard error of the mean difference."""
    spread = parts.paper * plan.size + parts.task + parts.attempt / plan.epochs
    return math.sqrt(spread / plan.tasks)


def power_of(parts: Components, plan: Plan, difference: float, alpha: float = 0.05) -> float:
    """The chance that a true ``difference`` is found at the two-sided level ``alpha``."""
    error = standard_error(parts, plan)
    if error == 0:
        return 1.0 if difference else alpha
    return _power(abs(difference) / error, plan.papers - 1, alpha)


def detectable(parts: Components, plan: Plan, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest true difference that is found with chance ``power``: not capped at what is possible."""
    low, high = 0.0, 1.0
    while _power(high, plan.papers - 1, alpha) < power:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        found = _power(middle, plan.papers - 1, alpha) >= power
        low, high = (low, middle) if found else (middle, high)
    return high * standard_error(parts, plan)


def tasks_needed(
    parts: Components, plan: Plan, difference: float, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Tasks, in papers of the plan's size, to find a ``difference``; ``None`` beyond ten million."""

    def enough(tasks: int) -> bool:
        return power_of(parts, plan.scaled(tasks), difference, alpha) >= power

    return _fewest(enough, 2)


def epochs_needed(
    parts: Components, plan: Plan, difference: float, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Epochs of the plan's tasks to find a ``difference``; ``None`` where no number is enough."""

    def enough(epochs: int) -> bool:
        more = plan.model_copy(update={"epochs": epochs})
        return power_of(parts, more, difference, alpha) >= power

    return _fewest(enough, 1)


def _power(noncentrality: float, degrees: int, alpha: float) -> float:
    edge = float(stdtrit(degrees, 1 - alpha / 2))
    above = 1 - float(nctdtr(degrees, noncentrality, edge))
    return above + float(nctdtr(degrees, noncentrality, -edge))


def _fewest(enough: Callable[[int], bool], start: int) -> int | None:
    high = start
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = max(start, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def _split(
    means: Sequence[float], papers: Sequence[str], seen: float, attempt: float
) -> Components:
    """Variance of task means into papers and tasks; ``seen`` is what attempts add to them."""
    between, within, size = mean_squares(means, papers)
    if within is None:
        # A task a paper: the two cannot be told apart, and need not be, since papers have one task.
        return Components(paper=0.0, task=max(0.0, (between or 0.0) - seen), attempt=attempt)
    paper = max(0.0, ((between or 0.0) - within) / size) if between is not None else 0.0
    return Components(paper=paper, task=max(0.0, within - seen), attempt=attempt)


def _noise(attempts: Sequence[Sequence[float]]) -> float:
    """The variance between attempts at one task, pooled over tasks with several."""
    several = [own for own in attempts if len(own) > 1]
    degrees = sum(len(own) - 1 for own in several)
    squares = math.fsum(variance(own) * (len(own) - 1) for own in several)
    return squares / degrees if degrees else 0.0
