"""What speaks for and against a conclusion's stating a claim."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from expbench.judges import cues
from expbench.judges.bindings import bound_otherwise
from expbench.judges.conflicts import bound, conflicts
from expbench.judges.converse import converse
from expbench.judges.denials import denied
from expbench.judges.derived import follows, keeps
from expbench.judges.directions import balance, directions
from expbench.judges.index import Index, Wanted, share_found
from expbench.judges.numbers import Number
from expbench.judges.pairing import exchanged
from expbench.judges.paraphrases import Retold
from expbench.judges.passages import Passage, sentences
from expbench.judges.readable import readable
from expbench.judges.relations import contradictions, is_anothers, negated_differently
from expbench.judges.statements import Statement, opposed, statements
from expbench.judges.values import mandatory, same
from expbench.judges.weighing import Evidence
from expbench.judges.withdrawals import is_corrected, is_withdrawn

_LONGEST_RUN = 4
_NUMBER_WEIGHT = 0.7
_LENGTH_COST = 0.12
_NEARLY = 0.75
_MOST_COMPARED = 4
_ENOUGH = 0.5
_ENOUGH_TO_CORRECT = 0.4
"""Shares of a claim that a sentence has to have to be about it."""
_MANY = 6


@dataclass(frozen=True)
class _Unit:
    """A sentence, and the places of its words in the text's index."""

    passage: Passage
    first: int
    last: int


@dataclass(frozen=True)
class _Conclusion:
    index: Index
    units: tuple[_Unit, ...]
    retold: Retold


@lru_cache(maxsize=8)
def _read(text: str) -> _Conclusion:
    """The text, read once for all its claims."""
    text = readable(text)
    index = Index(text)
    starts = [token.start for token in index.tokens]
    parts = (
        _Unit(part, bisect_left(starts, part.start), bisect_left(starts, part.end))
        for part in sentences(text)
    )
    units = tuple(unit for unit in parts if unit.first < unit.last)
    return _Conclusion(index, units, Retold([unit.passage for unit in units], starts))


class _Sought:
    """A claim's words and numbers, and where the conclusion has them."""

    def __init__(self, claim: Passage, said: _Conclusion) -> None:
        self.words = Wanted(claim.tokens, said.index)
        self.names = self.words.names()
        for word, places in said.retold.places(claim).items():
            self.words.places[word] = sorted(places.union(self.words.places[word]))
        self.values = _values(claim)
        self.bounds = [bound(claim, at) for at in _places(claim)]
        self.numbers = [said.index.number(value, exact=False) for value in self.values]
        self._units = said.units

    def share(self, first: int, last: int) -> float:
        """How much of the claim stands between two places."""
        numbers = _NUMBER_WEIGHT * len(self.numbers)
        total = self.words.total + numbers
        words = self.words.share(first, last) * self.words.total
        return (words + numbers * share_found(self.numbers, first, last)) / total if total else 0.0

    def nearest_run(self, longest: int) -> tuple[int, int]:
        """The first sentence of the run that says most of the claim, and its last, exclusive.

        What stands in few sentences counts most (inverse document frequency); each further sentence
        costs a little.
        """
        sought = [*self.words.places.values(), *self.numbers]
        weights = [*self.words.weights.values(), *[_NUMBER_WEIGHT] * len(self.numbers)]
        there = [
            [any(unit.first <= at < unit.last for at in places) for unit in self._units]
            for places in sought
        ]
        values = [
            weight * log(1 + len(self._units) / sum(row)) if any(row) else 0.0
            for weight, row in zip(weights, there, strict=True)
        ]
        total = sum(values) or 1.0
        best, where = -1.0, (0, 1)
        for first in range(len(self._units)):
            for last in range(first + 1, min(first + longest, len(self._units)) + 1):
                found = sum(v for v, row in zip(values, there, strict=True) if any(row[first:last]))
                worth = found / total - self._cost(first, last)
                if worth > best:
                    best, where = worth, (first, last)
        return where

    def _cost(self, first: int, last: int) -> float:
        paragraphs = {unit.passage.paragraph for unit in self._units[first:last]}
        return _LENGTH_COST * (last - first - 1 + len(paragraphs) - 1)


def evidence_for(claim: str, text: str) -> Evidence:
    """The sentences of ``text`` that say most of ``claim``, and the signs for and against it."""
    said = _read(text)
    own = Passage(claim, 0, len(claim))
    if not said.units or not any(token.content or token.number for token in own.tokens):
        return Evidence("", {})
    sought = _Sought(own, said)
    first, last = sought.nearest_run(max(_LONGEST_RUN, len(sentences(claim)) + 2))
    run = said.units[first:last]
    nearest = max(said.units, key=lambda unit: sought.share(unit.first, unit.last))
    signs = {
        **_shared(sought, run, nearest, len(said.index.tokens)),
        **_said_of(own, run, nearest),
        "denied": _denied(own, sought, run),
        **_compared(own, sought, said, run, nearest),
    }
    return Evidence(text[run[0].passage.start : run[-1].passage.end], signs)


