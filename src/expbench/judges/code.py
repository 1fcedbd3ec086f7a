"""What speaks for and against the added code's doing an implementation step.

The step's own words, values and names are looked for in windows of code, whose signs and calls count
as the words for what they do. Where the authors' code for the step is at hand, so does how much of it is
contained: the share of its runs of three code tokens, in any order, as in near-duplicate detection
(Broder, 1997), and of the functions that it calls.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from expbench.judges.constructs import meaning
from expbench.judges.index import Index, Wanted, share_found
from expbench.judges.lexicon import word_set
from expbench.judges.numbers import Number
from expbench.judges.opposites import does_the_opposite
from expbench.judges.source import Line, SourceFile, code_only
from expbench.judges.values import mandatory, missing
from expbench.judges.weighing import Evidence, Match, Scale
from expbench.judges.words import Token, tokens

_STEP_PREFIX = re.compile(r"^\s*(?:final\s+)?step(?:\s+\d+)?\s*:\s*", re.IGNORECASE)
_CITATION = re.compile(r"\(\s*/workspace/[^)]*\)|/workspace/\S+")
_DERIVED = re.compile(
    r"\b(?:all|each of the|of the|the)\s+\d+\b|\(\d+ [a-z]+\)|\bdefaults?\s*\([^)]*\)",
    re.IGNORECASE,
)
"""Numbers that count what other settings make, or that a library has already."""
_STEPPED = re.compile(
    r"\bfrom \S+ to (\S+) in (?:\w+ )?(?:steps?|increments?) of (\S+)", re.IGNORECASE
)
"""Numbers that code with a range of steps need not write."""
_RESTATED = re.compile(r"\b(?:that is|i\.e\.|in other words)", re.IGNORECASE)
_CODE_TOKEN = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?(?:e[-+]?\d+)?|[^\s\w\"'`,;]")
_CALL = re.compile(r"(?<!def )(?<!class )\b([^\W\d]\w*)\s*\(")
_NOT_CALLS = word_set(
    """
    if for while return print def class lambda and or not in is len range str int float list dict
    """
)
_WINDOW = 10
_SHINGLE = 3
_NUMBER_WEIGHT = 0.7
_SMALL = 10
_SEVERAL = 3
_MANY = 8
_UNKNOWN = 0.5
_HUNDRED, _NEARLY = 100, 0.01
_NEARLY_ALL = 0.8


class CodeMatcher:
    """Decides implementation steps about one submission's added code."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._lines: list[Line] = [line for file in files for line in file.lines]
        self._runs = any(not file.is_settings for file in files)
        rows = [f"{line.code} ;; {meaning(line.code)}" for line in self._lines]
        self._index = Index("\n".join(rows))
        begins, starts = [0], [token.start for token in self._index.tokens]
        for row in rows:
            begins.append(begins[-1] + len(row) + 1)
        self._first = [bisect_left(starts, begin) for begin in begins]
        """The place of the first word of each line, and of what comes after the last."""
        self._bounds = [0]
        for file in files:
            self._bounds.append(self._bounds[-1] + len(file.lines))
        code = "\n".join(line.code for line in self._lines)
        self._shingles, self._calls = _shingles(code), frozenset(_CALL.findall(code))

    def match(self, step: str, authors: str = "", from_method: bool = False) -> Match:
        """Whether the code does ``step``; ``authors`` is the authors' code for it, if known."""
        if not self._runs:
            return Match(False, reason="no code was added")
        return CODE.weigh(self.evidence(step, authors, from_method))

    def evidence(self, step: str, authors: str = "", from_method: bool = False) -> Evidence:
        """The line that says most of ``step``, and the signs for and against it."""
        text = _CITATION.sub(" ", _STEP_PREFIX.sub("", step)).strip()
        words = tokens(text)
        wanted = Wanted(words, self._index)
        if not self._runs or not (wanted.words or words):
            return Evidence("", {})
        numbers = _numbers(words, text, authors)
        places = [self._places(token.number) for token in numbers if token.number]
        share, where = self._best(wanted, places)
        everything = len(self._index.tokens)
        names = [token for token in wanted.words if token.name]
        lacking = set(wanted.lacking(0, everything))
        signs = {
            "tight": share,
            "words": wanted.share(0, everything),
            "absent": float(_lost(numbers, places)),
            "several": min(len(numbers), _MANY) / _MANY,
            "names_lacking": sum(t.stem in lacking for t in names) / len(names) if names else 0.0,
            "from_method": float(from_method),
            "contrary": self._contrary(text, wanted, where),
            **self._like(authors),
        }
        return Evidence(self._quote(wanted, where), signs)

    def _like(self, authors: str) -> dict[str, float]:
        """How much of the authors' code is contained, where it is known."""
        if not authors.strip():
            return {}
        code = code_only(authors)
        theirs = _shingles(code)
        calls = set(_CALL.findall(code)) - _NOT_CALLS
        contained = len(theirs & self._shingles) / len(theirs) if theirs else _UNKNOWN
        return {
            "with_authors": 1.0,
            "contained": contained,
            "nearly_all": float(contained >= _NEARLY_ALL),
            "calls": len(calls & self._calls) / len(calls) if calls else _UNKNOWN,
        }

    def _places(self, number: Number) -> list[int]:
        """Where a number stands, without its sign, off by one as the bounds of ranges are, or, of a
        power, its exponent."""
        forms = [number, Number(tuple(map(abs, number.values)), number.decimals, number.written)]
        if number.whole:
            forms += (_whole(number.values[0] + off) for off in (-1, 1))
        if number.exponent is not None:
            forms += (_whole(number.exponent), _whole(abs(number.exponent)))
        found = (self._index.number(form, exact=True) for form in forms)
        return next(filter(None, found), [])

    def _best(self, wanted: Wanted, places: Sequence[Sequence[int]]) -> tuple[float, int]:
        """The largest share of a step that a window of a file's lines has, and its first line."""
        best, where = 0.0, 0
        numbers = _NUMBER_WEIGHT * len(places)
        total = wanted.total + numbers or 1.0
        for line in sorted(
            {bisect_right(self._first, at) - 1 for at in wanted.found.union(*places)}
        ):
            end = self._bounds[bisect_right(self._bounds, line)]
            a, b = self._first[line], self._first[min(line + _WINDOW, end)]
            words = wanted.share(a, b) * wanted.total
            share = (words + numbers * share_found(places, a, b)) / total
            if share > best:
                best, where = share, line
        return best, where

    def _contrary(self, step: str, wanted: Wanted, where: int) -> float:
        """1 when the line that says most of a step does the opposite, half when only its window does."""
        end = min(where + _WINDOW, self._bounds[bisect_right(self._bounds, where)])
        code = [line.code for line in self._lines[where:end]]
        if not code:
            return 0.0
        first = self._first
        best = max(range(where, end), key=lambda at: wanted.share(first[at], first[at + 1]))
        if does_the_opposite(step, code[best - where]):
            return 1.0
        return float(does_the_opposite(step, "\n".join(code))) / 2

    def _quote(self, wanted: Wanted, where: int) -> str:
        """The line of the window that has most of the step, verbatim."""
        lines = range(where, min(where + _WINDOW, len(self._lines)))
        first = self._first
        best = max(lines, key=lambda at: wanted.share(first[at], first[at + 1]), default=None)
        return "" if best is None else self._lines[best].raw


