"""A conclusion's Markdown as blocks, and blocks as sentences, all by offsets.

Conclusions are paragraphs, lists and tables. A list item stands under the line that leads to it (*X is
expected to:*), whose place is kept so that a claim can be read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from expbench.dataset.claims.grammar import ABBREVIATIONS

Range = tuple[int, int]
"""Start and end of a passage, as offsets in characters; the end is not part of it."""

_NEAR = 80
"""Characters on either side of a full stop that tell whether it ends a sentence."""
_LINE = re.compile(r"[^\n]*\n?")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•–]|\d{1,2}[.)])[ \t]+")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|?[ \t]*$")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]|[ \t]*\*\*[^*\n]*\*\*:?[ \t]*$")
_STOP = re.compile(r"[.!?][\"'”’)*_`]*(?=\s)|;(?=\s)|\.(?=[A-Z][a-z]+,?\s)")


@dataclass(frozen=True)
class Block:
    """A paragraph, list item, heading or table row. ``leads`` are the lines that lead to it."""

    start: int
    end: int
    kind: str
    leads: tuple[Range, ...] = ()


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    kind: str
    indent: int


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a conclusion in their order; a table's first row leads to its other rows."""
    found: list[Block] = []
    leads: list[tuple[int, Range]] = []
    header: Range | None = None
    for line in _joined(text):
        if line.kind == "rule":
            continue
        if line.kind != "row":
            header = None
        if line.kind == "row":
            if header is None:
                header = (line.start, line.end)
            else:
                found.append(Block(line.start, line.end, "row", (header,)))
            continue
        leads = [each for each in leads if line.kind == "item" and each[0] < line.indent]
        found.append(Block(line.start, line.end, line.kind, tuple(place for _, place in leads)))
        if text[line.start : line.end].rstrip("*_ ").endswith(":"):
            leads.append((line.indent, (_last_sentence(text, line), line.end)))
    return tuple(found)


def sentences(text: str, start: int, end: int) -> tuple[Range, ...]:
    """The sentences of a passage; semicolons outside brackets end one as well."""
    closed = nested(text, start, end)
    found: list[Range] = []
    at = start
    for match in _STOP.finditer(text, start, end):
        if match.start() in closed or _inside_a_number_or_name(text, match, at):
            continue
        found.append((at, match.end()))
        at = match.end()
    found.append((at, end))
    return tuple(trimmed for each in found if (trimmed := trim(text, *each))[0] < trimmed[1])


def nested(text: str, start: int, end: int) -> frozenset[int]:
    """The offsets that stand in brackets, quotations or mathematics; what is never closed is none."""
    inside: set[int] = set()
    opened: list[tuple[str, int]] = []
    closing = {")": "(", "]": "[", "}": "{", "”": "“"}
    for at in range(start, end):
        char = text[at]
        if char in "([{“":
            opened.append((char, at))
        elif char in closing and any(one == closing[char] for one, _ in opened):
            while opened[-1][0] != closing[char]:
                opened.pop()
            inside.update(range(opened.pop()[1], at + 1))
    for quoted in re.finditer(r"\"[^\"\n]+\"|`[^`\n]+`|\$[^$\n]+\$", text[start:end]):
        inside.update(range(start + quoted.start(), start + quoted.end()))
    return frozenset(inside)


def trim(text: str, start: int, end: int) -> Range:
    """The passage without blanks, commas and list marks at its ends."""
    while start < end and text[start] in " \t\r\n,;:–—•":
        start += 1
    while start < end and text[end - 1] in " \t\r\n,;:–—":
        end -= 1
    return start, end


def _inside_a_number_or_name(text: str, match: re.Match[str], start: int) -> bool:
    if match.group()[0] == ";":
        return False
    before = text[max(start, match.start() - _NEAR) : match.start() + 1]
    if match.group() == "." and not text[match.end()].isspace():  # "proximity.Furthermore"
        return re.search(r"[a-z]{4}\.$|[)%]\.$", before) is None
    after = text[match.end() : match.end() + _NEAR].lstrip()
    if match.group()[0] == "." and ABBREVIATIONS.search(before):
        return not (before.endswith("etc.") and after[:1].isupper())
    return after.lstrip("(")[:1].islower()


def _joined(text: str) -> Iterator[_Line]:
    """Lines, with those that only go on joined to the one before."""
    current: _Line | None = None
    for line in _lines(text):
        goes_on = (
            current is not None
            and line.kind == "text"
            and current.kind in ("text", "item")
            and (current.kind == "text" or line.indent > current.indent)
            and not text[current.start : current.end].rstrip("*_ ").endswith(":")
        )
        if goes_on and current is not None:
            current = _Line(current.start, line.end, current.kind, current.indent)
            continue
        if current is not None:
            yield current
        current = None if line.kind == "blank" else line
    if current is not None:
        yield current


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        line = match.group().rstrip()
        start, end = match.start(), match.start() + len(line)
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            yield _Line(start, end, "blank", 0)
        elif "|" in line and _ROW.match(line):
            yield _Line(start, end, "rule" if _RULE.match(line) else "row", indent)
        elif "-" in line and _RULE.match(line):
            yield _Line(start, end, "rule", indent)
        elif bullet := _BULLET.match(line):
            yield _Line(start + bullet.end(), end, "item", len(bullet.group(1)) + 1)
        elif _HEADING.match(line) or (len(line.split()) <= 2 and line[-1] not in ".!?:"):
            yield _Line(start + indent, end, "heading", indent)
        else:
            yield _Line(start + indent, end, "text", indent)


def _last_sentence(text: str, line: _Line) -> int:
    found = sentences(text, line.start, line.end)
    return found[-1][0] if found else line.start
