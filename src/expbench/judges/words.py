"""Words and numbers of prose and code in one normal form.

Text becomes tokens: identifiers are split at case, underscores and hyphens, words are lower-cased
and lightly stemmed, close synonyms of research prose share one stem, and numbers are read as values
(``1e-3``, ``5 × 10^-4``, ``10,000``, ``12 %``, ``20k``). Every token keeps its place, so that what
matched can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from expbench.judges.frequent import COMMON, FREQUENT
from expbench.judges.lexicon import ABBREVIATIONS, DIRECTIONS, GENERIC, STOP, SYNONYMS
from expbench.judges.numbers import (
    PLAIN,
    POWER,
    STARTS,
    Number,
    from_digits,
    from_power,
    spelled_number,
)

_TOKEN = re.compile(
    rf"(?P<power>(?:(?P<mantissa>\d+(?:\.\d+)?)\s*[x×*·]\s*)?(?<![\w.]){POWER})"
    rf"|(?P<number>{PLAIN})(?P<unit>\s?(?:%|(?:percent|per cent|pp|thousand|million|billion)\b)"
    r"|[kKMB]\b)?"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<arrow>->|=>|→)"
    r"|(?P<sign>[<>≤≥]=?)(?=\s)"
)
_LABEL_B = re.compile(r"\bB\b")
"""Where something is called B, a capital A is a name and no article."""
_NAMED_A = re.compile(r".*[a-z)][ +/&-]{1,3}A", re.DOTALL)
"""An A behind a small letter, where no sentence begins."""
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zß-ÿ]+|[A-Z]+|[^\W\d_]+")
_SUFFIXES = (
    *("ization", "isation", "ation", "ition", "izing", "ising", "ized", "ised", "izer", "iser"),
    *("ize", "ise", "ating", "ated", "ator", "ate", "ing", "ed", "ion", "ment", "ness", "ity"),
    *("ive", "al", "ly", "er", "or", "ic", "e"),
)
_LEAST_WEIGHT, _COMMON_WEIGHT = 0.4, 0.7
_SHORTEST_STEM = 3
_SHORTEST_ACRONYM = 3
_LOOK_BACK = 4
_LOOK_AHEAD = 9
_KEPT_LENGTH = 1000
_TIMES = " \t\n\r\f\vx×*·"
_ADJOINING = (" ", "-", "\n")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or comparison sign, and its place in the text."""

    stem: str
    start: int
    end: int
    number: Number | None = None
    whole: str = ""
    """The stem of the whole identifier that a piece belongs to, when it was split."""
    spelled: bool = False
    """Whether a number is written as a word."""
    name: bool = False
    """Whether it is written as names are: with capitals inside, or in capitals only."""
    initial: str = ""
    """A word's first letter as written, in lower case: its stem may be a synonym's."""

    @property
    def content(self) -> bool:
        """Whether it carries meaning of its own."""
        return self.number is None and self.stem not in _STOP_STEMS

    @property
    def weight(self) -> float:
        """How much it says about what a text is about."""
        if self.stem in _GENERIC_STEMS or len(self.stem) == 1:
            return _LEAST_WEIGHT
        return _COMMON_WEIGHT if self.stem in _COMMON_STEMS else 1.0


def tokens(text: str) -> list[Token]:
    """The tokens of ``text`` in order."""
    return list(_kept_tokens(text)) if len(text) <= _KEPT_LENGTH else _read_tokens(text)


@lru_cache(maxsize=512)
def _kept_tokens(text: str) -> tuple[Token, ...]:
    """Of a short text: the same items and sentences are read again and again."""
    return tuple(_read_tokens(text))


