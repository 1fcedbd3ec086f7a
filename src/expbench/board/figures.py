"""The figures of a set: the collapse of each run, and scores against time and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.board.breakdown import GROUPED
from expbench.board.measures import DEFINITIONS, Standing
from expbench.board.scatter import Scatter, scatter
from expbench.report.figures import Bar, collapse_bars


@dataclass(frozen=True)
class Funnel:
    """The collapse of one run."""

    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Against:
    """One metric against one amount; ``None`` where no run has both."""

    key: str
    label: str
    amount: str
    unit: str
    figure: Scatter | None


def funnels(standings: Sequence[Standing]) -> tuple[Funnel, ...]:
    """The collapse of each run, in their order."""
    return tuple(Funnel(each.label, collapse_bars(each.summary.collapse)) for each in standings)


def scatters(standings: Sequence[Standing]) -> tuple[Against, ...]:
    """Each of the metrics of groups against cost and against time."""
    found = []
    for key in GROUPED:
        label = DEFINITIONS[key].label
        costs = [each.dollars for each in standings]
        times = [each.minutes for each in standings]
        found.append(
            Against(key, label, "cost", "dollars an attempt", scatter(standings, key, costs))
        )
        found.append(
            Against(key, label, "time", "minutes an attempt", scatter(standings, key, times))
        )
    return tuple(found)
