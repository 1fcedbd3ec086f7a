"""Comparisons in a sentence: which way they point, and what is compared with what.

"A has a lower error than B" and "the error of B is higher than that of A" are the same comparison.
Each comparing word is read with its subject and, where it has one, the object that stands after
``than`` or after a transitive word such as ``beats``. Two comparisons agree when they point the
same way with the same sides, or opposite ways with the sides exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from expbench.judges.lexicon import BENEFITS, COSTS, NEGATIONS, SUPERLATIVES, TRANSITIVE, word_set
from expbench.judges.numbers import Number
from expbench.judges.passages import Passage
from expbench.judges.senses import Sense, is_comparison, sense
from expbench.judges.values import same
from expbench.judges.words import Token, stem

_SIDE = 9
_OBJECT = 5
_QUANTITY_AFTER = 3
_QUANTITY_BEFORE = 2
_CLEAR = 1.3
_NEGATED_WORD = 6
_AGREEING_SHARE = 0.4
_AS_NEAR = 0.8
_NUMBER_CLOSENESS = 0.5
_CONTRAST = word_set(
    "while whereas but although though where and then as since because when if which yet so"
)
_SYMBOLS = {">": 1, "≥": 1}
"""Between two names, "A > B" says that A is better."""
_NEGATIVE = stem("negative")
"""Of a negative likelihood or reward."""
_COST = stem("cost")
"""What it costs of anything is better small: "costs less accuracy"."""
_THAN = ("than", "versus", "vs", "against", "compared", "relative")

_OVER = ("over",)
_POSSESSIVE = ("its", "their")
"""What is lost or won with one of these before it is no opponent, so nothing is compared."""

_POLARITY = {**{stem(w): -1 for w in COSTS}, **{stem(w): 1 for w in BENEFITS}}
QUANTITY_STEMS = frozenset(_POLARITY)
_PREPOSITIONS = word_set(
    "in at by to with for from on of until when as among everywhere throughout and"
)
"""With one of these behind it a transitive word has no opponent."""


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
    lead: dict[str, float]
    """Of the subject what stands before the word; of a clause without any, the last one's."""
    subject: dict[str, float]
    object: dict[str, float]
    numbers: tuple[Number, ...]
    alone: bool = False
    """Whether it singles one out of all."""
    changes: bool = False
    """Whether it tells of a change."""


def directions(part: Passage, counts: Counter[str]) -> list[Direction]:
    """Every comparison in ``part``. Words that are frequent in ``counts`` weigh less."""
    words = part.words
    parts = clauses(part)
    found: list[Direction] = []
    for place, word in enumerate(words):
        said = sense(part, place)
        following = words[place + 1] if place + 1 < len(words) else ""
        if said is None or (word in TRANSITIVE and following in _POSSESSIVE):
            continue
        found.append(_direction(part, place, said, counts, parts, found[-1] if found else None))
    return found


@dataclass(frozen=True)
class Balance:
    """How nearly the comparisons of a text agree with those of a claim, and how nearly they oppose."""

    support: float = 0.0
    against: float = 0.0


def balance(ours: Sequence[Direction], theirs: Sequence[Direction]) -> list[Balance]:
    """For each comparison of ``ours`` what its nearest counterparts in ``theirs`` say."""
    against: dict[int, float] = {}
    agreeing: dict[int, float] = {}
    for other in theirs:
        related = [
            (_closeness(own, other), index, says)
            for index, own in enumerate(ours)
            if (says := relation(own, other)) is not None
        ]
        if not related:
            continue
        nearest = max(related)
        explained = False
        for closeness, index, says in related:
            if says != -1:
                explained = explained or closeness >= _AS_NEAR * nearest[0]
                certain = says == 1 or ours[index].sign == other.sign
                support = closeness if certain else _AGREEING_SHARE * closeness
                agreeing[index] = max(agreeing.get(index, 0.0), support)
        if nearest[2] == -1 and not explained:
            against[nearest[1]] = max(against.get(nearest[1], 0.0), nearest[0])
    return [Balance(agreeing.get(i, 0.0), against.get(i, 0.0)) for i in range(len(ours))]


def _direction(
    part: Passage,
    place: int,
    said: Sense,
    counts: Counter[str],
    parts: Sequence[range],
    last: Direction | None,
) -> Direction:
    words, tokens = part.words, part.tokens
    word = words[place]
    before = list(_clause(part, place, -1, parts))
    after = list(_clause(part, place, 1, parts))
    split = _object_start(part, word, said, after)
    rest = after[:split] if split is not None else after
    lead = _side(part, before, counts)
    if not lead and last:
        lead = last.lead
    subject = lead | _side(part, rest, counts)
    target = _side(part, after[split : split + _OBJECT], counts) if split is not None else {}
    if word in TRANSITIVE and words[place + 1 : place + 2] == ["by"]:
        subject, target = target, subject
    if said.alone and target:
        subject, target, lead = target, {}, {}
    near = [tokens[at] for at in (*before, *after)]
    polarity = _polarity([tokens[at] for at in after], [tokens[at] for at in before])
    return Direction(
        word=word,
        axis=said.axis,
        sign=said.sign,
        polarity=_SYMBOLS.get(word, polarity),
        lead=lead,
        subject=subject,
        object=target,
        numbers=tuple(t.number for t in near if t.number and t.number.decimals),
        alone=said.alone,
        changes=said.changes,
    )


