"""What speaks for and against a design's having a variable with its values."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from expbench.judges import cues
from expbench.judges.denials import denied
from expbench.judges.index import Index, Wanted, share_found
from expbench.judges.passages import sentences
from expbench.judges.readable import readable
from expbench.judges.slots import given_otherwise
from expbench.judges.values import mandatory
from expbench.judges.weighing import Evidence
from expbench.judges.words import tokens

_ASIDE = re.compile(r"\([^()]*\)|(?<=[.;])\s+[A-Z].*$", re.DOTALL)
"""What explains a value and is no part of it: brackets, and further sentences."""
_TIGHT, _WIDE = 8, 30
_NAME_SHARE, _NUMBER_SHARE = 0.25, 1.5
_RELATED = 0.5


@dataclass(frozen=True)
class _Unit:
    """A sentence, and the places of its words."""

    first: int
    last: int
    start: int
    text: str


@dataclass(frozen=True)
class _Design:
    index: Index
    units: tuple[_Unit, ...]

    @property
    def size(self) -> int:
        return len(self.index.tokens)


@lru_cache(maxsize=8)
def _read(text: str) -> _Design:
    """The text, read once for all items."""
    text = readable(text)
    index = Index(text)
    starts = [token.start for token in index.tokens]
    units = (
        _Unit(bisect_left(starts, p.start), bisect_left(starts, p.end), p.start, p.quote)
        for p in sentences(text)
    )
    return _Design(index, tuple(unit for unit in units if unit.first < unit.last))


@dataclass(frozen=True)
class _Part:
    """How much of one value the design has: close together, where most of it is, and anywhere."""

    where: range
    tight: float
    words: float
    numbers: float
    anywhere: float
    name: float
    lacking: float


def evidence_for(item: str, kind: str, design: str) -> Evidence:
    """The part of ``design`` that says most of ``item``, and the signs for and against it.

    An item is written as ``name: value; value``.
    """
    said = _read(design)
    words = tokens(item)
    name, _, values = item.partition(": ")
    if not said.units or not item.strip():
        return Evidence("", {})
    named = Wanted(tokens(name), said.index)
    parts = [_part(v, named, said) for v in _joined(values.split("; ")) or [name]]
    numbers = mandatory(words, item)
    whole = Wanted(words, said.index)
    otherwise = given_otherwise(item, words, numbers, said.index)
    bare = not any(token.content for token in tokens(values))
    signs = {
        "tight": min(part.tight for part in parts),
        "absent": float(any(part.anywhere < 1 for part in parts)),
        "absent_here": float(any(part.numbers < 1 for part in parts)),
        "measured": _measured(kind, named, said),
        "name": sum(part.name for part in parts) / len(parts),
        "names_lacking": max(part.lacking for part in parts),
        "words": whole.share(0, said.size),
        "numeric": float(bool(numbers)),
        "mislabelled": float(otherwise),
        "mislabelled_alone": float(otherwise and bare),
        **_said_of(item, whole, said),
    }
    best = max(parts, key=lambda part: (part.words + part.numbers, len(part.where)))
    return Evidence(_quote(design, said.index, best.where), signs)


def _measured(kind: str, name: Wanted, said: _Design) -> float:
    """How much of a measured quantity's name stands together: how it is measured may go without saying."""
    if kind != "dependent":
        return 0.0
    size = _TIGHT + 2 * len(name.words)
    return max((name.share(at, at + size) for at in sorted(name.found)), default=0.0)


def _joined(values: Sequence[str]) -> list[str]:
    """Values that are bare numbers as one value, since they stand in one list; the others alone."""
    read = [(value, tokens(value)) for value in values if value]
    numbers = [v for v, words in read if words and not any(t.content for t in words)]
    others = [v for v, words in read if not words or any(t.content for t in words)]
    return [*([", ".join(numbers)] if numbers else []), *others]


def _part(value: str, name: Wanted, said: _Design) -> _Part:
    words = tokens(value)
    if not words:
        there = float(value in said.index.text)
        return _Part(range(0, said.size), there, there, 1.0, 1.0, there, 0.0)
    wanted = Wanted(words, said.index)
    core = Wanted(tokens(_ASIDE.sub(" ", value).strip()), said.index)
    bare = not wanted.words
    numbers = [said.index.number(t.number, exact=True) for t in mandatory(words, value) if t.number]

    def worth(start: int, size: int) -> float:
        share = max(wanted.share(start, start + size), core.share(start, start + size))
        near = _NAME_SHARE * name.share(start, start + size)
        return share + _NUMBER_SHARE * share_found(numbers, start, start + size) + near

    size = _WIDE + 2 * len(words)
    starts = wanted.found.union(core.found, name.found, *numbers)
    start = max(sorted(starts), key=lambda at: worth(at, size), default=0)
    where = range(start, min(start + size, said.size))
    closely = len(words) + _TIGHT
    tight = max(
        (
            share_found(numbers, at, at + closely)
            if bare
            else (wanted.share(at, at + closely) + share_found(numbers, at, at + closely)) / 2
            for at in where
        ),
        default=0.0,
    )
    names = [token for token in wanted.words if token.name]
    lacking = set(wanted.lacking(0, said.size))
    return _Part(
        where=where,
        tight=tight,
        words=1.0 if bare else wanted.share(0, said.size),
        numbers=share_found(numbers, where.start, where.stop),
        anywhere=share_found(numbers, 0, said.size),
        name=name.share(where.start, where.stop),
        lacking=sum(t.stem in lacking for t in names) / len(names) if names else 0.0,
    )


def _said_of(item: str, whole: Wanted, said: _Design) -> dict[str, float]:
    """How much the nearest sentence has, and what the sentences say about what they speak of."""
    shares = [whole.share(unit.first, unit.last) for unit in said.units]
    most = max(shares)
    related = [u for u, s in zip(said.units, shares, strict=True) if s >= _RELATED * most > 0]
    omits = not cues.is_omitted(item)
    return {
        "sentence": most,
        "denied": omits * max(_denied(whole, said)),
        "unreported": float(
            not cues.is_unreported(item) and any(cues.is_unreported(u.text) for u in related)
        ),
    }


def _denied(whole: Wanted, said: _Design) -> Iterator[float]:
    before = range(0)
    for unit in said.units:
        places = range(unit.first, unit.last)
        yield denied(unit.text, unit.start, places, before, whole)
        before = places


def _quote(design: str, index: Index, where: range) -> str:
    if not where or not index.tokens:
        return ""
    return design[index.tokens[where.start].start : index.tokens[where.stop - 1].end]
