"""One run of a board in numbers: its scores, and what an attempt took in time and money."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from expbench.board.contenders import Contender
from expbench.metrics import METRICS, Attempts, Definition, Metric, Summary, seen, summarise
from expbench.schema import Outcome, Record
from expbench.statistics.intervals import Interval, mean_interval

HEADLINE = (
    "monitor",
    "design",
    "implementation",
    "conclusion",
    "execution",
    "conclusion_design",
    "implementation_execution",
    "all",
    "all_execution",
    "produced",
    "grounding",
    "all_execution_grounding",
)
"""The metrics of the leaderboard, by key."""
RANKED_BY = (
    "all_execution",
    "all",
    "implementation_execution",
    "conclusion_design",
    "conclusion",
    "implementation",
    "design",
    "execution",
)
"""The order of a table before anybody sorts it; where one is equal the next decides."""
DEFINITIONS: dict[str, Definition] = {each.key: each for each in METRICS}
_ENDS = (0.0, float("inf"))


class Amount(Record):
    """What an attempt takes on average, epochs averaged within tasks first.

    ``value`` is ``None`` where it is not known of any attempt; ``unknown`` attempts are not in it.
    """

    value: float | None
    interval: Interval
    n: int
    unknown: int


@dataclass(frozen=True)
class Standing:
    """A contender with its numbers."""

    contender: Contender
    outcomes: tuple[Outcome, ...]
    summary: Summary
    minutes: Amount
    """Of the agent, by the clock."""
    dollars: Amount
    """Of the agent's model."""

    @cached_property
    def attempts(self) -> Attempts:
        """The outcomes with their scores as they count."""
        return seen(self.outcomes)

    @property
    def label(self) -> str:
        """The run's name on the board."""
        return self.contender.label

    @property
    def headline(self) -> tuple[Metric, ...]:
        """The metrics of the leaderboard."""
        return tuple(self.summary.metric(key) for key in HEADLINE)

    @property
    def rank(self) -> tuple[float, ...]:
        """A key that puts the best first."""
        values = (self.summary.metric(key).value for key in RANKED_BY)
        return tuple(1.0 if value is None else -value for value in values)


def standing(contender: Contender, threshold: float = 1.0) -> Standing:
    """Measure a run; a score is fully right from ``threshold`` on.

    Raises InfrastructureError where it does not account for all its attempts.
    """
    run = contender.run
    outcomes = run.ordered()
    return Standing(
        contender=contender,
        outcomes=outcomes,
        summary=summarise(run.planned, outcomes, threshold),
        minutes=_amount(outcomes, _minutes),
        dollars=_amount(outcomes, _dollars),
    )


def _minutes(outcome: Outcome) -> float | None:
    return outcome.agent_seconds / 60


def _dollars(outcome: Outcome) -> float | None:
    """What is known; an attempt that asked no model cost nothing."""
    usage = outcome.agent_usage
    return usage.dollars if usage.calls else 0.0


def _amount(outcomes: Sequence[Outcome], look: Callable[[Outcome], float | None]) -> Amount:
    by_task: defaultdict[str, list[float]] = defaultdict(list)
    papers: dict[str, str] = {}
    unknown = 0
    for outcome in outcomes:
        ended = outcome.status in ("finished", "agent_error")
        number = look(outcome) if ended else None
        if number is None:
            unknown += 1
            continue
        by_task[outcome.task_id].append(number)
        papers[outcome.task_id] = outcome.paper
    means = [fmean(own) for own in by_task.values()]
    return Amount(
        value=fmean(means) if means else None,
        interval=mean_interval(means, list(papers.values()), bootstrap=True, ends=_ENDS),
        n=sum(map(len, by_task.values())),
        unknown=unknown,
    )
