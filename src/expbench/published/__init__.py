"""The publication's own numbers (arXiv 2505.24785 v2), and what can be concluded from them.

``exp_bench.json`` holds the facts of tables 1, 2, 6, 8 and 9 and of figure 6b, in per cent as printed. They
were made with another harness, on other tasks (n differs from row to row), and printed without intervals.
Where a rate is a share of the tasks whose execution was checked, its whole number of successes follows from
the printed digits, and with it an exact interval. Papers are not known, so that this is too narrow.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pydantic import Field

from expbench.schema import Record
from expbench.statistics.intervals import Interval, clopper_pearson

NOTE = "published, other harness, other tasks, no interval"
"""Must stand beside every published number that is shown."""
COUNTED = ("E", "I·E", "All·E")
"""Columns of table 1 that are over the tasks whose execution was checked, #E."""
KEYS = {
    "D": "design",
    "I": "implementation",
    "E": "execution",
    "I·E": "implementation_execution",
    "C": "conclusion",
    "All": "all",
    "All·E": "all_execution",
}
"""The keys of our metrics by the columns of table 1."""


class Row(Record):
    """One row of table 1, in per cent as printed."""

    agent: str
    model: str
    d: float = Field(alias="D")
    i: float = Field(alias="I")
    e: float = Field(alias="E")
    i_e: float = Field(alias="I·E")
    c: float = Field(alias="C")
    all: float = Field(alias="All")
    all_e: float = Field(alias="All·E")
    n_e: int = Field(alias="n_E", gt=0)
    """Tasks whose execution was checked."""

    def percent(self, column: str) -> float:
        """The printed number of a column of table 1. Raises KeyError."""
        printed = {**dict.fromkeys(KEYS, 0.0), **self.model_dump(by_alias=True)}
        return float(printed[column])

    def counted(self, column: str) -> Counted:
        """What a share of #E stands for. Raises KeyError for a column that is no such share."""
        if column not in COUNTED:
            raise KeyError(column)
        successes = implied_count(self.percent(column), self.n_e)
        interval = clopper_pearson(successes, self.n_e)
        return Counted(successes=successes, n=self.n_e, interval=interval)


class Counted(Record):
    """Successes of n tasks, and the exact 95 % interval of the rate as if tasks were independent."""

    successes: int
    n: int
    interval: Interval


class TimeAndCost(Record):
    """Minutes and US dollars of a task."""

    minutes_mean: float
    minutes_median: float
    minutes_q1: float
    minutes_q3: float
    minutes_sd: float
    minutes_min: float
    minutes_max: float
    usd_mean: float
    usd_median: float
    usd_q1: float
    usd_q3: float
    usd_sd: float
    usd_min: float
    usd_max: float


class Published(Record):
    """All facts; shares in per cent. Keys of mappings are ``agent|model`` where they name a contestant."""

    source: str
    unit: str
    overall: tuple[Row, ...]
    collapse: tuple[tuple[str, float], ...]
    """Figure 6b: over the checked tasks."""
    time_and_cost: dict[str, TimeAndCost]
    by_category_columns: tuple[str, ...]
    by_category: dict[str, dict[str, tuple[float, ...]]]
    failure_taxonomy_share_within_phase: dict[str, tuple[tuple[str, float], ...]]
    failure_counts: dict[str, int]

    def row(self, agent: str, model: str) -> Row:
        """A row of table 1. Raises KeyError."""
        for row in self.overall:
            if (row.agent, row.model) == (agent, model):
                return row
        raise KeyError(f"{agent} with {model}")


@cache
def published() -> Published:
    """The publication's numbers."""
    text = files(__package__).joinpath("exp_bench.json").read_text("utf-8")
    return Published.model_validate_json(text)


def implied_count(percent: float, n: int) -> int:
    """The whole number of ``n`` that is printed as ``percent`` with one decimal.

    Raises ValueError where none is, or several are.
    """
    near = range(
        max(0, int((percent - 0.1) * n / 100)), min(n, int((percent + 0.1) * n / 100) + 1) + 1
    )
    found = [count for count in near if abs(100 * count / n - percent) <= 0.05 + 1e-9]
    if len(found) != 1:
        raise ValueError(f"{percent} % of {n} is {found or 'no whole number'}")
    return found[0]
