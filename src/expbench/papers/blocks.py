"""The lines of a column as blocks: headings, paragraphs, lists, formulas, footnotes, references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from expbench.papers.document import ElementKind
from expbench.papers.headings import heading_of
from expbench.papers.lines import Line

_ITEM = re.compile(r"(?:[•◦▪∙·*–—-]|\(?[a-z\d]{1,2}[.)]|\([ivx]+\))\s+\S")
_ENTRY = re.compile(r"\[[^\]\s]{1,12}\]|\d{1,3}\.\s")
_EQUATION = re.compile(r"\((?:[A-Z]\.)?\d+(?:\.\d+)?[a-z]?\)$")
_SENTENCE_WORD = re.compile(r"[^\W\d_]{3,}")
_MARK = re.compile(r"(\d{1,2}|[¹²³⁴-⁹*†‡§¶])(?=[^\W\d_]|\s*[A-Z])")
_SYMBOLS = set("=+<>≤≥∑∏∫√∈∀∂∇·×±→←|∥")
_FOOTNOTE_SIZE = 0.93


@dataclass(frozen=True)
class Column:
    """What is known of the column that lines stand in, and of the document."""

    x0: float
    x1: float
    body: float
    page_height: float
    recognised: bool
    references: bool
    """Whether the lines stand below the heading of the references."""
    rule: float | None = None
    """Where a short rule parts the text from footnotes."""

    @property
    def loose(self) -> float:
        """By which share the sizes of lines of one paragraph differ at most."""
        return 0.25 if self.recognised else 0.12


@dataclass(frozen=True)
class Block:
    """Lines that are one element."""

    kind: ElementKind
    lines: tuple[Line, ...]
    label: str = ""
    opened: bool = False
    """Whether it may go on with a paragraph of an earlier column."""


def blocks_of(lines: Sequence[Line], column: Column) -> list[Block]:
    """The blocks of lines that follow each other in one column."""
    text, notes = _footnotes(list(lines), column)
    found: list[Block] = []
    rest = _stacked(text, column)
    leading = _leading(text, column.body)
    at = 0
    while at < len(rest):
        group = rest[at]
        if len(group) > 1 or _is_formula(group[0], column) or _leads(rest, at, column):
            at = _formula(rest, at, column, found)
            continue
        line = group[0]
        if heading_of(line, column.body, column.recognised):
            at = _heading(rest, at, column, found)
            continue
        new = not found or at == 0 or _begins(rest, at, found[-1], column, leading)
        kind = _kind(line, column)
        if not new and found[-1].kind in ("paragraph", "list", "reference"):
            found[-1] = Block(
                found[-1].kind, (*found[-1].lines, line), found[-1].label, found[-1].opened
            )
        else:
            label = (
                match[0].strip()
                if kind == "reference" and (match := _ENTRY.match(line.text))
                else ""
            )
            indented = line.x0 > column.x0 + 0.8 * line.size
            found.append(Block(kind, (line,), label, not indented and kind != "list"))
        at += 1
    return found + notes


def _kind(line: Line, column: Column) -> ElementKind:
    if column.references:
        return "reference"
    return "list" if _ITEM.match(line.text) else "paragraph"


def _leading(lines: Sequence[Line], body: float) -> float:
    """The usual distance of two base lines."""
    steps = [b.base - a.base for a, b in pairwise(lines) if 0.8 * body < b.base - a.base < 2 * body]
    return median(steps) if steps else 1.2 * body


def _begins(
    rest: Sequence[Sequence[Line]], at: int, block: Block, column: Column, leading: float
) -> bool:
    """Whether a line begins a new block."""
    line, before = rest[at][0], block.lines[-1]
    if block.kind not in ("paragraph", "list", "reference"):
        return True
    behind = rest[at + 1][0] if at + 1 < len(rest) else None
    step = line.base - before.base
    if (
        step > 1.28 * leading + 1
        or step < 0
        or abs(line.size - before.size) > column.loose * before.size
    ):
        return True
    if column.references:
        return _begins_entry(line, block, column)
    if _ITEM.match(line.text) and (block.kind == "list" or before.text.endswith((":", ".", ";"))):
        return True
    if block.kind == "list":
        return line.x0 < block.lines[0].x0 - 2
    deeper = line.x0 > before.x0 + 0.7 * line.size
    returns = (
        behind is None
        or behind.x0 < line.x0 - 0.7 * line.size
        or behind.base - line.base > 1.5 * leading
    )
    short = before.x1 < column.x1 - 0.12 * (column.x1 - column.x0)
    ended = before.text.endswith((".", ":", "!", "?"))
    return (deeper and returns and len(block.lines) > 0 and ended) or (
        short and ended and len(block.lines) > 1 and deeper
    )


def _begins_entry(line: Line, block: Block, column: Column) -> bool:
    """Entries begin with a label, or else further left than they go on."""
    if block.label or _ENTRY.match(block.lines[0].text):
        return bool(_ENTRY.match(line.text))
    if abs(line.x0 - block.lines[0].x0) > 3:
        return line.x0 < block.lines[-1].x0 - 3
    return len(block.lines) > 1 and line.x0 < block.lines[-1].x0 - 3


def _stacked(lines: Sequence[Line], column: Column) -> list[list[Line]]:
    """Lines, and those of a formula that stand over each other (fractions, limits) together."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: each.base):
        if groups and any(_overlaps(each, line) for each in groups[-1]):
            both = [*groups[-1], line]
            if any(_is_formula(each, column) or _is_fragment(each, column) for each in both):
                groups[-1].append(line)
                continue
        groups.append([line])
    return groups


