"""A text whose words can be looked up: where each word, name or number of an item stands in it.

Besides the same word, its close synonyms and its abbreviation by a list, a word is found by what can be
seen from the two texts: an acronym whose letters begin the words that it stands for ("ECE", "expected
calibration error"), a shortened word ("acc", "eps"), and another form of the same word.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from expbench.judges.numbers import Number
from expbench.judges.values import same, with_steps
from expbench.judges.words import EXPANSIONS, Token, tokens

_LONGEST_ACRONYM = 6
_SHORTEST_PREFIX = 3
_SHORTEST_COMMON = 5
_COMMON_SHARE = 0.75
_VOWELS = frozenset("aeiou")


class Index:
    """The words of one text by their places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = with_steps(tokens(text), text)
        self._stems: dict[str, list[int]] = defaultdict(list)
        self._telling: set[str] = set()
        for place, token in enumerate(self.tokens):
            if token.number is None:
                self._stems[token.stem].append(place)
                if token.content:
                    self._telling.add(token.stem)
                if token.whole:
                    self._stems[token.whole].append(place)
        for place, (first, second) in enumerate(pairwise(self.tokens)):
            if first.number is None and second.number is None:
                self._stems[first.stem + second.stem].append(place)
        for stem in list(self._stems):
            for part in EXPANSIONS.get(stem, ()):
                self._stems[part].extend(self._stems[stem])
        self._similar: dict[str, tuple[int, ...]] = {}

    @cached_property
    def starts(self) -> list[int]:
        """Where each token begins, in order."""
        return [token.start for token in self.tokens]

    @cached_property
    def telling(self) -> list[int]:
        """How many of the tokens before each place, and before the end, carry meaning."""
        return [0, *accumulate(int(token.content) for token in self.tokens)]

    @cached_property
    def _numbers(self) -> list[tuple[int, Number]]:
        return [(place, t.number) for place, t in enumerate(self.tokens) if t.number]

    @cached_property
    def _beginnings(self) -> dict[str, list[str]]:
        """The telling words by their first letters."""
        found: dict[str, list[str]] = defaultdict(list)
        for stem in sorted(self._telling):
            found[stem[:_SHORTEST_PREFIX]].append(stem)
        return found

    @cached_property
    def _acronyms(self) -> dict[str, list[int]]:
        """Places by the lower-case letters of what may be an acronym."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, token in enumerate(self.tokens):
            if letters := _acronym(self.text[token.start : token.end]):
                found[letters].append(place)
        return found

    @cached_property
    def _initials(self) -> dict[str, list[int]]:
        """Places by the first letters of runs of two to six words."""
        found: dict[str, list[int]] = defaultdict(list)
        for letters, first, last in _abbreviated(self.tokens):
            found[letters].extend(range(first, last))
        return found

    def places(self, token: Token) -> Sequence[int]:
        """Where a word stands, in any of its forms; for a number use :meth:`number`."""
        found = set(self._stems.get(token.stem, ()))
        if token.whole:
            found.update(self._stems.get(token.whole, ()))
        expansion = EXPANSIONS.get(token.stem)
        if expansion and not found:
            parts = [self._stems.get(part, []) for part in expansion]
            if all(parts):
                found.update(place for part in parts for place in part)
        if not found and token.name:
            found.update(self._initials.get(token.stem, ()))
        if not found:
            found.update(self.similar(token.stem))
        return sorted(found)

    def similar(self, stem: str) -> tuple[int, ...]:
        """Where words stand that look like a form or a shortened form of this one."""
        if stem not in self._similar:
            self._similar[stem] = tuple(
                place
                for other in self._beginnings.get(stem[:_SHORTEST_PREFIX], ())
                if _alike(stem, other)
                for place in self._stems[other]
            )
        return self._similar[stem]

    def spelled_by(self, letters: str) -> Sequence[int]:
        """Where an acronym of these letters stands."""
        return self._acronyms.get(letters, ())

    def number(self, wanted: Number, exact: bool) -> list[int]:
        """Where the number stands."""
        return [place for place, found in self._numbers if same(wanted, found, exact)]


class Wanted:
    """An item's words and numbers, and where a text has them."""

    def __init__(self, words: Sequence[Token], index: Index) -> None:
        self.index = index
        self.words = [token for token in words if token.content]
        by_acronym: dict[int, set[int]] = defaultdict(set)
        for letters, first, last in _abbreviated(words):
            for place in index.spelled_by(letters):
                for at in range(first, last):
                    by_acronym[at].add(place)
        self.places: dict[str, list[int]] = {}
        self.weights: dict[str, float] = {}
        for at, token in enumerate(words):
            if token.content:
                found = set(index.places(token)) | by_acronym.get(at, set())
                known = self.places.get(token.stem, [])
                self.places[token.stem] = sorted(found.union(known))
                self.weights[token.stem] = token.weight

    @cached_property
    def found(self) -> frozenset[int]:
        """All places of the text where one of the words stands."""
        return frozenset(place for places in self.places.values() for place in places)

    @cached_property
    def _said(self) -> list[int]:
        """Of the words that :attr:`Index.telling` counts, how many are the item's."""
        here = self.found
        tokens_ = enumerate(self.index.tokens)
        return [0, *accumulate(int(token.content and at in here) for at, token in tokens_)]

    def telling(self, first: int, last: int) -> tuple[int, int]:
        """How many words from first to before last are the item's, and how many carry meaning."""
        if first >= last:
            return 0, 0
        counts = self._said, self.index.telling
        said, telling = (each[last] - each[first] for each in counts)
        return said, telling

    @cached_property
    def total(self) -> float:
        return sum(self.weights.values())

    def share(self, first: int, last: int) -> float:
        """The weighted share of the words that stand at the places from first to before last."""
        found = sum(
            self.weights[stem]
            for stem, places in self.places.items()
            if _any_between(places, first, last)
        )
        return found / self.total if self.total else 0.0

    def names(self) -> dict[int, str]:
        """For each word of the text that stands for one of the item's, where it starts, and that one."""
        found: dict[int, str] = {}
        for stem, places in self.places.items():
            for place in places:
                found.setdefault(self.index.tokens[place].start, stem)
        return found

    def lacking(self, first: int, last: int) -> list[str]:
        """The words that do not stand there."""
        return [s for s, places in self.places.items() if not _any_between(places, first, last)]


