"""Which words of a sentence compare, and what each of them says.

A word of comparison compares nothing as part of a condition ("at the smallest gap"), of the frame of a
list ("from best to worst"), of a count ("the first two"), or of a bound ("more than 5").
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from expbench.judges.lexicon import (
    CHANGING,
    DIRECTIONS,
    NEGATIONS,
    SUPERLATIVES,
    TRANSITIVE,
    VICES,
    VIRTUES,
    word_set,
)
from expbench.judges.passages import Passage

_SIGNS = {
    word: (axis, sign)
    for axis, (up, down) in DIRECTIONS.items()
    for sign, words in ((1, up), (-1, down))
    for word in words
}
_PLACED = word_set("place places rank rank position spot")
"""What may be first or last; other things are so only by being counted."""
_ORDINALS = ("first", "last")
_DEGREES = {"more": 1, "most": 1, "less": -1, "least": -1}
_CONDITIONAL = TRANSITIVE | word_set(
    "at for under from to than below above between until till past beyond whose over against of"
)
_ARTICLES = ("the", "its", "their", "a", "an")
_NEGATION_REACH = 4
_GOING = {"up": 1, "down": -1}
_MOVES = word_set(
    "go goes went gone going come comes came coming move moves moved drive drives bring brings"
)
_TIMES = word_set(
    "hour hours minute minutes second seconds step steps day days week weeks month months year years look"
)
_NOUNS = word_set(
    "gain gains increase decrease drop rise fall improvement benefit benefits help lead"
)
_LEADS = ("leads", "lead")
_BEFORE_NOUNS = frozenset(("",)) | word_set(
    "at for of the a in all both these those short long longer shorter later early late other its and"
)
"""With one of these before it a lead is a thing."""
_AMOUNTS = ("more", "less", "fewer")
_NO_MORE = ("longer", "more", "less")
_FALLING = ("falls", "fall", "fell", "fallen", "falling", "lags", "lag", "trails")
_NOBODY = word_set("nothing nobody none")


@dataclass(frozen=True)
class Sense:
    """What a comparing word says: along which axis, and which way.

    ``alone`` is that it singles one out of all, ``changes`` that it tells of a change.
    """

    axis: str
    sign: int
    alone: bool = False
    changes: bool = False


def is_comparison(word: str) -> bool:
    """Whether ``word``, in lower case, can compare."""
    return word in _SIGNS


def sense(part: Passage, place: int) -> Sense | None:
    """What the word at a place says, if it compares."""
    words = part.words
    word = words[place]
    if word in _GOING and place and words[place - 1] in _MOVES:
        return Sense("trend", _GOING[word], changes=True)
    if word not in _SIGNS or _is_idle(part, place):
        return None
    axis, sign = _SIGNS[word]
    following = words[place + 1] if place + 1 < len(words) else ""
    if word in _DEGREES and following in VIRTUES | VICES:
        axis, sign = "quality", _DEGREES[word] * (1 if following in VIRTUES else -1)
    nobody = _nobody_is(words, place)
    alone = word in SUPERLATIVES or nobody
    negative = not nobody and _is_negated(part, place)
    return Sense(axis, -sign if negative else sign, alone, axis == "trend" or word in CHANGING)


def _is_idle(part: Passage, place: int) -> bool:
    """Whether a word that may compare does not here."""
    words = part.words
    word = words[place]
    *_, earlier, before = ("", "", *words[max(place - 2, 0) : place])
    after = words[place + 1] if place + 1 < len(words) else ""
    if word in _ORDINALS:
        return before == "at" or _counts(part, place)
    return (
        before == "at"
        or (word in _FALLING and after == "behind")
        or (word in _NO_MORE and before == "no" and after != "than")
        or (word in _LEADS and (before in _BEFORE_NOUNS or _is_number(part, place + 1)))
        or (word == "ahead" and before in _TIMES)
        or (word == "front" and before != "in")
        or (word in _NOUNS and before in _ARTICLES and _compared_later(part, place))
        or (word in _AMOUNTS and after == "than" and _is_number(part, place + 2))
        or (word in SUPERLATIVES and earlier in _CONDITIONAL and before in _ARTICLES)
        or _is_frame(words, place)
    )


def _compared_later(part: Passage, place: int) -> bool:
    return any(is_comparison(word) for word in part.words[place + 1 :])


def _is_number(part: Passage, place: int) -> bool:
    return place < len(part.tokens) and part.tokens[place].number is not None


def _is_frame(words: list[str], place: int) -> bool:
    """Whether it is one end of "from best to worst"."""
    frames = (words[max(first - 1, 0) : first + 3] for first in (place, place - 2))
    return any(
        len(frame) == 4
        and (frame[0], frame[2]) == ("from", "to")
        and frame[1] in _SIGNS
        and frame[3] in _SIGNS
        for frame in frames
    )


def _counts(part: Passage, place: int) -> bool:
    """Whether "first" or "last" counts: "the first two", "the last iterate"."""
    if place + 1 == len(part.tokens):
        return False
    between = part.quote[part.tokens[place].end : part.tokens[place + 1].start]
    following = part.tokens[place + 1]
    counted = following.number is not None or following.content
    return between in (" ", "-") and counted and part.words[place + 1] not in _PLACED


def _nobody_is(words: list[str], place: int) -> bool:
    """Whether it is "nothing is worse than": what follows is the worst."""
    than = "than" in words[place + 1 : place + 3] or words[place] in TRANSITIVE
    before = words[max(place - _NEGATION_REACH, 0) : place]
    return than and not _NOBODY.isdisjoint(before)


def _is_negated(part: Passage, place: int) -> bool:
    """Whether a negation stands shortly before, or "at no", "in none" shortly after."""
    words = part.words
    after = words[place + 1 : place + 1 + _NEGATION_REACH]
    nowhere = any(
        preposition in ("at", "in", "for", "on") and word in ("no", "none")
        for preposition, word in pairwise(after)
    )
    return nowhere or any(negates(part, at) for at in range(max(place - _NEGATION_REACH, 0), place))


def negates(part: Passage, at: int) -> bool:
    """Whether a word is a negation; of "can't" it is the t."""
    word = part.words[at]
    if word == "t" and at:
        return part.quote[part.tokens[at].start - 1] in "'’"
    return word in NEGATIONS
