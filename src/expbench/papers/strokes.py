"""Rules, drawings and pictures of a page, in the process that runs the parser."""

from __future__ import annotations

import ctypes
from typing import Any

from expbench.papers.raw import Area
from expbench.papers.turning import Turn

MOST_OBJECTS = 50_000
"""Of one page; what comes behind is left out, and said."""
_THIN = 2.0
_SHORTEST_RULE = 6.0
_WHOLE_PAGE = 0.9
_WHITE = 250
_RECTANGLE = 5
"""Most segments of a rectangle."""


def strokes_of(page: Any, turn: Turn) -> tuple[list[Area], list[Area], list[Area], bool]:
    """Horizontal rules, vertical rules, drawings; and whether all of them were looked at."""
    from pypdfium2 import raw

    across: list[Area] = []
    down: list[Area] = []
    drawings: list[Area] = []
    count = raw.FPDFPage_CountObjects(page)
    kinds = (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_UNKNOWN)
    for at in range(min(count, MOST_OBJECTS)):
        thing = raw.FPDFPage_GetObject(page, at)
        kind = raw.FPDFPageObj_GetType(thing)
        area = None if kind in kinds else _shown(thing, turn)
        if area is None:
            continue
        if kind == raw.FPDF_PAGEOBJ_PATH and (rule := _as_rule(area)):
            (across if rule == "across" else down).append(area)
            continue
        if kind == raw.FPDF_PAGEOBJ_PATH and _is_paper(thing):
            continue
        if kind == raw.FPDF_PAGEOBJ_PATH and _is_frame(thing):
            top, bottom, left, right = _edges(area)
            across += [top, bottom]
            down += [left, right]
        drawings.append(area)
    return across, down, drawings, count <= MOST_OBJECTS


def _shown(thing: Any, turn: Turn) -> Area | None:
    """The part of an object that is on the page; ``None`` for what is off it or its background."""
    from pypdfium2 import raw

    bounds = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(thing, *bounds):
        return None
    x0, y0, x1, y1 = turn.box(*(each.value for each in bounds))
    width, height = turn.size
    area = Area(*(round(v, 2) for v in (max(x0, 0), max(y0, 0), min(x1, width), min(y1, height))))
    if area.width < 0 or area.height < 0:
        return None
    whole = area.width > _WHOLE_PAGE * width and area.height > _WHOLE_PAGE * height
    return None if whole else area


def _as_rule(area: Area) -> str:
    if area.height <= _THIN and area.width >= _SHORTEST_RULE:
        return "across"
    return "down" if area.width <= _THIN and area.height >= _SHORTEST_RULE else ""


def _is_frame(path: Any) -> bool:
    """Whether a path is a stroked rectangle, as some programs draw the cells of a table."""
    from pypdfium2 import raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    few = 4 <= raw.FPDFPath_CountSegments(path) <= _RECTANGLE
    return few and bool(raw.FPDFPath_GetDrawMode(path, fill, stroke)) and bool(stroke.value)


def _is_paper(path: Any) -> bool:
    """Whether a path is filled in white and has no stroke: it shows nothing."""
    from pypdfium2 import raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, fill, stroke) or stroke.value:
        return False
    colour = [ctypes.c_uint() for _ in range(4)]
    known = bool(raw.FPDFPageObj_GetFillColor(path, *colour))
    return not fill.value or (known and all(each.value >= _WHITE for each in colour[:3]))


def _edges(area: Area) -> tuple[Area, Area, Area, Area]:
    x0, y0, x1, y1 = area.x0, area.y0, area.x1, area.y1
    return Area(x0, y0, x1, y0), Area(x0, y1, x1, y1), Area(x0, y0, x0, y1), Area(x1, y0, x1, y1)
