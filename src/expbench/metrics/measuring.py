"""One metric of a run: its value by a rule of what it is of, with its interval and its bounds.

Epochs are averaged within their task first; tasks then weigh the same. So ``value`` equals
``successes / n`` only where every task has the same number of scored epochs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from expbench.metrics.definitions import Definition, Denominator
from expbench.metrics.gate import Gated, gated
from expbench.metrics.marks import Scored
from expbench.schema import Record
from expbench.statistics.clusters import clustering
from expbench.statistics.intervals import Interval, mean_interval, share_interval

Seen = tuple[Scored, Gated]
"""An outcome and its scores as they count."""


class Bounds(Record):
    """What the value would be if all that is unscored were wrong, and if it were right."""

    low: float
    high: float


class Metric(Record):
    """One metric of a run. Values are fractions in [0, 1]."""

    key: str
    label: str
    title: str
    kind: Literal["mean", "share"]
    over: Denominator
    """The rule of what it is of."""
    value: float | None
    n: int
    """Outcomes with a number: the denominator."""
    tasks: int
    """Tasks with at least one such outcome."""
    papers: int
    successes: int | None
    """Outcomes that hold, of ``n``; ``None`` for a mean."""
    unscored: int
    """Outcomes that belong to the metric and have no number."""
    left_out: int
    """Outcomes that do not belong to it by its rule."""
    bounds: Bounds | None
    interval: Interval
    icc: float | None
    """How alike the tasks of a paper are in it; ``None`` where it cannot be told."""
    effective_n: float
    """As many tasks of a paper each would say as much."""


def seen(outcomes: Sequence[Scored]) -> list[Seen]:
    """Outcomes with their gated scores, by task and epoch."""
    ordered = sorted(outcomes, key=lambda outcome: (outcome.task_id, outcome.epoch))
    return [(outcome, gated(outcome)) for outcome in ordered]


def measure(
    definition: Definition,
    attempts: Sequence[Seen],
    threshold: float = 1.0,
    over: Denominator | None = None,
) -> Metric:
    """One metric of a run over the denominator of ``over``, by default the definition's own."""
    rule = over or definition.over
    by_task, paper_of = numbers(definition, attempts, threshold, rule)
    known = {task: [n for n in own if n is not None] for task, own in by_task.items()}
    means = {task: fmean(own) for task, own in known.items() if own}
    papers = [paper_of[task] for task in means]
    found = [number for own in known.values() for number in own]
    share = definition.kind == "share"
    interval = share_interval if share else mean_interval
    population = sum(map(len, by_task.values()))
    alike = clustering(list(means.values()), papers)
    return Metric(
        key=definition.key,
        label=definition.label,
        title=definition.title,
        kind=definition.kind,
        over=rule,
        value=fmean(means.values()) if means else None,
        n=len(found),
        tasks=len(means),
        papers=len(set(papers)),
        successes=sum(number == 1.0 for number in found) if share else None,
        unscored=population - len(found),
        left_out=len(attempts) - population,
        bounds=_bounds(list(by_task.values())),
        interval=interval(list(means.values()), papers, bootstrap=True),
        icc=alike.icc,
        effective_n=alike.effective_n,
    )


def numbers(
    definition: Definition,
    attempts: Sequence[Seen],
    threshold: float = 1.0,
    over: Denominator | None = None,
) -> tuple[dict[str, list[float | None]], dict[str, str]]:
    """The metric's number of each attempt that belongs to it, by task, and each task's paper."""
    by_task: defaultdict[str, list[float | None]] = defaultdict(list)
    paper_of: dict[str, str] = {}
    for outcome, view in attempts:
        if definition.counts(view, over):
            by_task[outcome.task_id].append(definition.measure(view, threshold, over))
            paper_of[outcome.task_id] = outcome.paper
    return dict(by_task), paper_of


def _bounds(tasks: Sequence[Sequence[float | None]]) -> Bounds | None:
    if not tasks:
        return None
    known = [[number for number in own if number is not None] for own in tasks]
    low = [math.fsum(found) / len(own) for own, found in zip(tasks, known, strict=True)]
    open_part = [1 - len(found) / len(own) for own, found in zip(tasks, known, strict=True)]
    return Bounds(low=fmean(low), high=fmean(map(sum, zip(low, open_part, strict=True))))
