"""Where a judge's evidence stands in a text that was handed in, so that a reader sees it in its place.

Evidence is sought as it stands, else with any spaces and line ends between its words; in a diff also over the
margin of a line. Both are hostile: only places are made here, and the template marks them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal, cast

from expbench.report.text import Cut

_WORD = re.compile(r"^[+\-]|\S+", re.M)
"""A diff's margin, or a word."""
_RUN = re.compile(
    r"""(?P<head>(?:(?:diff\ |\+\+\+|---|index\ )[^\n]*\n?)+)
    |(?P<hunk>(?:@@[^\n]*\n?)+)
    |(?P<ins>(?:\+(?!\+\+)[^\n]*\n?)+)
    |(?P<del>(?:-(?!--)[^\n]*\n?)+)
    |(?:(?!diff\ |index\ |@@|[+-])(?:[^\n]+\n?|\n))+""",
    re.X,
)
"""Lines of a diff of one kind."""

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
        if not near:
            if start < end:
                yield Piece(self.text[start:end])
            return
        inside = {at for place in near.values() for at in place if start < at < end}
        for first, last in pairwise(sorted({start, end} | inside)):
            own = {n: place for n, place in near.items() if place[0] <= first and last <= place[1]}
            yield Piece(
                self.text[first:last],
                tuple(own),
                tuple(name for name, place in own.items() if place[0] == first),
                tuple(name for name, place in own.items() if place[1] == last),
            )


def quoted(
    shown: Cut, evidence: Mapping[str, str], lines: Mapping[str, int] | None = None
) -> Quoted:
    """A text with the places of the evidence, which is by item.

    ``lines`` say for some from which line of the text on it is sought first, counted from 1.
    """
    words = _Words(shown.text)
    begun = lines or {}
    found = (
        (name, words.find(each.strip(), begun.get(name, 1))) for name, each in evidence.items()
    )
    return Quoted(shown.text, shown.note, {name: place for name, place in found if place})


class _Words:
    """A text in which passages are sought; in time that grows with its length only, whatever stands there."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, passage: str, line: int = 1) -> tuple[int, int] | None:
        """Where a passage starts and ends: as it stands, at a line or else anywhere; else word by word."""
        if len(passage) < 2:
            return None
        for at in dict.fromkeys((self._start(line), 0)):
            if (start := self._text.find(passage, at)) >= 0:
                return start, start + len(passage)
        wanted = " ".join(word for word, _ in _words(passage))
        start = self._joined.find(wanted) if wanted else -1
        return None if start < 0 else (self._at(start), self._at(start + len(wanted) - 1) + 1)

    def _start(self, line: int) -> int:
        return self._starts[line - 1] if 1 < line <= len(self._starts) else 0

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line starts."""
        return [0, *(match.end() for match in re.finditer("\n", self._text))]

    @cached_property
    def _joined(self) -> str:
        return " ".join(word for word, _ in _words(self._text))

    @cached_property
    def _offsets(self) -> list[tuple[int, int]]:
        """Of every word its place among the joined ones, and in the text."""
        lengths = (len(word) + 1 for word, _ in _words(self._text))
        places = (place for _, place in _words(self._text))
        return list(zip(accumulate(lengths, initial=0), places, strict=False))

    def _at(self, joined: int) -> int:
        """The place in the text of a place among the joined words."""
        before, place = self._offsets[bisect_right(self._offsets, (joined, len(self._text))) - 1]
        return place + joined - before


def _words(text: str) -> Iterator[tuple[str, int]]:
    """The words of a text with their places, without a diff's margin."""
    for match in _WORD.finditer(text):
        if match[0] not in ("+", "-") or text[match.start() - 1 : match.start()] not in ("", "\n"):
            yield match[0], match.start()


def _runs(diff: str) -> Iterator[tuple[Kind, int, int]]:
    """The whole text in runs of lines of one kind."""
    for match in _RUN.finditer(diff):
        yield cast("Kind", match.lastgroup or ""), *match.span()
