"""Matching implementation steps against the code that a submission adds.

Two signs count. The step's own words and values: identifiers split into words, literals and options
are looked for in a window of code. And where the authors' code for the step is at hand, how much of
it is contained: the share of its runs of three code tokens, in any order, as in near-duplicate
detection (Broder, 1997), or of its words when everything was renamed. Either way the step's values
have to be there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expbench.judges.lexicon import SETTING_VERBS
from expbench.judges.prose import Match
from expbench.judges.source import Line, SourceFile
from expbench.judges.values import mandatory, missing
from expbench.judges.words import Number, Token, coverage, covered, forms, stem, tokens

_STEP_PREFIX = re.compile(r"^\s*(?:final\s+)?step(?:\s+\d+)?\s*:\s*", re.IGNORECASE)
_CITATION = re.compile(r"\(\s*/workspace/[^)]*\)|/workspace/\S+")
_DERIVED = re.compile(
    r"\b(?:all|each of the|of the|the)\s+\d+\b|\(\d+ [a-z]+\)|\bdefaults?\s*\([^)]*\)",
    re.IGNORECASE,
)
"""Numbers that count what other settings make, or that a library has already."""
_RESTATED = re.compile(r"\b(?:that is|i\.e\.|in other words)", re.IGNORECASE)
_CODE_TOKEN = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?(?:e[-+]?\d+)?|[^\s\w\"'`,;]")
_WINDOW_LINES = 40
_STRIDE = 8
_SHINGLE = 3
_ENOUGH = 0.6
_ENOUGH_ALONE = 0.5
"""Where only the words of the step can be compared."""
_ENOUGH_FOR_METHOD = 0.45
"""Where the step is a sentence of the method, which speaks less of code."""
_NUMBER_WEIGHT = 0.7
_CONTAINMENT = 0.5
_CODE_WORDS = 0.72
_EVIDENCE_LINES = 3
_SMALL = 10
_SEVERAL = 3
_SETTING_STEMS = frozenset(stem(verb) for verb in SETTING_VERBS)


@dataclass(frozen=True)
class _Window:
    lines: Sequence[Line]
    known: frozenset[str]
    runs: bool


@dataclass(frozen=True)
class _Step:
    """An implementation step: its words, and the numbers that the code has to have."""

    words: list[Token]
    numbers: list[Token]
    is_setting: bool


class CodeMatcher:
    """Decides implementation steps about one submission's added code."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._windows = [window for file in files for window in _windows(file)]
        settings = [t for f in files if f.is_settings for line in f.lines for t in line.tokens]
        self._settings = forms(settings)
        self._numbers = frozenset(
            abs(value)
            for file in files
            for line in file.lines
            for token in line.tokens
            if token.number
            for value in (*token.number.values, *token.number.parts)
        )
        self._shingles = frozenset(
            shingle
            for file in files
            for shingle in _shingles("\n".join(line.code for line in file.lines))
        )

    def match(self, step: str, authors: str = "", from_method: bool = False) -> Match:
        """Whether the code does ``step``; ``authors`` is the authors' code for it, if known."""
        wanted = _step(step, authors)
        windows = [window for window in self._windows if window.runs or wanted.is_setting]
        if not windows:
            return Match(False, reason="no code was added")
        absent = _absent(wanted.numbers, self._numbers)
        if absent:
            return Match(False, reason=f"the value {absent[0].stem} is not in the code")
        shares = [(self._share(wanted, window), at) for at, window in enumerate(windows)]
        share, index = max(shares, key=lambda pair: (pair[0], -pair[1]))
        known = bool(authors.strip())
        alone = _ENOUGH_FOR_METHOD if from_method else _ENOUGH_ALONE
        enough = _ENOUGH if known else alone
        if share >= enough or (known and self._contains(authors, wanted, windows)):
            return Match(True, _evidence(windows[index], wanted.words))
        return Match(False, reason="no code does this")

    def _share(self, step: _Step, window: _Window) -> float:
        """The weighted share of a step's words in a window; code knows the settings that it reads.

        The step's numbers are known to be there by now.
        """
        distinct = {token.stem: token for token in step.words if token.content}.values()
        words = sum(token.weight for token in distinct)
        found = sum(
            token.weight
            for token in distinct
            if covered(token, window.known) or covered(token, self._settings)
        )
        numbers = _NUMBER_WEIGHT * len(step.numbers)
        return (found + numbers) / (words + numbers) if words else 0.0

    def _contains(self, authors: str, wanted: _Step, windows: Sequence[_Window]) -> bool:
        theirs = _shingles(authors)
        if theirs and len(theirs & self._shingles) >= _CONTAINMENT * len(theirs):
            return True
        words = tokens(authors)
        return any(
            coverage(words, window.known) >= _CODE_WORDS
            and coverage(wanted.words, window.known) >= 0.5 * _ENOUGH
            for window in windows
        )


def _step(step: str, authors: str) -> _Step:
    text = _CITATION.sub(" ", _STEP_PREFIX.sub("", step)).strip()
    words = tokens(text)
    derived = [match.span() for match in _DERIVED.finditer(text)]
    numbers = [
        number
        for number in mandatory(words, text)
        if not any(start <= number.start < end for start, end in derived)
    ]
    restated = _RESTATED.search(text)
    if restated:
        numbers = [number for number in numbers if number.start > restated.start()]
    if authors.strip():
        unknown = missing(numbers, tokens(authors), exact=True)
        numbers = [number for number in numbers if number not in unknown]
    return _Step(words, numbers, is_setting=bool(words) and words[0].stem in _SETTING_STEMS)


def _absent(numbers: Sequence[Token], found: frozenset[float]) -> list[Token]:
    """The numbers that the code lacks.

    Signs are not compared, and a whole number may be off by one, as the bounds of ranges are. One
    small whole number among several may be missing: code counts rather than writes them.
    """
    lacking = [t for t in numbers if t.number and not found & set(_near(t.number))]
    small = [t for t in lacking if t.number and t.number.whole and abs(t.number.values[0]) < _SMALL]
    return [] if lacking == small and len(small) == 1 and len(numbers) >= _SEVERAL else lacking


def _near(number: Number) -> tuple[float, ...]:
    values = tuple(abs(value) for value in number.values)
    return (*values, values[0] - 1, values[0] + 1) if number.whole else values


def _windows(file: SourceFile) -> list[_Window]:
    """Overlapping windows of a file's lines."""
    starts = range(0, max(len(file.lines) - _WINDOW_LINES, 0) + _STRIDE, _STRIDE)
    slices = [file.lines[start : start + _WINDOW_LINES] for start in starts]
    windows = []
    for lines in filter(None, slices):
        found = [token for line in lines for token in line.tokens]
        windows.append(_Window(lines, forms(found), not file.is_settings))
    return windows


def _shingles(code: str) -> frozenset[tuple[str, ...]]:
    found = _CODE_TOKEN.findall(code)
    return frozenset(tuple(found[at : at + _SHINGLE]) for at in range(len(found) - _SHINGLE + 1))


def _evidence(window: _Window, wanted: list[Token]) -> str:
    """The few lines of the window that share most with the step, verbatim."""
    size = min(_EVIDENCE_LINES, len(window.lines))

    def shared(start: int) -> float:
        part = window.lines[start : start + size]
        return coverage(wanted, forms([token for line in part for token in line.tokens]))

    start = max(range(len(window.lines) - size + 1), key=shared)
    line = max(
        window.lines[start : start + size], key=lambda one: coverage(wanted, forms(one.tokens))
    )
    return line.raw
