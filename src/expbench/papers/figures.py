"""Figures: drawings and pictures near each other, with the words in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from expbench.papers.columns import Region
from expbench.papers.lines import Line, rows_of
from expbench.papers.raw import Area, Word, around

_REACH = 9.0
"""Points between two parts of one figure."""
_CELL = 3.0
_MOST_CELLS = 4_000_000
_LEAST = 18.0
"""Points that a figure measures at least, each way."""
_FAR = 60.0


@dataclass(frozen=True)
class Figure:
    """A figure's place, the words in it, and which of the page's captions is its own."""

    area: Area
    words: tuple[Word, ...]
    caption: int = -1


def figures_of(
    words: Sequence[Word],
    drawings: Sequence[Area],
    captions: Sequence[Region],
    tables: Sequence[Area],
    body: float,
) -> list[Figure]:
    """The figures of a page, from above.

    Args:
        words: of the page.
        drawings: of the page.
        captions: of the page.
        tables: their places, in which there is no figure.
        body: the size in which most of the document is set.
    """
    captioned = {id(word) for each in captions for line in each.lines for word in line.words}
    outside = [each for each in drawings if not any(t.grown(2).holds_middle(each) for t in tables)]
    prose = _prose([each for each in words if id(each) not in captioned], body)
    labels = [
        each
        for each in words
        if id(each) not in captioned
        and id(each) not in prose
        and not any(t.holds_middle(each) for t in tables)
    ]
    clusters = [_with_labels(each, labels) for each in _clusters(outside, captions) if _large(each)]
    found = [
        Figure(
            each,
            tuple(word for word in words if id(word) not in captioned and each.holds_middle(word)),
        )
        for each in _apart(clusters)
    ]
    return _captioned(sorted(found, key=lambda each: each.area.y0), captions)


def holds_prose(figure: Figure, body: float) -> bool:
    """Whether lines of text stand in it: it is a box around text then, or a page's background."""
    return bool(_prose(figure.words, body))


def _large(area: Area) -> bool:
    return area.width >= _LEAST and area.height >= _LEAST


def _prose(words: Sequence[Word], body: float) -> set[int]:
    """Words of lines that are as long and as large as those of a text."""
    found: set[int] = set()
    for row in rows_of(each for each in words if not each.turned):
        part: list[Word] = []
        for word in [*row, None]:
            if word is not None and (not part or word.x0 - part[-1].x1 < 1.5 * word.size):
                part.append(word)
                continue
            line = Line(tuple(part))
            if len(part) >= 5 and line.size > 0.8 * body and line.x1 - line.x0 > 14 * body:
                found |= {id(each) for each in part}
            part = [word] if word is not None else []
    return found


def _clusters(drawings: Sequence[Area], captions: Sequence[Region]) -> list[Area]:
    """Drawings joined over short gaps; a caption parts what is above it from what is below.

    They are joined on a raster: a plot may have ten thousand marks.
    """
    if not drawings:
        return []
    whole = around(drawings)
    shape = (int(whole.height / _CELL) + 3, int(whole.width / _CELL) + 3)
    if shape[0] * shape[1] > _MOST_CELLS:
        return [whole]
    raster = np.zeros(shape, dtype=np.bool_)
    for each in drawings:
        raster[_cells(each, whole)] = True
    for caption in captions:
        raster[_cells(caption.area, whole)] = False
    labels, count = ndimage.label(raster, np.ones((3, 3)))
    parts: list[list[Area]] = [[] for _ in range(count + 1)]
    for each in drawings:
        seen = labels[_cells(each, whole)]
        parts[int(seen.max(initial=0))].append(each)
    return [around(part) for part in parts[1:] if part]


def _cells(area: Area, whole: Area) -> tuple[slice, slice]:
    """The raster's cells that an area covers or comes near to."""

    def span(start: float, end: float, origin: float) -> slice:
        reach = _REACH / 2
        return slice(
            max(int((start - reach - origin) / _CELL), 0),
            max(int((end + reach - origin) / _CELL) + 1, 0),
        )

    return span(area.y0, area.y1, whole.y0), span(area.x0, area.x1, whole.x0)


def _with_labels(area: Area, labels: Sequence[Word]) -> Area:
    """A drawing with the words at its edges: ticks, axes' names, legends."""
    grown = True
    while grown:
        grown = False
        for word in labels:
            if area.grown(_REACH).meets(word) and not _contains(area, word):
                area = around([area, word])
                grown = True
    return area


def _contains(area: Area, word: Word) -> bool:
    return area.x0 <= word.x0 and word.x1 <= area.x1 and area.y0 <= word.y0 and word.y1 <= area.y1


def _apart(areas: Sequence[Area]) -> list[Area]:
    """Those that came to share a place, as one."""
    kept: list[Area] = []
    for area in areas:
        joined = area
        for other in [each for each in kept if each.meets(joined)]:
            kept.remove(other)
            joined = around([joined, other])
        kept.append(joined)
    return kept


def _captioned(figures: Sequence[Figure], captions: Sequence[Region]) -> list[Figure]:
    """Each caption of a figure with the parts nearest above it, or else below."""
    left = list(figures)
    found: list[Figure] = []
    for number, caption in enumerate(captions):
        if caption.kind != "figure":
            continue
        above = [each for each in left if _over(each.area, caption)]
        below = [each for each in left if _under(each.area, caption)]
        chosen = _row_nearest(above, caption) or below[:1]
        if not chosen:
            continue
        left = [each for each in left if each not in chosen]
        words = tuple(word for each in chosen for word in each.words)
        found.append(Figure(around([each.area for each in chosen]), words, number))
    return sorted([*found, *(replace(each) for each in left)], key=lambda each: each.area.y0)


def _over(area: Area, caption: Region) -> bool:
    return -4 <= caption.y0 - area.y1 < _FAR and area.x0 < caption.x1 and caption.x0 < area.x1


def _under(area: Area, caption: Region) -> bool:
    return -4 <= area.y0 - caption.y1 < _FAR and area.x0 < caption.x1 and caption.x0 < area.x1


def _row_nearest(figures: Sequence[Figure], caption: Region) -> list[Figure]:
    """Panels side by side above one caption are one figure."""
    if not figures:
        return []
    nearest = max(figures, key=lambda each: each.area.y1)
    return [each for each in figures if each.area.y1 > nearest.area.y0]
