"""The summary of a run: every metric with its denominator, its interval and its bounds.

A summary is made of one run: the plan says which (task, epoch) there must be, and each must have
exactly one outcome, from one agent with one model. Anything else raises before a number is made,
since a mean over whatever happened to be there is how broken runs have passed for weak agents.

Epochs are averaged within their task first; tasks then weigh the same. So ``value`` equals
``successes / n`` only where every task has the same number of scored epochs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from expbench.errors import InfrastructureError
from expbench.metrics.definitions import COLLAPSE, METRICS, Definition
from expbench.metrics.gate import gated
from expbench.schema import SCORE_NAMES, Outcome, Record
from expbench.statistics.intervals import Interval, mean_interval, share_interval

Attempt = tuple[str, int]
"""A planned attempt: task id and epoch, counted from 1."""


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
    """Outcomes that do not belong to it: convicted ones, where executions are counted."""
    bounds: Bounds | None
    interval: Interval


class Counts(Record):
    """How the planned attempts ended; the five kinds add up to ``planned``."""

    planned: int
    scored: int
    unscored: int
    infrastructure: int
    agent_error: int
    missing: int

    @property
    def total(self) -> int:
        """The sum of the five kinds."""
        return self.scored + self.unscored + self.infrastructure + self.agent_error + self.missing


class Summary(Record):
    """All metrics of one run, the collapse from M to all five scores, and the counts."""

    threshold: float
    counts: Counts
    convicted: int
    metrics: tuple[Metric, ...]
    collapse: tuple[Metric, ...]

    def metric(self, key: str) -> Metric:
        """The metric of that key; raises ``KeyError`` for one that does not exist."""
        for metric in (*self.metrics, *self.collapse):
            if metric.key == key:
                return metric
        raise KeyError(key)


def summarise(
    planned: Sequence[Attempt], outcomes: Sequence[Outcome], threshold: float = 1.0
) -> Summary:
    """Summarise one run. A score is fully right from ``threshold``, in (0, 1].

    Raises :class:`InfrastructureError` when the outcomes are not exactly the planned ones, or
    stem from more than one agent, model or paper per task.
    """
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold must be in (0, 1], not {threshold}")
    _check_single_run(outcomes)
    counts = _count(planned, outcomes)
    ordered = sorted(outcomes, key=lambda outcome: (outcome.task_id, outcome.epoch))
    return Summary(
        threshold=threshold,
        counts=counts,
        convicted=sum(gated(outcome).convicted for outcome in outcomes),
        metrics=tuple(_metric(definition, ordered, threshold) for definition in METRICS),
        collapse=tuple(_metric(definition, ordered, threshold) for definition in COLLAPSE),
    )


def _metric(definition: Definition, outcomes: Sequence[Outcome], threshold: float) -> Metric:
    by_task: defaultdict[str, list[float | None]] = defaultdict(list)
    paper_of: dict[str, str] = {}
    for outcome in outcomes:
        view = gated(outcome)
        if definition.counts(view):
            by_task[outcome.task_id].append(definition.measure(view, threshold))
            paper_of[outcome.task_id] = outcome.paper
    numbers = [number for own in by_task.values() for number in own if number is not None]
    known = {task: [n for n in own if n is not None] for task, own in by_task.items()}
    means = {task: fmean(own) for task, own in known.items() if own}
    papers = [paper_of[task] for task in means]
    share = definition.kind == "share"
    interval = (share_interval if share else mean_interval)(list(means.values()), papers)
    population = sum(map(len, by_task.values()))
    return Metric(
        key=definition.key,
        label=definition.label,
        title=definition.title,
        kind=definition.kind,
        value=fmean(means.values()) if means else None,
        n=len(numbers),
        tasks=len(means),
        papers=len(set(papers)),
        successes=sum(number == 1.0 for number in numbers) if share else None,
        unscored=population - len(numbers),
        left_out=len(outcomes) - population,
        bounds=_bounds(list(by_task.values())),
        interval=interval,
    )


def _bounds(tasks: Sequence[Sequence[float | None]]) -> Bounds | None:
    def filled(with_value: float) -> float:
        return fmean(fmean(with_value if n is None else n for n in own) for own in tasks)

    return Bounds(low=filled(0.0), high=filled(1.0)) if tasks else None


def _count(planned: Sequence[Attempt], outcomes: Sequence[Outcome]) -> Counts:
    plan, found = Counter(planned), Counter((o.task_id, o.epoch) for o in outcomes)
    _refuse("planned more than once", [attempt for attempt, n in plan.items() if n > 1])
    _refuse("with more than one outcome", [attempt for attempt, n in found.items() if n > 1])
    _refuse("with an outcome but never planned", list(found.keys() - plan.keys()))
    states = Counter(_state(outcome) for outcome in outcomes)
    counts = Counts(
        planned=len(plan),
        scored=states["scored"],
        unscored=states["unscored"],
        infrastructure=states["infrastructure"],
        agent_error=states["agent_error"],
        missing=states["missing"],
    )
    if counts.total != counts.planned:
        raise InfrastructureError(
            f"{counts.planned} attempts planned, but {counts.scored} scored + {counts.unscored} "
            f"unscored + {counts.infrastructure} infrastructure + {counts.agent_error} agent_error "
            f"+ {counts.missing} missing = {counts.total}; "
            f"no outcome for {_some(list(plan.keys() - found.keys()))}"
        )
    return counts


def _state(outcome: Outcome) -> str:
    """Where an attempt is counted: a finished one is scored when all five scores have values."""
    if outcome.status != "finished":
        return outcome.status
    scores = [outcome.scores.get(name) for name in SCORE_NAMES]
    complete = all(score is not None and score.value is not None for score in scores)
    return "scored" if complete else "unscored"


def _check_single_run(outcomes: Sequence[Outcome]) -> None:
    makers = {(outcome.agent, outcome.model) for outcome in outcomes}
    if len(makers) > 1:
        names = ", ".join(sorted(f"{agent} with {model}" for agent, model in makers))
        raise InfrastructureError(f"outcomes of different runs in one summary: {names}")
    paper_of: dict[str, str] = {}
    for outcome in outcomes:
        if paper_of.setdefault(outcome.task_id, outcome.paper) != outcome.paper:
            raise InfrastructureError(f"task {outcome.task_id} has outcomes of different papers")


def _refuse(what: str, attempts: list[Attempt]) -> None:
    if attempts:
        raise InfrastructureError(f"{len(attempts)} attempts {what}: {_some(attempts)}")


def _some(attempts: list[Attempt], most: int = 5) -> str:
    names = [f"{task} epoch {epoch}" for task, epoch in sorted(attempts)[:most]]
    return ", ".join(names) + (", …" if len(attempts) > most else "")
