"""One metric of a run: its value by a rule of what it is of, with its interval and its bounds.

Epochs are averaged within their task first; tasks then weigh the same. So ``value`` equals
``successes / n`` only where every task has the same number of scored epochs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import fmean
from typing import Literal

from expbench.metrics.columns import Columns, PerTask, Seen, per_task
from expbench.metrics.definitions import Definition, Denominator
from expbench.metrics.gate import gated
from expbench.metrics.scored import Scored
from expbench.schema import Record
from expbench.statistics.clusters import clustering
from expbench.statistics.intervals import Interval, mean_interval, share_interval


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


class Attempts(list[Seen]):
    """Attempts by task and epoch, also as columns."""

    @cached_property
    def columns(self) -> Columns:
        return Columns(self)


def seen(outcomes: Sequence[Scored]) -> Attempts:
    """Outcomes with their gated scores, by task and epoch."""
    ordered = sorted(outcomes, key=lambda outcome: (outcome.task_id, outcome.epoch))
    return Attempts((outcome, gated(outcome)) for outcome in ordered)


def parts(attempts: Sequence[Seen], members: Mapping[str, Iterable[str]]) -> Iterator[Attempts]:
    """The attempts at the tasks of each group, for the groups in their order."""
    by_task: defaultdict[str, list[Seen]] = defaultdict(list)
    for each in attempts:
        by_task[each[0].task_id].append(each)
    for tasks in members.values():
        yield Attempts(each for task in sorted(tasks) for each in by_task.get(task, ()))


def columns_of(attempts: Sequence[Seen]) -> Columns:
    """The columns of attempts, made once where they came from :func:`seen`."""
    return attempts.columns if isinstance(attempts, Attempts) else Columns(attempts)


def measure(
    definition: Definition,
    attempts: Sequence[Seen],
    threshold: float = 1.0,
    over: Denominator | None = None,
) -> Metric:
    """One metric of a run over the denominator of ``over``, by default the definition's own."""
    rule = over or definition.over
    found = per_task(columns_of(attempts), definition, threshold, rule)
    means, papers = found.means.tolist(), found.papers[found.known].tolist()
    share = definition.kind == "share"
    interval = share_interval if share else mean_interval
    population, scored = int(found.attempts.sum()), int(found.scored.sum())
    alike = clustering(means, papers)
    return Metric(
        key=definition.key,
        label=definition.label,
        title=definition.title,
        kind=definition.kind,
        over=rule,
        value=fmean(means) if means else None,
        n=scored,
        tasks=len(means),
        papers=len(set(papers)),
        successes=found.right if share else None,
        unscored=population - scored,
        left_out=len(attempts) - population,
        bounds=_bounds(found),
        interval=interval(means, papers, bootstrap=True),
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


def _bounds(found: PerTask) -> Bounds | None:
    if not len(found.attempts):
        return None
    low = found.sums / found.attempts
    high = low + (1 - found.scored / found.attempts)
    return Bounds(low=fmean(low.tolist()), high=min(1.0, fmean(high.tolist())))
