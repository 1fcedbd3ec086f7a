"""Tables: where they are and what their cells hold.

A table is known by its rules, three or more of one width (booktabs) or a grid, or by a caption with rows in
columns below or above it. Columns are what stays free over the rows below the head. A cell of the head that
spans columns is said for each of them, so that a column can be read down from its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from expbench.papers.columns import Region
from expbench.papers.lines import rows_of, text_of, usual_size
from expbench.papers.raw import Area, Word, around

_SAME = 4.0
"""Points by which the ends of a table's rules differ at most."""
_FREE = 0.5
"""Of the size, what is at least free between columns."""
_CROSSED = 0.1
"""Of the rows, those that may run over a free strip."""
_NEAR = 60.0
_MOST_RULES = 1500

Cells = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table's place, the words in it and its rows."""

    area: Area
    words: tuple[Word, ...]
    cells: Cells


def tables_of(
    words: Sequence[Word],
    across: Sequence[Area],
    down: Sequence[Area],
    drawings: Sequence[Area],
    captions: Sequence[Region],
) -> list[Table]:
    """The tables of a page, from above. What is drawn upon is one only next to a table's caption."""
    captioned = {id(word) for each in captions for line in each.lines for word in line.words}
    free = [each for each in words if id(each) not in captioned and not each.turned]
    found: list[Table] = []
    whole = _joined(across)
    for rules in sorted(_ruled(whole, down, captions, free), key=lambda each: -len(each)):
        area = around(rules)
        if any(each.area.holds_middle(area) or area.holds_middle(each.area) for each in found):
            continue
        near = [each for each in down if area.grown(_SAME).meets(each)]
        near = [each for each in near if area.x0 - _SAME < each.x0 < area.x1 + _SAME]
        area = around([area, *near])
        inside = [each for each in (*whole, *across) if _within(each, area)]
        table = _table(area, free, inside, near)
        drawn = any(area.meets(each) for each in drawings)
        titled = _titled(area, captions, drawn)
        if table is not None and (titled or (len(rules) >= 3 and not drawn)):
            found.append(table)
    taken = [each.area for each in found]
    for caption in captions:
        if caption.kind == "table" and not any(_beside(caption, each) for each in taken):
            found += _unruled(caption, free, taken)
    return sorted(found, key=lambda each: each.area.y0)


def _joined(across: Sequence[Area]) -> list[Area]:
    """Rules that were drawn cell by cell, as one each."""
    longest = sorted(across, key=lambda each: -each.width)[:_MOST_RULES]
    levels: list[list[Area]] = []
    for rule in sorted(longest, key=lambda each: each.y0):
        if levels and rule.y0 - levels[-1][0].y0 < 1:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    found: list[Area] = []
    for level in levels:
        start = len(found)
        for rule in sorted(level, key=lambda each: each.x0):
            if len(found) > start and rule.x0 - found[-1].x1 < 2:
                found[-1] = around([found[-1], rule])
            else:
                found.append(rule)
    return found


def _titled(area: Area, captions: Sequence[Region], drawn: bool) -> bool:
    """Whether a table's caption stands next to an area, and no figure's, where it is drawn upon."""
    beside = [each for each in captions if _beside(each, area)]
    if drawn and any(each.kind == "figure" for each in beside):
        return False
    return any(each.kind == "table" for each in beside)


def _within(rule: Area, area: Area) -> bool:
    return (
        area.y0 - 1 <= rule.y0 <= area.y1 + 1
        and rule.x0 >= area.x0 - _SAME
        and rule.x1 <= area.x1 + _SAME
    )


def _beside(caption: Region, area: Area) -> bool:
    gap = max(area.y0 - caption.y1, caption.y0 - area.y1)
    return gap < _NEAR and caption.x0 < area.x1 and area.x0 < caption.x1


def _ruled(
    across: Sequence[Area],
    down: Sequence[Area],
    captions: Sequence[Region],
    words: Sequence[Word],
) -> list[list[Area]]:
    """Rules of one width that belong together, with no caption and no prose between them."""
    groups: list[list[Area]] = []
    for rule in sorted(across, key=lambda each: each.y0):
        for group in groups:
            last = group[-1]
            same = abs(last.x0 - rule.x0) < _SAME and abs(last.x1 - rule.x1) < _SAME
            if same and _bound(last, rule, down) and _together(last, rule, captions, words):
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [each for each in groups if len(each) >= 2]


