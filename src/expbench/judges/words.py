"""Words and numbers of prose and code in one normal form.

Text becomes tokens: identifiers are split at case, underscores and hyphens, words are lower-cased
and lightly stemmed, close synonyms of research prose share one stem, and numbers are read as values
(``1e-3``, ``5 × 10^-4``, ``10,000``, ``12 %``, ``20k``). Every token keeps its place, so that what
matched can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from expbench.judges.lexicon import ABBREVIATIONS, DIRECTIONS, GENERIC, NUMBER_WORDS, STOP, SYNONYMS

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_POWER = r"10(?:\^\{?[-−+]?\d+\}?|\*\*\(?-?\d+\)?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
_PLAIN = (
    r"[1-9]\d{0,2}(?:,\d{3})+(?![,.]?\d)|\d+(?:_\d{3})+"
    r"|(?:\d+\.\d+|(?<![.\d])\.\d+|\d+\.?(?!\w))(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?"
)
_TOKEN = re.compile(
    rf"(?P<power>(?:(?P<mantissa>\d+(?:\.\d+)?)\s*[x×*·]\s*)?{_POWER})"
    rf"|(?P<number>{_PLAIN})(?P<unit>\s?(?:%|percent\b|per cent\b|pp\b)|[kK]\b)?"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<arrow>->|=>|→)"
    r"|(?P<sign>[<>≤≥]=?)(?=\s)"
)
_LABEL_B = re.compile(r"\bB\b")
"""Where something is called B, a capital A is a name and no article."""
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zß-ÿ]+|[A-Z]+|[^\W\d_]+")
_SUFFIXES = (
    *("ization", "isation", "ation", "ition", "izing", "ising", "ized", "ised", "izer", "iser"),
    *("ize", "ise", "ating", "ated", "ator", "ate", "ing", "ed", "ion", "ment", "ness", "ity"),
    *("ive", "al", "ly", "er", "or", "ic", "e"),
)
_SHORTEST_STEM = 3
_SHORTEST_ACRONYM = 3


@dataclass(frozen=True, slots=True)
class Number:
    """A value as written: what it may mean, and how many decimals it has."""

    values: tuple[float, ...]
    decimals: int
    written: str
    parts: tuple[float, ...] = ()
    """What it would mean if its commas did not group digits but separated a list."""

    @property
    def whole(self) -> bool:
        """Whether it is a bare whole number, such as a count or a setting."""
        return self.decimals == 0 and not self.is_percentage and self.values[0].is_integer()

    @property
    def is_percentage(self) -> bool:
        """Whether it was written with a per cent sign, so that it may also mean its hundredth."""
        return len(self.values) == 2


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

    @property
    def content(self) -> bool:
        """Whether it carries meaning of its own."""
        return self.number is None and self.stem not in _STOP_STEMS

    @property
    def weight(self) -> float:
        """How much it says about what a text is about."""
        return 0.4 if self.stem in _GENERIC_STEMS or len(self.stem) == 1 else 1.0


def tokens(text: str) -> list[Token]:
    """The tokens of ``text`` in order."""
    found: list[Token] = []
    labels = bool(_LABEL_B.search(text))
    for match in _TOKEN.finditer(text):
        if match["power"]:
            found.append(_power(match))
        elif match["number"]:
            found.append(_number(match, text))
        elif match["sign"] or match["arrow"]:
            written = "to" if match["arrow"] else match["sign"][0]
            found.append(Token(written, match.start(), match.end()))
        elif labels and match["word"] == "A":
            found.append(Token("A", match.start(), match.end()))
        else:
            found.extend(_pieces(match["word"], match.start()))
    return found


def content_words(text: str) -> frozenset[str]:
    """The stems of all words that carry meaning, and the numbers as written."""
    return frozenset(
        token.number.written if token.number else token.stem
        for token in tokens(text)
        if token.number or token.content
    )


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
        found.update(_EXPANSIONS.get(stem, ()))
    return frozenset(found)


def covered(token: Token, known: frozenset[str]) -> bool:
    """Whether the word is among ``known``, itself, as a whole, or by what it abbreviates."""
    if token.stem in known or (token.whole and token.whole in known):
        return True
    expansion = _EXPANSIONS.get(token.stem)
    return bool(expansion) and known.issuperset(expansion or ())


def coverage(wanted: Iterable[Token], known: frozenset[str]) -> float:
    """The weighted share in [0, 1] of the words of ``wanted`` that are among ``known``.

    A word counts once however often it stands; without any word that carries meaning it is 0.
    """
    distinct = {token.stem: token for token in wanted if token.content}
    total = sum(token.weight for token in distinct.values())
    if not total:
        return 0.0
    return sum(t.weight for t in distinct.values() if covered(t, known)) / total


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
    lowered = word.lower()
    if len(parts) == 1:
        spelled = NUMBER_WORDS.get(lowered)
        if spelled is not None:
            number = Number((float(spelled),), 0, str(spelled))
            return [Token(stem(word), start, start + len(word), number, spelled=True)]
        name = word.isupper() and len(word) >= _SHORTEST_ACRONYM
        return [Token(stem(word), start, start + len(word), name=name)]
    whole = stem(word)
    return [
        Token(stem(part[0]), start + part.start(), start + part.end(), whole=whole, name=True)
        for part in parts
    ]


def _number(match: re.Match[str], text: str) -> Token:
    parts = tuple(map(float, match["number"].split(","))) if "," in match["number"] else ()
    written = re.sub(r"[,_]", "", match["number"]).rstrip(".")
    value = float(written)
    before = text[max(match.start() - 2, 0) : match.start()]
    start = match.start()
    if before[-1:] in ("-", "−") and (len(before) == 1 or before[0] in " ([{=:,~\n\t"):
        value, start = -value, start - 1
    unit = (match["unit"] or "").strip()
    values: tuple[float, ...] = (value,)
    if unit in ("k", "K"):
        values = (value * 1000,)
    elif unit:
        values = (value, value / 100)
    mantissa = written.lower().partition("e")[0]
    decimals = len(mantissa.partition(".")[2])
    return Token(
        written,
        start,
        match.end() - match[0].endswith("."),
        Number(values, decimals, written, parts),
    )


def _power(match: re.Match[str]) -> Token:
    written = match["power"].translate(_SUPERSCRIPTS)
    exponent = re.sub(r"^.*?10(?=[\^*+-]|\d)|[\^{}*()]", "", written) or "0"
    mantissa = match["mantissa"] or "1"
    value = float(f"{mantissa}e{int(exponent)}")
    number = Number((value,), len(mantissa.partition(".")[2]), written)
    return Token(written, match.start(), match.end(), number)


_CANONICAL = {
    _stripped(word): _stripped(group[0])
    for group in (line.split() for line in SYNONYMS)
    for word in group
}
_STOP_STEMS = frozenset(stem(word) for word in STOP)
_DIRECTIONS = (word for sides in DIRECTIONS.values() for words in sides for word in words)
_GENERIC_STEMS = frozenset(stem(word) for word in (*GENERIC, *_DIRECTIONS))
_EXPANSIONS = {
    stem(short): frozenset(stem(word) for word in phrase.split())
    for short, phrase in ABBREVIATIONS.items()
}
