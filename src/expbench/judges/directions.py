"""Comparisons in a sentence: which way they point, and what is compared with what.

"A has a lower error than B" and "the error of B is higher than that of A" are the same comparison.
Each comparing word is read with its subject and, where it has one, the object that stands after
``than`` or after a transitive word such as ``beats``. Two comparisons agree when they point the
same way with the same sides, or opposite ways with the sides exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from expbench.judges.lexicon import (
    BENEFITS,
    COSTS,
    DIRECTIONS,
    NEGATIONS,
    SUPERLATIVES,
    TRANSITIVE,
)
from expbench.judges.passages import Passage
from expbench.judges.values import same
from expbench.judges.words import Number, Token, stem

_SIDE = 9
_OBJECT = 5
_NEGATION_REACH = 4
_QUANTITY_AFTER = 3
_QUANTITY_BEFORE = 2
_CLEAR = 1.3
_NEGATED_WORD = 6
_LEAST_CLOSENESS = 0.3
_AGREEING_SHARE = 0.4
_AS_NEAR = 0.8
_NUMBER_CLOSENESS = 0.5
_CONTRAST = ("while", "whereas", "but", "although", "though", "where")
_THAN = ("than", "versus", "vs", "against", "compared", "relative")

_SIGNS = {
    word: (axis, sign)
    for axis, (up, down) in DIRECTIONS.items()
    for sign, words in ((1, up), (-1, down))
    for word in words
}
_POLARITY = {**{stem(w): -1 for w in COSTS}, **{stem(w): 1 for w in BENEFITS}}
QUANTITY_STEMS = frozenset(_POLARITY)


@dataclass(frozen=True)
class Direction:
    """A word that says which of two sides is more or better.

    ``polarity`` is -1 when the quantity compared is better small, 1 when it is better large, and 0
    when that is not known. The words of the sides carry how near they stand.
    """

    word: str
    axis: str
    sign: int
    polarity: int
    subject: dict[str, float]
    object: dict[str, float]
    numbers: tuple[Number, ...]


def directions(part: Passage, counts: Counter[str]) -> list[Direction]:
    """Every comparison in ``part``. Words that are frequent in ``counts`` weigh less."""
    words = part.words
    return [
        _direction(part, place, counts)
        for place, word in enumerate(words)
        if word in _SIGNS and words[max(place - 1, 0)] != "at"
    ]


def opposed(ours: Sequence[Direction], theirs: Sequence[Direction]) -> str:
    """The word of ``ours`` whose nearest counterparts in ``theirs`` point the other way, or ""."""
    against: dict[int, float] = {}
    agreeing: dict[int, float] = {}
    for other in theirs:
        related = [
            (_closeness(own, other), index, relation)
            for index, own in enumerate(ours)
            if (relation := _relation(own, other)) is not None
        ]
        if not related:
            continue
        nearest = max(related)
        explained = False
        for closeness, index, relation in related:
            if relation != -1:
                explained = explained or closeness >= _AS_NEAR * nearest[0]
                certain = relation == 1 or ours[index].sign == other.sign
                support = closeness if certain else _AGREEING_SHARE * closeness
                agreeing[index] = max(agreeing.get(index, 0.0), support)
        if nearest[2] == -1 and not explained:
            against[nearest[1]] = max(against.get(nearest[1], 0.0), nearest[0])
    for index, closeness in against.items():
        if closeness >= _LEAST_CLOSENESS and agreeing.get(index, 0) < _AGREEING_SHARE * closeness:
            return ours[index].word
    return ""


def is_comparison(word: str) -> bool:
    """Whether ``word``, in lower case, compares."""
    return word in _SIGNS


def _direction(part: Passage, place: int, counts: Counter[str]) -> Direction:
    words, tokens = part.words, part.tokens
    word = words[place]
    axis, sign = _SIGNS[word]
    before = list(_clause(part, place, step=-1))
    after = list(_clause(part, place, step=1))
    split = _object_start(part, word, after)
    rest = after[:split] if split is not None else after
    subject = _side(part, before, counts) | _side(part, rest, counts)
    target = _side(part, after[split : split + _OBJECT], counts) if split is not None else {}
    if word in TRANSITIVE and words[place + 1 : place + 2] == ["by"]:
        subject, target = target, subject
    near = [tokens[at] for at in (*before, *after)]
    return Direction(
        word=word,
        axis=axis,
        sign=-sign if _is_negated(words, place) else sign,
        polarity=_polarity([tokens[at] for at in after], [tokens[at] for at in before]),
        subject=subject,
        object=target,
        numbers=tuple(t.number for t in near if t.number and t.number.decimals),
    )


def _object_start(part: Passage, word: str, after: Sequence[int]) -> int | None:
    """Where in ``after`` the other side begins, if the comparison names one."""
    if word in SUPERLATIVES:
        return None
    if word in TRANSITIVE:
        return 0
    for index, at in enumerate(after[:-1]):
        if part.words[at] in _THAN and not part.tokens[after[index + 1]].number:
            return index + 1
    return None


def _clause(part: Passage, place: int, step: int) -> Iterator[int]:
    """The places beside ``place`` in one direction, up to where another clause begins.

    A clause that has no subject of its own so far shares that of the clause before it.
    """
    has_words = False
    for at in range(place + step, place + step * (_SIDE + 1), step):
        if not 0 <= at < len(part.tokens):
            return
        first, second = sorted((at, at - step))
        between = part.quote[part.tokens[first].end : part.tokens[second].start]
        joint = part.words[second]
        contrast = joint in _CONTRAST or ("," in between and joint in ("and", "then"))
        if ": " in between or (contrast and (has_words or step > 0)):
            return
        has_words = has_words or (part.tokens[at].content and part.words[at] not in _SIGNS)
        yield at


def _is_negated(words: Sequence[str], place: int) -> bool:
    """Whether a negation stands shortly before, or "at no", "in none" shortly after."""
    before = words[max(place - _NEGATION_REACH, 0) : place]
    after = words[place + 1 : place + 1 + _NEGATION_REACH]
    nowhere = any(
        preposition in ("at", "in", "for", "on") and word in ("no", "none")
        for preposition, word in pairwise(after)
    )
    return any(word in NEGATIONS for word in before) or nowhere


def _side(part: Passage, places: Sequence[int], counts: Counter[str]) -> dict[str, float]:
    side: dict[str, float] = {}
    for distance, place in enumerate(places):
        token = part.tokens[place]
        if token.content or (token.number and not distance):
            closeness = 1 / (1 + 0.2 * distance)
            frequency = max(counts[token.stem], 1)
            side.setdefault(_signed(part, place), closeness / frequency**0.5)
    return side


def _signed(part: Passage, place: int) -> str:
    """The stem of a word, marked when it is negated: "not scaling" and "unscaled" alike."""
    word = part.tokens[place].stem
    if place and part.words[place - 1] in (*NEGATIONS, "non"):
        return f"not {word}"
    return f"not {word[2:]}" if word.startswith("un") and len(word) >= _NEGATED_WORD else word


def _polarity(after: Sequence[Token], before: Sequence[Token]) -> int:
    near = (*after[:_QUANTITY_AFTER], *before[:_QUANTITY_BEFORE])
    return next((_POLARITY[token.stem] for token in near if token.stem in _POLARITY), 0)


def _closeness(ours: Direction, other: Direction) -> float:
    shared = sum(any(same(n, o, exact=False) for o in other.numbers) for n in ours.numbers)
    words = _overlap(ours.subject | ours.object, other.subject | other.object)
    return words + _NUMBER_CLOSENESS * shared


def _relation(ours: Direction, other: Direction) -> int | None:
    """1 when both say the same, -1 the opposite, 0 when it cannot be told, None when unrelated."""
    sign = ours.sign * other.sign
    axes = {ours.axis, other.axis}
    if axes == {"size", "quality"}:
        sign *= ours.polarity if ours.axis == "size" else other.polarity
    elif len(axes) > 1 and axes != {"size", "trend"}:
        return None
    if "trend" in axes or not (ours.object or other.object):
        return sign
    subject, target = _exclusive(ours)
    their_subject, their_target = _exclusive(other)
    forth, back = _overlap(subject, their_target), _overlap(target, their_subject)
    if ours.object and other.object:
        straight = _overlap(target, their_target)
        if forth and back and forth + back > _CLEAR * straight:
            return -sign
        return sign if straight >= forth + back and (straight or not (forth or back)) else 0
    straight = _overlap(subject, their_subject)
    if forth + back > _CLEAR * straight:
        return -sign
    return sign if straight >= forth + back else 0


def _exclusive(direction: Direction) -> tuple[dict[str, float], dict[str, float]]:
    both = (direction.subject.keys() & direction.object.keys()) | QUANTITY_STEMS
    return (
        {word: near for word, near in direction.subject.items() if word not in both},
        {word: near for word, near in direction.object.items() if word not in both},
    )


def _overlap(first: dict[str, float], second: dict[str, float]) -> float:
    return sum(min(first[word], second[word]) for word in first.keys() & second.keys())