def _bound(above: Area, below: Area, down: Sequence[Area]) -> bool:
    """Whether the left edge of a grid, where rules have one, goes on from one to the next."""
    left = [each for each in down if abs(each.x0 - above.x0) < _SAME]
    ends = [each for each in left for rule in (above, below) if each.y0 - 3 < rule.y0 < each.y1 + 3]
    places = (above.y0 + 3, below.y0 - 3)
    return not ends or all(any(each.y0 <= y <= each.y1 for each in left) for y in places)


def _together(above: Area, below: Area, captions: Sequence[Region], words: Sequence[Word]) -> bool:
    if below.y0 - above.y0 < 4:
        return True
    between = Area(above.x0, above.y1, above.x1, below.y0)
    if any(between.y0 < each.y0 + 2 < between.y1 and between.meets(each) for each in captions):
        return False
    inside = [each for each in words if between.holds_middle(each)]
    if not inside:
        return False
    stretch = max(each.y1 for each in inside) - min(each.y0 for each in inside)
    return stretch > 0.5 * between.height and not any(
        each.x0 < between.x0 - 8 and each.x1 > between.x0 + 8
        for each in words
        if between.y0 < each.base < between.y1
    )


def _table(
    area: Area, words: Sequence[Word], across: Sequence[Area], down: Sequence[Area]
) -> Table | None:
    inside = tuple(each for each in words if area.grown(1.5).holds_middle(each))
    if not inside:
        return None
    edges = _distinct([each.x0 for each in down if each.height > 6])
    cells = (
        _grid(inside, edges, across, area) if len(edges) >= 2 else _columns(inside, across, area)
    )
    if not cells or max(len(row) for row in cells) < 2:
        return None
    return Table(around([area, *inside]), inside, cells)


def _distinct(values: Sequence[float]) -> list[float]:
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > _SAME:
            kept.append(value)
    return kept


def _grid(words: Sequence[Word], edges: list[float], across: Sequence[Area], area: Area) -> Cells:
    """Cells between rules."""
    marks = [
        area.x0,
        *(each for each in edges if area.x0 + _SAME < each < area.x1 - _SAME),
        area.x1,
    ]
    levels = _distinct([area.y0, *(each.y0 for each in across), area.y1])
    rows = rows_of(words)
    if len(levels) - 1 >= 0.6 * len(rows):
        bands = (
            [each for each in words if upper <= (each.y0 + each.y1) / 2 < lower]
            for upper, lower in pairwise(levels)
        )
        rows = [row for band in bands for row in _rows_in(band, marks)]
    return tuple(
        tuple(" ".join(text_of(part) for part in rows_of(cell)) for cell in _parted(row, marks))
        for row in rows
        if row
    )


def _rows_in(band: list[Word], marks: Sequence[float]) -> list[list[Word]]:
    """One row between two rules; more, where a scan lost rules between rows that are full at both ends."""
    rows = rows_of(band)
    ends = [_parted(row, marks) for row in rows]
    whole = len(rows) > 1 and all(each[0] and each[-1] for each in ends)
    return rows if whole else [band]


def _parted(row: Sequence[Word], marks: Sequence[float]) -> list[list[Word]]:
    """A row's words by the columns between marks."""
    return [
        [each for each in row if left <= (each.x0 + each.x1) / 2 < right]
        for left, right in pairwise(marks)
    ]


def _columns(words: Sequence[Word], across: Sequence[Area], area: Area) -> Cells:
    """Cells between what stays free."""
    rows = rows_of(words)
    size = usual_size(words)
    head = _head_rows(rows, across, area)
    body = rows[head:] or rows
    strips = _strips(body, size)
    if not strips:
        return ()
    marks = [-1e9, *((x0 + x1) / 2 for x0, x1 in strips), 1e9]
    short = [each for each in across if each.width < 0.9 * area.width]
    return tuple(
        _head_cells(row, marks, short, size) if at < head else _cells(row, marks)
        for at, row in enumerate(rows)
    )


