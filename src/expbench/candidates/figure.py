"""The picture of a selection: stars against citations, and what became of each candidate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from expbench.candidates.filtering import Fate, Selection
from expbench.report.templating import html_templates
from expbench.runs import write_atomically

WIDTH, HEIGHT = 720.0, 380.0
_LEFT, _BOTTOM = 56.0, 40.0


@dataclass(frozen=True)
class Point:
    """A candidate with both numbers, in units of the figure."""

    x: float
    y: float
    fate: Fate


@dataclass(frozen=True)
class Mark:
    """A mark of an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Figure:
    """Logarithmic on both axes; ``left_out`` candidates have no citations or no stars."""

    points: tuple[Point, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    left_out: int


def figure(selection: Selection) -> Figure:
    """Where each candidate stands; what fell out first, so that what passed lies on top."""
    drawn = [
        (each.candidate.citations, each.candidate.stars, each)
        for each in reversed(selection.fates)
        if each.candidate.citations is not None and each.candidate.stars is not None
    ]
    wide = _decades([citations for citations, *_ in drawn])
    high = _decades([stars for _, stars, _ in drawn])
    points = [Point(_x(citations, wide), _y(stars, high), fate) for citations, stars, fate in drawn]
    return Figure(
        points=tuple(points),
        x_marks=tuple(Mark(_x(10**n - 1, wide), f"{10**n - 1}") for n in range(wide + 1)),
        y_marks=tuple(Mark(_y(10**n - 1, high), f"{10**n - 1}") for n in range(high + 1)),
        left_out=len(selection.fates) - len(drawn),
    )


def write_page(selection: Selection, file: Path) -> None:
    """One offline page: the funnel, the scatter, and a table behind it. Raises OSError."""
    environment = html_templates("expbench.candidates", "expbench.report")
    reasons = Counter(each.filter for each in selection.fates if each.filter)
    page = environment.get_template("selection.html").render(
        selection=selection, figure=figure(selection), reasons=reasons, width=WIDTH, height=HEIGHT
    )
    write_atomically(file, page.encode())


def _decades(values: Sequence[int]) -> int:
    return max(1, math.ceil(math.log10(max(values, default=0) + 1)))


def _x(value: float, decades: int) -> float:
    return _LEFT + (WIDTH - _LEFT - 16) * math.log10(value + 1) / decades


def _y(value: float, decades: int) -> float:
    return HEIGHT - _BOTTOM - (HEIGHT - _BOTTOM - 16) * math.log10(value + 1) / decades