def share_found(places: Sequence[Sequence[int]], first: int, last: int) -> float:
    """How many of several things, each with its places, stand from first to before last; 0 to 1."""
    if not places:
        return 1.0
    return sum(_any_between(each, first, last) for each in places) / len(places)


def _any_between(places: Sequence[int], first: int, last: int) -> bool:
    at = bisect_left(places, first)
    return at < len(places) and places[at] < last


def _acronym(written: str) -> str:
    """The letters, in lower case, of what may be an acronym; else nothing."""
    letters = written[:-1] if written.endswith("s") and written[:-1].isupper() else written
    if not 2 <= len(letters) <= _LONGEST_ACRONYM or not letters.isascii() or not letters.isalpha():
        return ""
    lowered = letters.lower()
    return lowered if letters.isupper() or not _VOWELS.intersection(lowered) else ""


def _abbreviated(words: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    """What the words in a row could be abbreviated to: with and without the stop words."""
    for first in range(len(words)):
        if words[first].number or not words[first].content:
            continue
        every = content = ""
        for last in range(first, min(first + _LONGEST_ACRONYM + 1, len(words))):
            token = words[last]
            if token.number or not token.initial:
                break
            if last > first and token.start - words[last - 1].end > 2:
                break
            every += token.initial
            content += token.initial if token.content else ""
            if last > first and token.content:
                yield every, first, last + 1
                if content != every and len(content) > 1:
                    yield content, first, last + 1


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) >= _SHORTEST_PREFIX and len(long) >= _SHORTEST_COMMON and long.startswith(short):
        return True
    if len(short) < _SHORTEST_COMMON:
        return False
    common = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), None)
    common = len(short) if common is None else common
    return common >= max(_SHORTEST_COMMON, _COMMON_SHARE * len(long))
