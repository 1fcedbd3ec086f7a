"""A conclusion as passages: sentences, cut at semicolons, with the lines that lead to them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

from expbench.dataset.claims.blocks import Block, Range, blocks, sentences
from expbench.grounding.figures import Figure, Unit, figures

_JOINED = re.compile(
    r"\s*(?:,|/|;|and|or|to|vs\.?|versus|against|[–-]|→|->|\bbut\b)\s*(?:and\s|then\s|only\s)?\s*$"
)
_LABEL = re.compile(r"\s*[*_(]{0,3}(?:\d[.)]\s*)?[A-Z][^.;:\n]{1,60}?[*_)]{0,2}[:.][*_]{0,2}\s")


@dataclass(frozen=True)
class Passage:
    """A sentence, or a part of one between semicolons, or a row of a table.

    ``sentence`` is the whole sentence; ``leads`` are lines that lead to its list, a table's header, or the
    label that its paragraph begins with.
    """

    start: int
    end: int
    sentence: Range
    block: int
    row: bool = False
    leads: tuple[Range, ...] = ()


@dataclass(frozen=True)
class Conclusion:
    """A conclusion's text with its passages and figures."""

    text: str

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """All passages in order."""
        found: list[Passage] = []
        paragraphs = [part for block in blocks(self.text) for part in _paragraphs(self.text, block)]
        for number, block in enumerate(paragraphs):
            if block.kind == "row":
                whole = (block.start, block.end)
                found.append(Passage(*whole, whole, number, True, block.leads))
            else:
                found += self._of_block(block, number)
        return tuple(found)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All figures in order, with the unit that stands only at the end of a list."""
        found = list(figures(self.text))
        for at in range(len(found) - 2, -1, -1):
            unit: Unit = found[at + 1].unit
            between = self.text[found[at].end : found[at + 1].start]
            counted = re.fullmatch(r"\s(?:vs\.?|versus|against|to|and|→)\s", between)
            if counted and found[at + 1].total and found[at].whole and found[at].total is None:
                found[at] = _counted(found[at], found[at + 1])
                continue
            shared = found[at].unit == "" and unit in ("percent", "seconds", "points", "times")
            one_kind = found[at].signed or not found[at + 1].signed
            listed = unit != "times" or re.search(r"\bto\b|–|-|and|/", between)
            joined = listed and _JOINED.fullmatch(between)
            joined = joined if not found[at].whole or found[at + 1].whole else None
            if shared and one_kind and joined and found[at].total is None:
                found[at] = _measured(found[at], found[at + 1])
        return tuple(found)

    @cached_property
    def _starts(self) -> list[int]:
        return [passage.start for passage in self.passages]

    def passage(self, at: int) -> Passage | None:
        """The passage that a character stands in."""
        place = bisect_right(self._starts, at) - 1
        if place < 0 or at >= self.passages[place].end:
            return None
        return self.passages[place]

    def _of_block(self, block: Block, number: int) -> list[Passage]:
        whole = sentences(self.text, block.start, block.end)
        pieces = [part for piece in whole for part in _at_stops(self.text, *piece)]
        label = _LABEL.match(self.text, block.start, block.end)
        leads = block.leads
        if label is not None and label.end() < block.end:
            leads = (*leads, (block.start, label.end()))
        found: list[Passage] = []
        begun = pieces[0][0] if pieces else 0
        for at, piece in enumerate(pieces):
            last = at + 1 == len(pieces) or ";" not in self.text[piece[1] - 1 : pieces[at + 1][0]]
            found.append(Passage(*piece, (begun, piece[1]), number, False, leads))
            if last:
                found = [
                    Passage(p.start, p.end, (begun, piece[1]), number, False, p.leads)
                    if p.sentence[0] == begun
                    else p
                    for p in found
                ]
                begun = pieces[at + 1][0] if at + 1 < len(pieces) else 0
        return found


def _paragraphs(text: str, block: Block) -> list[Block]:
    """A block cut at its line ends where a sentence ends too."""
    if block.kind == "row":
        return [block]
    found: list[Block] = []
    start = block.start
    for match in re.compile(r"(?<=[.!?:])[ \t]*\n\s*(?=\S)").finditer(text, block.start, block.end):
        found.append(Block(start, match.start(), block.kind, block.leads))
        start = match.end()
    return [*found, Block(start, block.end, block.kind, block.leads)]


def _at_stops(text: str, start: int, end: int) -> list[Range]:
    """A sentence cut where a full stop behind a number is followed by a small letter."""
    found: list[Range] = []
    for match in re.compile(r"(?<=[\d)%])\.\s+(?=[a-z])").finditer(text, start, end):
        found.append((start, match.start() + 1))
        start = match.end()
    return [*found, (start, end)]


def _measured(figure: Figure, like: Figure) -> Figure:
    return Figure(
        figure.value, figure.step, figure.digits, figure.start, figure.end, figure.number_end, like.unit,
        figure.error, figure.total, like.scale, figure.signed,
    )  # fmt: skip


def _counted(figure: Figure, like: Figure) -> Figure:
    """The first of two counts of one total: *38 vs 61 of 500*."""
    if figure.unit or like.total is None or figure.value > like.total:
        return figure
    return replace(figure, total=like.total, unit="count")
