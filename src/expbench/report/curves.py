"""How the shares fall as more is asked for "fully right": lines over the threshold, and the table of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.metrics import Curve
from expbench.report.text import percent

WIDTH, HEIGHT = 420.0, 230.0
"""The drawing's area in units of the view box: thresholds across, shares up."""
_DRAWN = (
    "design_full",
    "implementation_full",
    "conclusion_design",
    "implementation_execution",
    "all",
    "all_execution",
)
_APART = 18.0
"""Units between two labels at the right end."""


@dataclass(frozen=True)
class Line:
    """One share: where it goes, its marks, and its label at the right end."""

    label: str
    points: tuple[tuple[float, float], ...]
    end: float
    text_y: float

    @property
    def path(self) -> str:
        """The points as an SVG list."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True)
class CurveRow:
    """One share at every threshold, each with what it is of."""

    label: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CurveFigure:
    """The drawing and the table behind it; ``at`` is where the run's own threshold stands."""

    lines: tuple[Line, ...]
    ticks: tuple[tuple[str, float], ...]
    at: float | None
    rows: tuple[CurveRow, ...]


def curve_figure(curves: Sequence[Curve], threshold: float) -> CurveFigure:
    """All curves in the table, and of those with a value the ones that the figure is about as lines."""
    thresholds = [point.threshold for point in curves[0].points]
    low, high = thresholds[0], thresholds[-1]
    drawn = [each for each in curves if each.key in _DRAWN and _scored(each)]
    return CurveFigure(
        lines=_lines(drawn, low, high),
        ticks=tuple((f"{100 * each:.0f} %", _across(each, low, high)) for each in thresholds),
        at=_across(threshold, low, high) if threshold >= low else None,
        rows=tuple(
            CurveRow(
                each.label,
                tuple((percent(p.value), f"{p.successes} of {p.n}") for p in each.points),
            )
            for each in curves
        ),
    )


def _lines(drawn: Sequence[Curve], low: float, high: float) -> tuple[Line, ...]:
    placed = [(each.label, _points(each, low, high)) for each in drawn]
    heights = _spread([points[-1][1] for _, points in placed])
    return tuple(
        Line(label, points, points[-1][1], y)
        for (label, points), y in zip(placed, heights, strict=True)
    )


def _points(curve: Curve, low: float, high: float) -> tuple[tuple[float, float], ...]:
    return tuple(
        (_across(each.threshold, low, high), HEIGHT * (1 - (each.value or 0.0)))
        for each in curve.points
    )


def _spread(wanted: Sequence[float]) -> list[float]:
    """Heights near those that are wanted, none nearer to another than labels need, inside the drawing."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    found = [0.0] * len(wanted)
    lowest = HEIGHT
    for place, index in enumerate(reversed(order)):
        room_above = (len(order) - 1 - place) * _APART
        found[index] = max(min(wanted[index], lowest), room_above)
        lowest = found[index] - _APART
    return found


def _scored(curve: Curve) -> bool:
    return all(point.value is not None for point in curve.points)


def _across(threshold: float, low: float, high: float) -> float:
    return WIDTH * (threshold - low) / (high - low)
