"""The order in which a page's items are read: across its columns, and above and below them."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from expbench.papers.lines import Line, lines_of, rows_of, usual_size
from expbench.papers.raw import Area, Word, around

_GUTTER = 7.0
"""Points that are at least free between two columns."""
_STEP = 2.0
_ROW = 10.0
_COLUMN = 250.0
"""Points: a row's height, and how far a column reaches."""
_LEAST_LINES = 5
_SPANNING_GAP = 1.45
"""Of a line's height: what follows a line more closely belongs to its paragraph."""


@dataclass(frozen=True)
class Region:
    """What is one piece in the order of reading: a table, a figure or a caption."""

    kind: str
    area: Area
    lines: tuple[Line, ...] = ()
    number: int = -1
    """Its place in the list of its kind."""

    @property
    def x0(self) -> float:
        return self.area.x0

    @property
    def y0(self) -> float:
        return self.area.y0

    @property
    def x1(self) -> float:
        return self.area.x1

    @property
    def y1(self) -> float:
        return self.area.y1


Item = Line | Region


@dataclass
class Run:
    """Items in one column, from above, and the column's edges."""

    x0: float
    x1: float
    items: list[Item] = field(default_factory=list)


def gutter_of(words: Sequence[Word], width: float) -> float | None:
    """Where two columns of a page are parted, if it has two."""
    flat = [each for each in words if not each.turned]
    best: tuple[float, float] | None = None
    x = 0.3 * width
    while x <= 0.7 * width:
        if (lines := _parted_lines(flat, x)) >= _LEAST_LINES:
            score = lines - abs(x - width / 2) / width
            if best is None or score > best[0]:
                best = (score, x)
        x += _STEP
    return best[1] if best is not None else None


def _parted_lines(words: Sequence[Word], x: float) -> int:
    """The most lines one below the other that all leave a strip free, with words on both sides."""
    half = _GUTTER / 2
    left = [each for each in words if x - _COLUMN < each.x1 <= x + half]
    right = [each for each in words if x - half <= each.x0 < x + _COLUMN]
    stops = sorted(
        (each.y0 + each.y1) / 2
        for each in words
        if each.x0 < x + half - 0.5
        and each.x1 > x - half + 0.5
        and (each.x1 > x + half or each.x0 < x - half)
    )
    rows_left, rows_right = _rows_between(left, stops), _rows_between(right, stops)
    return max(
        (min(len(rows), len(rows_right[band])) for band, rows in rows_left.items()), default=0
    )


def _rows_between(side: Sequence[Word], stops: Sequence[float]) -> dict[int, set[int]]:
    """The rows of one side by how many lines that cross stand above them."""
    rows: dict[int, set[int]] = defaultdict(set)
    for word in side:
        middle = (word.y0 + word.y1) / 2
        at = bisect(stops, middle)
        near = stops[max(at - 1, 0) : at + 1]
        if not any(abs(stop - middle) < 4 for stop in near):
            rows[at].add(round(middle / _ROW))
    return rows


def column_lines(words: Sequence[Word], gutter: float | None) -> list[Line]:
    """Words as lines of their columns; a row that runs over the gutter is one line."""
    if gutter is None:
        return lines_of(words)
    wide: list[Line] = []
    left: list[Word] = []
    right: list[Word] = []
    for row in rows_of(words):
        before = [each for each in row if (each.x0 + each.x1) / 2 < gutter]
        behind = [each for each in row if (each.x0 + each.x1) / 2 >= gutter]
        free = max(_GUTTER, 0.6 * usual_size(row))
        if before and behind and behind[0].x0 - max(each.x1 for each in before) < free:
            wide.append(Line(tuple(row)))
        else:
            left += before
            right += behind
    return [*wide, *lines_of(left), *lines_of(right)]


def in_order(items: Sequence[Item], gutter: float | None, two_columns: bool) -> list[Run]:
    """The runs of a page in the order of reading.

    Args:
        items: lines that do not cross the gutter unless they run over both columns, and regions.
        gutter: where the page's columns are parted.
        two_columns: whether most of the document is set in two columns, so that a column that goes on
            below the other's end is still a column.
    """
    ordered = sorted(items, key=lambda each: (each.y0, each.x0))
    if gutter is None:
        return [_run(ordered)] if ordered else []
    spanning = _spanning(ordered, gutter)
    runs: list[list[Item]] = []
    wide: list[Item] = []
    left: list[Item] = []
    right: list[Item] = []
    for item in ordered:
        if id(item) in spanning:
            runs += _band(left, right, two_columns)
            left, right = [], []
            wide.append(item)
            continue
        if wide:
            runs.append(wide)
            wide = []
        (left if (item.x0 + item.x1) / 2 < gutter else right).append(item)
    return [_run(each) for each in (*runs, *_band(left, right, two_columns), wide) if each]


def _spanning(items: Sequence[Item], gutter: float) -> set[int]:
    """The items that run over both columns, with the short last lines of paragraphs that do."""
    found: set[int] = set()
    above: Item | None = None
    for item in items:
        crosses = item.x0 < gutter - 3 and item.x1 > gutter + 3
        goes_on = (
            above is not None
            and isinstance(item, Line)
            and isinstance(above, Line)
            and id(above) in found
            and item.y0 - above.y0 < _SPANNING_GAP * 1.2 * above.size
            and abs(item.size - above.size) < 0.5
            and not any(
                other is not item and other.x0 > gutter and abs(other.y0 - item.y0) < item.size
                for other in items
            )
        )
        if crosses or goes_on:
            found.add(id(item))
        above = item
    return found


def _band(left: list[Item], right: list[Item], two_columns: bool) -> list[list[Item]]:
    """Left column, right column; in a text of one column, what stands below both comes after both."""
    if two_columns or not left or not right:
        return [each for each in (left, right) if each]
    start = max(left[0].y0, right[0].y0)
    end = min(max(e.y1 for e in left), max(e.y1 for e in right)) + 4
    before = [e for e in (*left, *right) if e.y1 < start - 4]
    after = [e for e in (*left, *right) if e.y0 > end]
    beside = {id(e) for e in (*before, *after)}
    parts = (
        sorted(before, key=lambda e: e.y0),
        [e for e in left if id(e) not in beside],
        [e for e in right if id(e) not in beside],
        sorted(after, key=lambda e: e.y0),
    )
    return [part for part in parts if part]


def _run(items: list[Item]) -> Run:
    area = around(items)
    return Run(area.x0, area.x1, items)
