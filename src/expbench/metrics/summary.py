"""The summary of a run: every metric with its denominator, its interval and its bounds.

A summary is made of one run: the plan says which (task, epoch) there must be, and each must have
exactly one outcome, from one agent with one model. Anything else raises before a number is made,
since a mean over whatever happened to be there is how broken runs have passed for weak agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from expbench.errors import InfrastructureError
from expbench.metrics.definitions import COLLAPSE, METRICS
from expbench.metrics.measuring import Metric, measure, seen
from expbench.metrics.scored import Scored
from expbench.schema import SCORE_NAMES, Record

Attempt = tuple[str, int]
"""A planned attempt: task id and epoch, counted from 1."""


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
    planned: Sequence[Attempt], outcomes: Sequence[Scored], threshold: float = 1.0
) -> Summary:
    """Summarise one run. A score is fully right from ``threshold``, in (0, 1].

    Raises :class:`InfrastructureError` when the outcomes are not exactly the planned ones, or
    stem from more than one agent, model or paper per task.
    """
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold must be in (0, 1], not {threshold}")
    _check_single_run(outcomes)
    counts = _count(planned, outcomes)
    attempts = seen(outcomes)
    return Summary(
        threshold=threshold,
        counts=counts,
        convicted=sum(view.convicted for _, view in attempts),
        metrics=tuple(measure(definition, attempts, threshold) for definition in METRICS),
        collapse=tuple(measure(definition, attempts, threshold) for definition in COLLAPSE),
    )


def _count(planned: Sequence[Attempt], outcomes: Sequence[Scored]) -> Counts:
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


def _state(outcome: Scored) -> str:
    """Where an attempt is counted: a finished one is scored when all five scores have values."""
    if outcome.status != "finished":
        return outcome.status
    scores = [outcome.scores.get(name) for name in SCORE_NAMES]
    complete = all(score is not None and score.value is not None for score in scores)
    return "scored" if complete else "unscored"


def _check_single_run(outcomes: Sequence[Scored]) -> None:
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
