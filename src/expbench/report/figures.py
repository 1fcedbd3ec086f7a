"""Geometry of the figures: where marks go, in the units of each drawing's view box.

Only numbers are made here; the template draws them, so that text is escaped in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.metrics import Counts, Metric
from expbench.report.text import of_text, percent

STRIP_WIDTH = 120.0
"""Width of the strip on which a metric's interval is drawn; 0 to 100 %."""
BAR_WIDTH = 250.0
"""Length of a bar of 100 % in the collapse."""
ROW_HEIGHT = 34.0
STATES_WIDTH = 600.0
"""Length of the bar of all planned attempts."""


@dataclass(frozen=True)
class Strip:
    """One metric on a line from 0 to 100 %; ``None`` where there is nothing to draw."""

    value: float | None
    low: float | None
    high: float | None
    bound_low: float | None
    bound_high: float | None


@dataclass(frozen=True)
class Bar:
    """One step of the collapse."""

    label: str
    y: float
    width: float
    low: float | None
    high: float | None
    text: str
    text_x: float


@dataclass(frozen=True)
class Segment:
    """One kind of end in the bar of all attempts."""

    name: str
    count: int
    x: float
    width: float
    share: str


def strip(metric: Metric) -> Strip:
    """A metric's value, interval and bounds on its strip."""
    bounds, interval = metric.bounds, metric.interval
    return Strip(
        value=_at(metric.value),
        low=_at(interval.low),
        high=_at(interval.high),
        bound_low=_at(bounds.low) if bounds else None,
        bound_high=_at(bounds.high) if bounds else None,
    )


def collapse_bars(steps: Sequence[Metric]) -> tuple[Bar, ...]:
    """The collapse, one bar below the other, with their intervals."""
    return tuple(_bar(index, metric) for index, metric in enumerate(steps))


def state_segments(counts: Counts) -> tuple[Segment, ...]:
    """The five kinds of end, one after the other in one bar."""
    numbers = counts.model_dump(exclude={"planned"})
    segments: list[Segment] = []
    x = 0.0
    for name, count in numbers.items():
        share = count / counts.planned if counts.planned else 0.0
        width = share * STATES_WIDTH
        segments.append(Segment(name.replace("_", " "), count, x, width, percent(share)))
        x += width
    return tuple(segments)


def _bar(index: int, metric: Metric) -> Bar:
    value, interval = metric.value or 0.0, metric.interval
    end = max(value, interval.high or 0.0)
    return Bar(
        label=metric.label,
        y=index * ROW_HEIGHT,
        width=value * BAR_WIDTH,
        low=_at(interval.low, BAR_WIDTH),
        high=_at(interval.high, BAR_WIDTH),
        text=f"{percent(metric.value)} ({of_text(metric)})" if metric.n else "not scored",
        text_x=end * BAR_WIDTH + 8,
    )


def _at(value: float | None, width: float = STRIP_WIDTH) -> float | None:
    return None if value is None else value * width
