"""The publication's numbers beside a run's: never without the words that they are of something else."""

from __future__ import annotations

from dataclasses import dataclass

from expbench.metrics import Summary
from expbench.published import COUNTED, KEYS, NOTE, Row, published
from expbench.report.text import of_text, percent, span


@dataclass(frozen=True)
class Number:
    """One metric: its value, the count behind it, and an interval or the lack of one."""

    value: str
    of: str
    interval: str


@dataclass(frozen=True)
class PublishedRow:
    """An agent with a model; ``ours`` is the run itself."""

    agent: str
    model: str
    numbers: tuple[Number, ...]
    executed: int
    minutes: str
    dollars: str


@dataclass(frozen=True)
class Beside:
    """Table 1 of the publication, and the run in its columns."""

    note: str
    source: str
    columns: tuple[str, ...]
    ours: tuple[Number, ...]
    rows: tuple[PublishedRow, ...]

    @property
    def names(self) -> str:
        """The rows that are shown, by agent and model."""
        return "; ".join(f"{row.agent} with {row.model}" for row in self.rows)


def beside(summary: Summary) -> Beside:
    """All rows of the publication's table 1."""
    known = published()
    return Beside(
        note=NOTE,
        source=known.source,
        columns=tuple(KEYS),
        ours=tuple(_own(summary, key) for key in KEYS.values()),
        rows=tuple(map(_row, known.overall)),
    )


def _own(summary: Summary, key: str) -> Number:
    metric = summary.metric(key)
    interval = span(metric.interval.low, metric.interval.high)
    return Number(percent(metric.value), of_text(metric), interval)


def _row(row: Row) -> PublishedRow:
    effort = published().time_and_cost.get(f"{row.agent}|{row.model}")
    return PublishedRow(
        agent=row.agent,
        model=row.model,
        numbers=tuple(_number(row, column) for column in KEYS),
        executed=row.n_e,
        minutes=f"{effort.minutes_median:g}" if effort else "–",
        dollars=f"{effort.usd_median:g}" if effort else "–",
    )


def _number(row: Row, column: str) -> Number:
    value = f"{row.percent(column):.1f} %"
    if column not in COUNTED:
        return Number(value, "", "")
    counted = row.counted(column)
    interval = span(counted.interval.low, counted.interval.high)
    return Number(value, f"{counted.successes} of {counted.n}", interval)