def _shared(
    sought: _Sought, run: Sequence[_Unit], nearest: _Unit, everything: int
) -> dict[str, float]:
    numbers, words = sought.numbers, sought.words
    start, end = run[0].first, run[-1].last
    lacking = set(words.lacking(start, end))
    names = [token for token in words.words if token.name]
    several = min(len(numbers), _MANY) / _MANY
    close = share_found(numbers, nearest.first, nearest.last)
    return {
        "words": words.share(0, everything),
        "words_nearest": words.share(nearest.first, nearest.last),
        "names_lacking": sum(t.stem in lacking for t in names) / len(names) if names else 0.0,
        "numeric": float(bool(numbers)),
        "numbers_nearest": close,
        "figures": several * close,
        "absent": float(not all(numbers) and not _derived(sought, nearest)),
    }


def _derived(sought: _Sought, nearest: _Unit) -> bool:
    """Whether what is not there of a claim's numbers follows from those of the nearest sentence."""
    said = _values(nearest.passage)
    triples = zip(sought.values, sought.bounds, sought.numbers, strict=True)
    own = sought.values
    return all(
        follows(value, said) or keeps(value, side, [n for n in said if not _among(n, own)])
        for value, side, places in triples
        if not places
    )


def _among(number: Number, others: Sequence[Number]) -> bool:
    return any(same(other, number, exact=False) for other in others)


def _values(part: Passage) -> list[Number]:
    return [number for at in _places(part) if (number := part.tokens[at].number)]


def _places(part: Passage) -> list[int]:
    """Where the numbers stand that have to be found again."""
    starts = {token.start for token in mandatory(part.tokens, part.quote, modifiers=False)}
    return [at for at, token in enumerate(part.tokens) if token.start in starts]


def _said_of(claim: Passage, run: Sequence[_Unit], nearest: _Unit) -> dict[str, float]:
    """What the sentences say about their own statement, where the claim does not say it too."""
    text = " ".join(unit.passage.quote for unit in run)

    def only_there(cue: Callable[[str], bool], where: str) -> float:
        return float(cue(where) and not cue(claim.quote))

    return {
        "open": only_there(cues.is_open, nearest.passage.quote),
        "open_here": only_there(cues.is_open, text),
        "modal": only_there(cues.is_modal, text),
        "unreported": only_there(cues.is_unreported, nearest.passage.quote),
        "excepted": only_there(cues.is_excepted, nearest.passage.quote),
        "denies": float(cues.denies(nearest.passage.quote) != cues.denies(claim.quote)),
    }


def _denied(claim: Passage, sought: _Sought, run: Sequence[_Unit]) -> float:
    if cues.is_omitted(claim.quote):
        return 0.0
    worst, before = 0.0, range(0)
    for unit in run:
        places = range(unit.first, unit.last)
        share = denied(unit.passage.quote, unit.passage.start, places, before, sought.words)
        worst, before = max(worst, share), places
    return worst


def _compared(
    claim: Passage, sought: _Sought, said: _Conclusion, run: Sequence[_Unit], nearest: _Unit
) -> dict[str, float]:
    """The comparisons of the text against the claim's, with its words by the claim's names."""
    names = sought.names
    whole = [unit.passage.renamed(names) for unit in said.units]
    counts = Counter(token.stem for part in whole for token in part.tokens)
    theirs = [directions(part, counts) for part in whole]
    ours = directions(claim, counts)
    shares = [sought.share(unit.first, unit.last) for unit in said.units]
    here = [at for at, unit in enumerate(said.units) if unit in run]
    nearly = [
        part for part, share in zip(whole, shares, strict=True) if share >= _NEARLY * max(shares)
    ]
    at_run = balance(ours, [each for at in here for each in theirs[at]])
    anywhere = balance(ours, [each for part in theirs for each in part])
    here_said = [whole[at] for at in here]
    near = nearly[:_MOST_COMPARED]
    they_say = [each for part in near for each in statements(part)]
    own = statements(claim)
    at_nearest = said.units.index(nearest)
    signs = {
        "opposed": opposed(own, they_say),
        "conflict": float(max(shares) >= _ENOUGH and conflicts(claim, whole[at_nearest])),
        "withdrawn": float(
            any(
                share >= _ENOUGH_TO_CORRECT and _takes_back(claim, own, part)
                for part, share in zip(whole, shares, strict=True)
            )
        ),
        "against": max((min(side.against, 1.0) for side in at_run), default=0.0),
        "against_anywhere": max((min(side.against, 1.0) for side in anywhere), default=0.0),
        "converse": converse(claim, near),
        "rival": float(is_anothers(ours, list(zip(whole, theirs, strict=True)))),
    }
    found = set(contradictions(claim, here_said, bool(ours)))
    if exchanged(claim, here_said) or bound_otherwise(claim, here_said):
        found.add("exchanged")
    return signs | dict.fromkeys(found, 1.0)


def _takes_back(claim: Passage, own: Sequence[Statement], part: Passage) -> bool:
    """Whether a sentence says that the claim does not hold, or corrects it to its opposite."""
    if is_withdrawn(part.quote):
        return not is_withdrawn(claim.quote)
    if not is_corrected(part.quote):
        return False
    return opposed(own, statements(part)) > _ENOUGH or negated_differently(claim, [part])