def _read_tokens(text: str) -> list[Token]:
    found: list[Token] = []
    labels = bool(_LABEL_B.search(text))
    matches = list(_TOKEN.finditer(text))
    skip = 0
    for at, match in enumerate(matches):
        if skip:
            skip -= 1
        elif match["power"]:
            mantissa = match["mantissa"] or ""
            number = from_power(match["power"][len(mantissa) :].lstrip(_TIMES), mantissa)
            found.append(Token(number.written, match.start(), match.end(), number))
        elif match["number"]:
            found.append(_number(match, text))
        elif match["sign"] or match["arrow"]:
            written = "to" if match["arrow"] else match["sign"][0]
            found.append(Token(written, match.start(), match.end()))
        elif match["word"] == "A" and (labels or _is_name(match, text)):
            found.append(Token("A", match.start(), match.end()))
        elif match["word"].lower() in STARTS and (spelled := _spelled(matches, at, text)):
            number, taken = spelled
            end = matches[at + taken - 1].end()
            found.append(Token(number.written, match.start(), end, number, spelled=True))
            skip = taken - 1
        else:
            found.extend(_pieces(match["word"], match.start()))
    return found


def _is_name(match: re.Match[str], text: str) -> bool:
    return bool(_NAMED_A.fullmatch(text, max(match.start() - 4, 0), match.end()))


def _spelled(matches: Sequence[re.Match[str]], at: int, text: str) -> tuple[Number, int] | None:
    """The number that begins with the word at a place, read no further than its words adjoin."""
    first = max(at - _LOOK_BACK, 0)
    words = [(match["word"] or "").lower() for match in matches[first : at + 1]]
    for before, match in pairwise(matches[at : at + _LOOK_AHEAD]):
        if not match["word"] or text[before.end() : match.start()] not in _ADJOINING:
            break
        words.append(match["word"].lower())
    return spelled_number(words, at - first)


def forms(window: Sequence[Token]) -> frozenset[str]:
    """Every form under which a word of ``window`` may be looked for.

    These are the stems, whole identifiers, neighbours written as one word ("time step",
    "timestep"), and what abbreviations stand for.
    """
    stems = [token.stem for token in window if token.number is None]
    found = set(stems)
    found.update(token.whole for token in window if token.whole)
    found.update(first + second for first, second in pairwise(stems))
    for stem in stems:
        found.update(EXPANSIONS.get(stem, ()))
    return frozenset(found)


def covered(token: Token, known: frozenset[str]) -> bool:
    """Whether the word is among ``known``, itself, as a whole, or by what it abbreviates."""
    if token.stem in known or (token.whole and token.whole in known):
        return True
    expansion = EXPANSIONS.get(token.stem)
    return bool(expansion) and known.issuperset(expansion or ())


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of one word, the same for its close synonyms."""
    reduced = _stripped(word.lower())
    return _CANONICAL.get(reduced, reduced)


def _stripped(word: str) -> str:
    if len(word) <= _SHORTEST_STEM:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is", "as")):
        word = word[:-1]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word.removesuffix(suffix)
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _SHORTEST_STEM else word


def _pieces(word: str, start: int) -> list[Token]:
    parts = list(_PIECE.finditer(word))
    if len(parts) == 1:
        name = word.isupper() and len(word) >= _SHORTEST_ACRONYM
        return [Token(stem(word), start, start + len(word), name=name, initial=word[0].lower())]
    whole = stem(word)
    return [
        Token(
            stem(part[0]),
            start + part.start(),
            start + part.end(),
            whole=whole,
            name=True,
            initial=part[0][0].lower(),
        )
        for part in parts
    ]


def _number(match: re.Match[str], text: str) -> Token:
    before = text[max(match.start() - 2, 0) : match.start()]
    negative = before[-1:] in ("-", "−") and (len(before) == 1 or before[0] in " ([{=:,~\n\t")
    number = from_digits(match["number"], (match["unit"] or "").strip(), negative)
    end = match.end() - match[0].endswith(".")
    return Token(number.written, match.start() - negative, end, number)


_CANONICAL = {
    _stripped(word): _stripped(group[0])
    for group in (line.split() for line in SYNONYMS)
    for word in group
}
_STOP_STEMS = frozenset(stem(word) for word in STOP)
_DIRECTIONS = (word for sides in DIRECTIONS.values() for words in sides for word in words)
_GENERIC_STEMS = frozenset(stem(word) for word in (*GENERIC, *FREQUENT, *_DIRECTIONS))
_COMMON_STEMS = frozenset(stem(word) for word in COMMON)
EXPANSIONS = {
    stem(short): frozenset(stem(word) for word in phrase.split())
    for short, phrase in ABBREVIATIONS.items()
}