def _numbers(words: Sequence[Token], text: str, authors: str) -> list[Token]:
    """The numbers that the code has to have: of those, where it is known, the authors' code has."""
    derived = [match.span() for match in _DERIVED.finditer(text)]
    derived += [m.span(group) for m in _STEPPED.finditer(text) for group in (1, 2)]
    derived += _rest(words)
    restated = _RESTATED.search(text)
    begin = restated.start() if restated else -1
    numbers = [
        number
        for number in mandatory(words, text, modifiers=False)
        if number.start > begin and not any(start <= number.start < end for start, end in derived)
    ]
    if not authors.strip():
        return numbers
    unknown = missing(numbers, tokens(authors), exact=True)
    return [number for number in numbers if number not in unknown]


def _rest(words: Sequence[Token]) -> list[tuple[int, int]]:
    """Of shares that make up the whole, all but the first: code may write their sums or the rest."""
    shares = [token for token in words if token.number and token.number.percent]
    whole = sum(token.number.values[0] for token in shares if token.number)
    if len(shares) < 2 or abs(whole - _HUNDRED) > _NEARLY:
        return []
    return [(token.start, token.end) for token in shares[1:]]


def _lost(numbers: Sequence[Token], places: Sequence[Sequence[int]]) -> bool:
    """Whether the code lacks a number.

    One small whole number among several may be missing, and zero may: code counts rather than writes them.
    """
    lost = [
        token
        for token, found in zip(numbers, places, strict=True)
        if not found and token.number and token.number.values[0] != 0
    ]
    small = [t for t in lost if t.number and t.number.whole and abs(t.number.values[0]) < _SMALL]
    return bool(lost) and not (len(lost) == len(small) == 1 and len(numbers) >= _SEVERAL)


def _whole(value: float) -> Number:
    return Number((float(value),), 0, f"{value:g}")


@lru_cache(maxsize=512)
def _shingles(code: str) -> frozenset[tuple[str, ...]]:
    found = _CODE_TOKEN.findall(code)
    return frozenset(tuple(found[at : at + _SHINGLE]) for at in range(len(found) - _SHINGLE + 1))


CODE = Scale(
    bias=-1.67,
    weights={
        "words": 2.15,
        "contained": 1.46,
        "calls": 1.36,
        "tight": 1.08,
        "several": 0.93,
        "nearly_all": 0.41,
        "from_method": 0.12,
        "with_authors": -1.51,
        "names_lacking": -1.56,
        "contrary": -2.50,
        "absent": -3.23,
    },
)