def _head_rows(rows: Sequence[Sequence[Word]], across: Sequence[Area], area: Area) -> int:
    """How many rows stand above the rule below the head."""
    full = _distinct([each.y0 for each in across if each.width >= 0.9 * area.width])
    inner = [each for each in full if area.y0 + 4 < each < area.y1 - 4]
    if not inner:
        return 0
    return sum(max(each.base for each in row) < inner[0] + 1 for row in rows)


def _strips(rows: Sequence[Sequence[Word]], size: float) -> list[tuple[float, float]]:
    """What stays free from above to below between the words of the rows."""
    start = min(each.x0 for row in rows for each in row)
    end = max(each.x1 for row in rows for each in row)
    bins = int(2 * (end - start)) + 1
    crossed = [0] * bins
    for row in rows:
        taken = {
            at
            for each in row
            for at in range(int(2 * (each.x0 - start)), min(int(2 * (each.x1 - start)) + 1, bins))
        }
        for at in taken:
            crossed[at] += 1
    most = int(_CROSSED * len(rows))
    strips: list[tuple[float, float]] = []
    begun: int | None = None
    for at, count in enumerate([*crossed, bins]):
        if count <= most:
            begun = at if begun is None else begun
        elif begun is not None:
            if (at - begun) / 2 >= _FREE * size:
                strips.append((start + begun / 2, start + at / 2))
            begun = None
    return strips


def _cells(row: Sequence[Word], marks: Sequence[float]) -> tuple[str, ...]:
    return tuple(text_of(cell) for cell in _parted(row, marks))


def _head_cells(
    row: Sequence[Word], marks: Sequence[float], rules: Sequence[Area], size: float
) -> tuple[str, ...]:
    """A row of the head: what stands over several columns is said for each."""
    cells = [""] * (len(marks) - 1)
    parts: list[list[Word]] = []
    for word in row:
        if parts and word.x0 - parts[-1][-1].x1 < 0.6 * size:
            parts[-1].append(word)
        else:
            parts.append([word])
    for part in parts:
        place = around(part)
        middle = (place.x0 + place.x1) / 2
        under = [
            each
            for each in rules
            if each.x0 <= middle <= each.x1 and 0 < each.y0 - part[0].base < 1.2 * size
        ]
        span = around([*under, place]) if under else place
        for at, (left, right) in enumerate(pairwise(marks)):
            inside = left <= middle < right
            shared = min(right, span.x1) - max(left, span.x0)
            if inside or (under and shared > 0.35 * size and _centre(left, right, span)):
                cells[at] = f"{cells[at]} {text_of(part)}".strip()
    return tuple(cells)


def _centre(left: float, right: float, span: Area) -> bool:
    """Whether a column lies below a rule; the outermost have no edge of their own."""
    x0, x1 = max(left, span.x0 - 1), min(right, span.x1 + 1)
    return x1 - x0 > 6


def _unruled(caption: Region, words: Sequence[Word], taken: Sequence[Area]) -> list[Table]:
    """Rows in columns below or above a caption, where no rule shows a table."""
    for below in (True, False):
        rows = _rows_from(caption, words, below)
        if len(rows) < 2:
            continue
        inside = [each for row in rows for each in row]
        area = around(inside)
        if any(area.meets(each) for each in taken):
            continue
        strips = _strips(rows, usual_size(inside))
        if strips:
            marks = [-1e9, *((x0 + x1) / 2 for x0, x1 in strips), 1e9]
            return [Table(area, tuple(inside), tuple(_cells(row, marks) for row in rows))]
    return []


def _rows_from(caption: Region, words: Sequence[Word], below: bool) -> list[list[Word]]:
    """Rows of two cells and more that follow a caption without a gap."""
    wide = caption.area.grown(60)
    rows = [
        [each for each in row if wide.x0 <= each.x0 and each.x1 <= wide.x1]
        for row in rows_of(words)
    ]
    beyond = [row for row in rows if row and (row[0].y0 > caption.y1 - 2) == below]
    edge = caption.y1 if below else caption.y0
    found: list[list[Word]] = []
    for row in beyond if below else reversed(beyond):
        size = usual_size(row)
        gap = row[0].y0 - edge if below else edge - row[0].y1
        parts = sum(b.x0 - a.x1 > 0.9 * size for a, b in pairwise(row))
        if gap > 2.2 * size or not parts:
            break
        found.append(row)
        edge = row[0].y1 if below else row[0].y0
    return found if below else found[::-1]
