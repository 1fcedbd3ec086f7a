"""Captions: where they begin, what they call their thing, and how far they go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from expbench.papers.columns import Region
from expbench.papers.lines import Line, rows_of
from expbench.papers.raw import Area, Word, around

_START = re.compile(
    r"(?P<kind>table|tab\.|figure|fig\.|algorithm|listing)\s?"
    r"(?P<number>[A-Z]?\.?\d+(?:\.\d+)*|[IVXL]+)\s?(?P<end>[:.|—–]?)(?P<rest>\s|$)",
    re.IGNORECASE,
)
_KINDS = {"tab": "table", "fig": "figure", "alg": "figure", "lis": "figure"}
_GAP = 1.5
"""Of the size: a wider gap parts what stands side by side."""
_LEADING = 1.45


def captions_of(words: Sequence[Word], across: Sequence[Area]) -> list[Region]:
    """The captions of a page as regions of kind ``table`` or ``figure``: what they belong to."""
    segments = [part for row in rows_of(words) for part in _segments(row)]
    segments.sort(key=lambda each: (each.y0, each.x0))
    found = []
    for segment in segments:
        match = _START.match(segment.text)
        if match is None or not _begins(segment, match, segments):
            continue
        lines = _goes_on(segment, segments, across)
        kind = _KINDS[match["kind"][:3].lower()]
        found.append(Region(kind, around(lines), tuple(lines)))
    return found


def label_of(text: str) -> str:
    """What a caption calls its thing: ``Table 2``; empty where it is no caption."""
    match = _START.match(text)
    if match is None:
        return ""
    word = match["kind"].rstrip(".").capitalize()
    return f"{ {'Fig': 'Figure', 'Tab': 'Table'}.get(word, word) } {match['number']}"


def _segments(row: Sequence[Word]) -> list[Line]:
    """The parts of a row between wide gaps."""
    parts: list[list[Word]] = [[row[0]]]
    for before, word in pairwise(row):
        if word.x0 - before.x1 > _GAP * max(word.size, before.size):
            parts.append([])
        parts[-1].append(word)
    return [Line(tuple(part)) for part in parts]


def _begins(segment: Line, match: re.Match[str], segments: Sequence[Line]) -> bool:
    """A caption and not a sentence that begins a line with a reference."""
    if match["end"] == ":" or match["end"] == "|":
        return True
    first = segment.words[0]
    alone = not any(
        other is not segment
        and 0 < segment.y0 - other.y0 < 1.35 * segment.size * 1.1
        and other.x0 < segment.x1
        and segment.x0 < other.x1
        for other in segments
    )
    if match["end"]:
        return alone or first.bold
    return alone and segment.text == match.group().strip() and first.text.isupper()


def _goes_on(first: Line, segments: Sequence[Line], across: Sequence[Area]) -> list[Line]:
    lines = [first]
    for other in segments:
        last = lines[-1]
        near = 0 < other.base - last.base < _LEADING * first.size
        beside = other.x0 < around(lines).x1 + 2 and other.x1 > around(lines).x0 - 2
        alike = abs(other.size - first.size) < 0.6
        if not (near and beside and alike) or other is last:
            continue
        ruled = any(
            last.base - 1 < rule.y0 < other.base - 0.4 * other.size
            and rule.x0 < other.x1
            and other.x0 < rule.x1
            for rule in across
        )
        full = last.x1 > first.x1 - 0.15 * (first.x1 - first.x0)
        if not ruled and full and other.x0 >= first.x0 - 3 * first.size:
            lines.append(other)
    return lines