def _overlaps(one: Line, other: Line) -> bool:
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    return shared > 0.3 * min(one.y1 - one.y0, other.y1 - other.y0)


def _is_fragment(line: Line, column: Column) -> bool:
    if len(line.text) > 12 or line.x0 < column.x0 + 1.2 * column.body:
        return False
    seen = column.recognised and len(line.text) <= 5
    return seen or line.math > 0.3 or line.size < 0.85 * column.body


def _leads(rest: Sequence[Sequence[Line]], at: int, column: Column) -> bool:
    """Whether a line is what stands over a formula, such as the end of a sum."""
    if at + 1 == len(rest) or not _is_fragment(rest[at][0], column):
        return False
    behind = rest[at + 1]
    near = min(each.y0 for each in behind) - rest[at][0].y1 < 0.5 * column.body
    return near and (len(behind) > 1 or _is_formula(behind[0], column))


def _is_formula(line: Line, column: Column) -> bool:
    """Whether a line is a formula of its own: inset, and of signs more than of words."""
    inset = line.x0 > column.x0 + 1.2 * line.size
    if not inset or line.bold:
        return False
    numbered = (
        bool(_EQUATION.search(line.text))
        and line.x1 > column.x1 - line.size
        and len(line.words) > 1
        and line.words[-1].x0 - line.words[-2].x1 > 2 * line.size
    )
    if numbered:
        return True
    prose = sum(len(each) for each in _SENTENCE_WORD.findall(line.text))
    if line.math >= 0.3 and prose < 0.5 * len(line.text):
        return True
    signs = sum(each in _SYMBOLS for each in line.text)
    return column.recognised and signs >= 2 and prose < 0.3 * len(line.text)


def _formula(rest: Sequence[Sequence[Line]], at: int, column: Column, found: list[Block]) -> int:
    """Add a formula with the rows that belong to it; returns where what follows begins."""
    lines = list(rest[at])
    at += 1
    while at < len(rest):
        gap = min(each.y0 for each in rest[at]) - max(each.y1 for each in lines)
        nears = all(_is_formula(e, column) or _is_fragment(e, column) for e in rest[at])
        numbered = any(_EQUATION.search(each.text) for each in lines)
        if (
            not nears
            or gap > 0.9 * column.body
            or (numbered and not _all_fragments(rest[at], column))
        ):
            break
        lines += rest[at]
        at += 1
    label = next((match[0] for each in lines if (match := _EQUATION.search(each.text))), "")
    found.append(Block("formula", tuple(lines), label))
    return at


def _all_fragments(lines: Sequence[Line], column: Column) -> bool:
    return all(_is_fragment(each, column) for each in lines)


def _heading(rest: Sequence[Sequence[Line]], at: int, column: Column, found: list[Block]) -> int:
    """Add a heading with the lines that it goes on in."""
    lines = [rest[at][0]]
    at += 1
    while at < len(rest) and len(rest[at]) == 1:
        line, last = rest[at][0], lines[-1]
        bold = line.bold == last.bold or column.recognised
        alike = bold and abs(line.size - last.size) < 0.06 * last.size
        close = line.base - last.base < 1.45 * last.size
        match = heading_of(line, column.body, column.recognised)
        numbered = match is not None and match.number
        plain = last.bold or last.size > 1.1 * column.body
        full = last.x1 > column.x1 - 0.25 * (column.x1 - column.x0)
        if not (alike and close and plain and full) or numbered:
            break
        lines.append(line)
        at += 1
    found.append(Block("heading", tuple(lines)))
    return at


def _footnotes(lines: list[Line], column: Column) -> tuple[list[Line], list[Block]]:
    """Small lines at the end of a column that begin with a mark; what is above them."""
    start = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        below = column.rule is not None and line.y0 > column.rule - 2
        small = below or line.size <= _FOOTNOTE_SIZE * column.body
        if not small or line.y0 < 0.45 * column.page_height:
            break
        if _mark(line):
            start = at
    notes: list[Block] = []
    for line in lines[start:]:
        mark = _mark(line)
        if mark or not notes:
            notes.append(Block("footnote", (line,), mark))
        else:
            notes[-1] = Block("footnote", (*notes[-1].lines, line), notes[-1].label)
    return lines[:start], notes


def _mark(line: Line) -> str:
    """The sign that a footnote begins with; empty where there is none."""
    first = line.words[0]
    raised = first.size < 0.87 * line.size and first.base < line.base - 0.5
    if raised and len(line.words) > 1 and re.fullmatch(r"\d{1,2}|[*†‡§¶]", first.text):
        return first.text
    match = _MARK.match(line.text)
    return match[1] if match and len(line.text) > 8 else ""
