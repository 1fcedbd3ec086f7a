"""Where a judge's evidence stands in a text that was handed in, so that a reader sees it in its place.

Evidence is sought as it stands, else with any spaces and line ends between its words; in a diff also over the
margin of a line. Both are hostile: only places are made here, and the template marks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from expbench.report.text import Cut

_GAP = r"(?:[^\S\n]|\n[+\-]?)++"
"""What may stand between two words; possessive, so that no text makes the search slow."""
_LOOSE_MOST = 1_000
"""Characters of evidence up to which it is sought word by word."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")

Kind = Literal["head", "hunk", "ins", "del", ""]


@dataclass(frozen=True)
class Piece:
    """A part of a text. ``names`` are the items that quote it; ``ends`` those whose quotation ends here."""

    text: str
    names: tuple[str, ...] = ()
    place: str = ""
    """The first piece of a quotation can be linked to by this name."""
    ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Quoted:
    """A text with its quotations marked."""

    text: str = ""
    note: str = ""
    spans: tuple[_Span, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    """Where each item that is quoted stands, by the item's name."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The whole text."""
        return tuple(self._between(0, len(self.text)))

    @property
    def blocks(self) -> tuple[tuple[Kind, tuple[Piece, ...]], ...]:
        """The text as a diff: runs of lines of one kind."""
        return tuple(
            (kind, tuple(self._between(start, end))) for kind, start, end in _runs(self.text)
        )

    def _between(self, start: int, end: int) -> Iterator[Piece]:
        at = start
        for span in self.spans:
            if span.end <= at or span.start >= end:
                continue
            first, last = max(span.start, at), min(span.end, end)
            if first > at:
                yield Piece(self.text[at:first])
            yield Piece(
                self.text[first:last],
                span.names,
                self.places[span.names[0]] if first == span.start else "",
                span.names if last == span.end else (),
            )
            at = last
        if at < end:
            yield Piece(self.text[at:end])


def quoted(shown: Cut, evidence: Mapping[str, str], prefix: str) -> Quoted:
    """A text with the places of the evidence, which is by item; names of places begin with ``prefix``."""
    found = [(place, name) for name, each in evidence.items() if (place := _find(each, shown.text))]
    spans = _merged(sorted(found))
    places = {name: f"{prefix}{span.names[0]}q" for span in spans for name in span.names}
    return Quoted(shown.text, shown.note, spans, places)


def _find(evidence: str, text: str) -> tuple[int, int] | None:
    wanted = evidence.strip()
    if len(wanted) < 2 or not text:
        return None
    if (start := text.find(wanted)) >= 0:
        return start, start + len(wanted)
    words = wanted.split()
    if len(wanted) > _LOOSE_MOST or len(words) < 2:
        return None
    match = re.search(_GAP.join(map(re.escape, words)), text)
    return match.span() if match else None


def _merged(found: Sequence[tuple[tuple[int, int], str]]) -> tuple[_Span, ...]:
    """Quotations that overlap are one place of several items."""
    spans: list[_Span] = []
    for (start, end), name in found:
        if spans and start < spans[-1].end:
            last = spans.pop()
            spans.append(_Span(last.start, max(end, last.end), (*last.names, name)))
        else:
            spans.append(_Span(start, end, (name,)))
    return tuple(spans)


def _runs(diff: str) -> Iterator[tuple[Kind, int, int]]:
    at = 0
    for kind, lines in groupby(_LINE.findall(diff), _kind):
        length = sum(map(len, lines))
        yield kind, at, at + length
        at += length


def _kind(line: str) -> Kind:
    if line.startswith(("diff ", "+++", "---", "index ")):
        return "head"
    if line.startswith("@@"):
        return "hunk"
    return "ins" if line.startswith("+") else "del" if line.startswith("-") else ""
