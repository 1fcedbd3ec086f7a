"""Where a judge's evidence stands in a text that was handed in, so that a reader sees it in its place.

Evidence is sought as it stands, else with any spaces and line ends between its words; in a diff also over the
margin of a line. Both are hostile: only places are made here, and the template marks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise
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
    """A part of a text, with the items that quote it, and those whose quotation starts and ends with it."""

    text: str
    names: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quoted:
    """A text, perhaps only its head, with the places of its quotations: start and end by the item's name."""

    text: str = ""
    note: str = ""
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)

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
        """The text from start to end, cut where a quotation starts or ends."""
        near = {n: (a, b) for n, (a, b) in self.places.items() if a < end and b > start}
        inside = {at for place in near.values() for at in place if start < at < end}
        for first, last in pairwise(sorted({start, end} | inside)):
            own = {n: place for n, place in near.items() if place[0] <= first and last <= place[1]}
            yield Piece(
                self.text[first:last],
                tuple(own),
                tuple(name for name, place in own.items() if place[0] == first),
                tuple(name for name, place in own.items() if place[1] == last),
            )


def quoted(shown: Cut, evidence: Mapping[str, str]) -> Quoted:
    """A text with the places of the evidence, which is by item."""
    found = ((name, _find(each, shown.text)) for name, each in evidence.items())
    return Quoted(shown.text, shown.note, {name: place for name, place in found if place})


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