def polarity_at(part: Passage, place: int) -> int:
    """1 where more of what is compared there is better, -1 where less is, 0 where it is not known."""
    after = part.tokens[place + 1 : place + 1 + _QUANTITY_AFTER]
    return _polarity(after, part.tokens[max(place - _QUANTITY_BEFORE, 0) : place][::-1])


def _object_start(part: Passage, word: str, said: Sense, after: Sequence[int]) -> int | None:
    """Where in ``after`` the other side begins, if the comparison names one."""
    if word in SUPERLATIVES:
        return None
    if (
        word in TRANSITIVE
        and after
        and part.words[after[0]] not in _PREPOSITIONS - {"to", "of", "by"}
    ):
        return 0
    joints = _THAN + _OVER if said.axis == "quality" else _THAN
    for index, at in enumerate(after[:-1]):
        if part.words[at] in joints and not part.tokens[after[index + 1]].number:
            return index + 1
    return None


def _clause(part: Passage, place: int, step: int, parts: Sequence[range]) -> Iterator[int]:
    """The places beside ``place`` in one direction, within its clause."""
    own = next(clause for clause in parts if place in clause)
    for at in range(place + step, place + step * (_SIDE + 1), step):
        if at not in own:
            return
        first, second = sorted((at, at - step))
        between = part.quote[part.tokens[first].end : part.tokens[second].start]
        if ": " in between or ";" in between:
            return
        yield at


def clauses(part: Passage) -> list[range]:
    """The places of a sentence's tokens by clauses: each has a comparison, where there is one.

    Between two comparisons the sentence is parted at its strongest joint: a semicolon or colon, else a
    word that begins a clause, else a comma.
    """
    bounds = [0]
    compared = False
    joints: list[tuple[int, int]] = []
    for at, word in enumerate(part.words):
        if at and (strength := _joint(part, at)):
            joints.append((strength, at))
        if is_comparison(word):
            if compared and joints:
                bounds.append(max(joints)[1])
            compared, joints = True, []
    bounds.append(len(part.words))
    return [range(a, b) for a, b in pairwise(bounds)]


def _joint(part: Passage, at: int) -> int:
    """How strongly the sentence is parted before a token; 0 where it is not."""
    between = part.quote[part.tokens[at - 1].end : part.tokens[at].start]
    if ";" in between or ": " in between:
        return 3
    if part.words[at] in _CONTRAST:
        return 2
    return int("," in between)


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
    if any(token.stem == _COST for token in before[:_QUANTITY_BEFORE]):
        return -1
    near = (*after[:_QUANTITY_AFTER], *before[:_QUANTITY_BEFORE])
    if any(token.stem == _NEGATIVE for token in near):
        return -1
    return next((_POLARITY[token.stem] for token in near if token.stem in _POLARITY), 0)


def _closeness(ours: Direction, other: Direction) -> float:
    shared = sum(any(same(n, o, exact=False) for o in other.numbers) for n in ours.numbers)
    words = overlap(ours.subject | ours.object, other.subject | other.object)
    return words + _NUMBER_CLOSENESS * shared


def relation(ours: Direction, other: Direction) -> int | None:
    """1 when both say the same, -1 the opposite, 0 when it cannot be told, None when unrelated."""
    sign = ours.sign * other.sign
    axes = {ours.axis, other.axis}
    if "quality" in axes and axes <= {"size", "trend", "quality"} and len(axes) > 1:
        sign *= ours.polarity if ours.axis != "quality" else other.polarity
    elif len(axes) > 1 and axes != {"size", "trend"}:
        return None
    if (ours.alone and other.changes) or (ours.changes and other.alone):
        return None
    if "trend" in axes or not (ours.object or other.object):
        return sign
    subject, target = _exclusive(ours)
    their_subject, their_target = _exclusive(other)
    forth, back = overlap(subject, their_target), overlap(target, their_subject)
    if ours.object and other.object:
        straight = overlap(target, their_target)
        if forth and back and forth + back > _CLEAR * straight:
            return -sign
        return sign if straight >= forth + back and (straight or not (forth or back)) else 0
    whole, bare = (ours, other) if ours.object else (other, ours)
    crossed = _names(whole.object, whole.subject.keys()).keys() & bare.lead.keys()
    if crossed and not whole.lead.keys() & bare.lead.keys() - QUANTITY_STEMS:
        return -sign
    straight = overlap(subject, their_subject)
    if forth + back > _CLEAR * straight:
        return -sign
    return sign if straight >= forth + back else 0


def _exclusive(direction: Direction) -> tuple[dict[str, float], dict[str, float]]:
    both = direction.subject.keys() & direction.object.keys()
    return _names(direction.subject, both), _names(direction.object, both)


def _names(side: dict[str, float], both: Set[str]) -> dict[str, float]:
    """What sets a side apart: its own words but quantities, or these where it has nothing else."""
    own = {word: near for word, near in side.items() if word not in both}
    return {word: near for word, near in own.items() if word not in QUANTITY_STEMS} or own


def overlap(first: dict[str, float], second: dict[str, float]) -> float:
    return sum(min(first[word], second[word]) for word in first.keys() & second.keys())
