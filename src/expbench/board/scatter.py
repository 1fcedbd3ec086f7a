"""A score against what it took: where the points go, and the front of those that nothing else beats.

A run is on the front when none other of its set is at least as good for at most as much, and better in one
of both (Pareto). Values are compared as they are: with intervals that overlap the front may be chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from expbench.board.measures import Amount, Standing
from expbench.metrics import Metric
from expbench.report.text import one_line

WIDTH, HEIGHT = 560.0, 260.0
_LINE = 14.0
_NAME = 26
_LETTER = 6.3
_FROM_LOG = 20.0
"""From which ratio of the largest to the smallest the axis is logarithmic."""


@dataclass(frozen=True)
class Point:
    """A run; ``low`` and ``high`` are the ends of its score's interval, ``anchor`` the label's side."""

    label: str
    x: float
    y: float
    low: float | None
    high: float | None
    front: bool
    text_x: float
    text_y: float
    anchor: str


@dataclass(frozen=True)
class Mark:
    """A mark of an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Scatter:
    """A figure; ``left_out`` runs have no value on one of the axes."""

    points: tuple[Point, ...]
    front: str
    """The front as the points of a line."""
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    left_out: tuple[str, ...]


def on_front(costs: Sequence[float], scores: Sequence[float]) -> list[bool]:
    """Of each run whether no other is better in one and as good in the other."""
    pairs = list(zip(costs, scores, strict=True))
    return [
        not any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in pairs)
        for cost, score in pairs
    ]


def scatter(standings: Sequence[Standing], key: str, amounts: Sequence[Amount]) -> Scatter | None:
    """The figure of a metric against an amount; ``None`` where no run has both."""
    drawn: list[tuple[str, float, Metric]] = []
    left_out = []
    for each, amount in zip(standings, amounts, strict=True):
        metric = each.summary.metric(key)
        if amount.value is None or metric.value is None:
            left_out.append(each.label)
        else:
            drawn.append((each.label, amount.value, metric))
    if not drawn:
        return None
    costs = [cost for _, cost, _ in drawn]
    values = [metric.value or 0.0 for *_, metric in drawn]
    ends = [metric.interval.high or 0.0 for *_, metric in drawn]
    place, x_marks = _axis(costs)
    top = _top(max((*values, *ends)))
    front = on_front(costs, values)
    spots = [
        (place(cost), HEIGHT * (1 - value / top)) for cost, value in zip(costs, values, strict=True)
    ]
    points = tuple(
        _point(name, spot, metric, top, best, text_y)
        for (name, _, metric), spot, best, text_y in zip(
            drawn, spots, front, _apart(spots), strict=True
        )
    )
    steps = sorted((p.x, p.y) for p in points if p.front)
    return Scatter(
        points=points,
        front=" ".join(f"{x:.1f},{y:.1f}" for x, y in _stairs(steps)),
        x_marks=x_marks,
        y_marks=tuple(_percent_marks(top)),
        left_out=tuple(left_out),
    )


def _point(
    name: str, spot: tuple[float, float], metric: Metric, top: float, front: bool, text_y: float
) -> Point:
    x, y = spot
    low, high = (
        None if end is None else HEIGHT * (1 - end / top)
        for end in (metric.interval.low, metric.interval.high)
    )
    label = one_line(name, _NAME)
    left = x + 10 + len(label) * _LETTER > WIDTH + 60
    return Point(
        label=label,
        x=x,
        y=y,
        low=low,
        high=high,
        front=front,
        text_x=x - 9 if left else x + 9,
        text_y=text_y,
        anchor="end" if left else "start",
    )


def _apart(spots: Sequence[tuple[float, float]]) -> list[float]:
    """Heights of the labels, moved so that no two near each other are one."""
    placed: list[tuple[float, float]] = []
    found = [0.0] * len(spots)
    for index in sorted(range(len(spots)), key=lambda i: -spots[i][1]):
        x, y = spots[index][0], spots[index][1] - 4
        while any(abs(y - other) < _LINE and abs(x - where) < 190 for where, other in placed):
            y -= 3
        placed.append((x, y))
        found[index] = y
    return found


def _stairs(steps: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The front as a staircase: between two runs nothing better than the cheaper one is known."""
    found: list[tuple[float, float]] = []
    for x, y in steps:
        if found:
            found.append((x, found[-1][1]))
        found.append((x, y))
    return found


class _Place:
    """From an amount to its place on the axis."""

    def __init__(self, low: float, high: float, log: bool) -> None:
        self._low, self._high, self._log = low, high, log

    def __call__(self, value: float) -> float:
        if self._log:
            share = math.log(value / self._low) / math.log(self._high / self._low)
        else:
            share = (value - self._low) / (self._high - self._low)
        return share * WIDTH


def _axis(values: Sequence[float]) -> tuple[_Place, tuple[Mark, ...]]:
    least, most = min(values), max(values)
    if least > 0 and most / least >= _FROM_LOG:
        low, high = 10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(most))
        place = _Place(low, high, log=True)
        powers = range(round(math.log10(low)), round(math.log10(high)) + 1)
        return place, tuple(Mark(place(10.0**p), f"{10.0**p:g}") for p in powers)
    step = _step(most or 1.0)
    high = step * math.ceil((most or 1.0) / step + 1e-9)
    place = _Place(0.0, high, log=False)
    count = round(high / step)
    return place, tuple(Mark(place(step * i), f"{step * i:g}") for i in range(count + 1))


def _step(most: float) -> float:
    """A round step of which four to eight make the whole."""
    rough = most / 5
    power = 10 ** math.floor(math.log10(rough))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= rough))


def _top(highest: float) -> float:
    step = _step(max(highest, 0.05))
    return min(1.0, step * math.ceil(max(highest, 0.05) / step - 1e-9))


def _percent_marks(top: float) -> list[Mark]:
    step = _step(top)
    count = math.floor(top / step + 1e-9)
    return [Mark(HEIGHT * (1 - step * i / top), f"{100 * step * i:g}") for i in range(count + 1)]
