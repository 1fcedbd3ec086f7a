"""Who is said to be more or better than whom: comparisons of a sentence with their two sides.

A comparison is read from its construction ("A beats B", "B is beaten by A", "compared with B, A has
the lower error", "B needs twice as many steps as A") and brought into one form, in which better is
better whatever the measure. Two of them are the same, opposite, or not to be compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from expbench.judges.directions import QUANTITY_STEMS, clauses, polarity_at
from expbench.judges.lexicon import SUPERLATIVES, TRANSITIVE, word_set
from expbench.judges.passages import Passage
from expbench.judges.senses import Sense, is_comparison, sense

_REACH = 12
_SIDE_WORDS = 6
_HALF = 0.5
_AS_NEAR = 0.8
_PLENTY = 0.6
"""The share of its words from which on a comparison is the same one for certain."""
_NAMED_A = "A"
"""An A that is no article."""
_JOINTS = word_set("than versus vs against compared relative")
_LINKS = word_set("to with by of from the a an that those in")
_ENDS = word_set(
    "at on in for when if where under with by after while whereas and but because as is are was were does do "
    "did has have although though which whereas since until per between using"
)
_PASSIVE = word_set("is are was were be been being gets get")
_ACTIVE = word_set("outperformed surpassed exceeded overtaken dominated outranked undercut led")
_DEMANDS = word_set(
    "need needs needed require requires required take takes took cost costs consume consumes use uses used"
)
_OF_COST = word_set(
    "faster fastest slower slowest cheaper cheapest costlier costliest pricier dearer"
)
_PREFERS = word_set(
    "prefer prefers preferred favour favours favoured favor favors favored choose chose chosen"
)
_LEVEL = word_set("equally par equals matches matched match")
_TIMES = {"twice": 1, "double": 1, "thrice": 1, "times": 1, "half": -1, "third": -1, "quarter": -1}
_WHERE = ("above", "below")
_AMOUNTS = {"less": -1, "fewer": -1, "lower": -1, "smaller": -1, "more": 1}
_SCALES = word_set("many much often long large high big slow expensive costly")
_FAST = word_set("fast quick cheap good accurate well")
_FEW = word_set("few little rarely short small low")


@dataclass(frozen=True)
class Statement:
    """A comparison in one form.

    ``better`` is 1 or -1 for whether the subject is the better one, 0 where that is not known; ``more``
    whether it has more of what is compared, 0 for plain quality. ``level`` is that both are equal.
    """

    subject: frozenset[str]
    object: frozenset[str]
    better: int
    more: int
    changes: bool = False
    alone: bool = False
    level: bool = False

    @property
    def sides(self) -> frozenset[str]:
        return self.subject | self.object


def statements(part: Passage) -> list[Statement]:
    """Every comparison of a sentence, in order."""
    bounds = [clause.start for clause in clauses(part)]
    found = []
    for place, word in enumerate(part.words):
        own = bisect_right(bounds, place) - 1
        begin = bounds[own]
        end = bounds[own + 1] if own + 1 < len(bounds) else len(part.words)
        reach = range(max(begin, place - _REACH), min(end, place + 1 + _REACH))
        if _is_condition(part, place):
            continue
        if said := sense(part, place) or _part_of(part, place, reach):
            found.append(_compared(part, place, said, reach))
        elif word in _PREFERS:
            found.append(_preferred(part, place, reach))
        elif word == "as" and (level := _as_much(part, place, reach)):
            found.append(level)
        elif word in _LEVEL:
            found.append(_equal(part, place, reach))
    return found


def _is_condition(part: Passage, place: int) -> bool:
    """Whether "below it" and the like say where, or "loses its lead" what, and nothing is compared."""
    word = part.words[place]
    following = part.words[place + 1 : place + 2]
    if word in _WHERE:
        return following in (["it"], ["that"], ["this"]) or bool(
            place + 1 < len(part.tokens) and part.tokens[place + 1].number
        )
    return word in TRANSITIVE and following in (["its"], ["their"])


def _compared(part: Passage, place: int, said: Sense, reach: range) -> Statement:
    word, sign = part.words[place], said.sign
    start = _joint(part, place, said, reach)
    passive = word in _ACTIVE and part.words[place + 1 : place + 2] == ["by"]
    if passive and not _PASSIVE.isdisjoint(part.words[max(place - 3, 0) : place]):
        sign = -sign
    target = _side(part, range(start, reach.stop)) if start else frozenset()
    lead = _side(part, range(reach.start, place), every=True)
    if start:
        lead |= _side(part, range(place + 1, start), every=True)
    else:
        lead |= _side(part, range(place + 1, reach.stop), every=True)
        target, lead = _set_against(part, reach, place, lead)
    better, more = _sense_of(part, place, said, sign)
    return Statement(lead - target, target - lead, better, more, said.changes, said.alone)


def _part_of(part: Passage, place: int, reach: range) -> Sense | None:
    """What "less than half that of" says, and "more than twice the cost of"."""
    sign = _AMOUNTS.get(part.words[place])
    begin = place + 2
    if sign is None or part.words[place + 1 : begin] != ["than"] or begin >= reach.stop:
        return None
    fraction = part.tokens[begin].number or part.words[begin] in _TIMES
    return Sense("size", sign) if fraction and _that_of(part, begin, reach) else None


def _sense_of(part: Passage, place: int, said: Sense, sign: int) -> tuple[int, int]:
    """Whether the subject is better, and whether it has more."""
    if said.axis == "quality":
        return sign, 0
    if part.words[place] in _OF_COST:
        return -sign, sign
    if not _DEMANDS.isdisjoint(part.words[max(place - 3, 0) : place]):
        return -sign, sign
    return sign * polarity_at(part, place), sign


def _joint(part: Passage, place: int, said: Sense, reach: range) -> int:
    """Where the other side begins; 0 when none is named."""
    words = part.words
    word = words[place]
    if word in SUPERLATIVES and word not in TRANSITIVE:
        return 0
    following = words[place + 1] if place + 1 < reach.stop else ""
    if word in TRANSITIVE or following == "to":
        if following and (following not in _ENDS or following in ("by",)):
            return _skipped(part, place + 1, reach)
        return 0
    for at in range(place + 1, reach.stop):
        if is_comparison(words[at]) and words[at] not in _JOINTS and at > place + 2:
            return 0
        if words[at] in _JOINTS or (words[at] == "over" and said.axis == "quality"):
            begin = _skipped(part, at + 1, reach)
            if begin < reach.stop and not part.tokens[begin].number:
                return begin
            return _that_of(part, begin, reach)
    return 0


def _skipped(part: Passage, at: int, reach: range) -> int:
    while at < reach.stop - 1 and part.words[at] in _LINKS and part.tokens[at].stem != _NAMED_A:
        at += 1
    return at


def _that_of(part: Passage, at: int, reach: range) -> int:
    """Behind "half that of" and the like."""
    for place in range(at, min(at + 4, reach.stop - 1)):
        if part.words[place] in ("that", "those", "of"):
            return _skipped(part, place, reach)
    return 0


def _set_against(
    part: Passage, reach: range, place: int, lead: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The sides of "compared with B, A is better"; else none and the subject as it is."""
    words = part.words
    for at in range(reach.start, place):
        if words[at] in ("compared", "relative", "unlike", "against", "versus"):
            begin = _skipped(part, at + 1, range(reach.start, place))
            for comma in range(begin + 1, place):
                if "," in _between(part, comma):
                    target = _side(part, range(begin, comma), every=True)
                    return target, lead - target
    return frozenset(), lead


def _preferred(part: Passage, place: int, reach: range) -> Statement:
    passive = not _PASSIVE.isdisjoint(part.words[max(place - 2, 0) : place])
    start = next(
        (at + 1 for at in range(place + 1, reach.stop) if part.words[at] in ("to", "over", "than")),
        0,
    )
    target = _side(part, range(start, reach.stop)) if start else frozenset()
    if passive:
        subject = _side(part, range(reach.start, place), every=True)
    else:
        subject = _side(part, range(place + 1, start - 1 if start else reach.stop), every=True)
    return Statement(subject - target, target - subject, 1, 0)


def _as_much(part: Passage, place: int, reach: range) -> Statement | None:
    """ "twice as often as", "as good as": what begins with the first "as"."""
    words = part.words
    second = next(
        (at for at in range(place + 2, min(place + 5, reach.stop)) if words[at] == "as"), 0
    )
    if not second:
        return None
    start = _skipped(part, second + 1, reach)
    target = _side(part, range(start, reach.stop))
    subject = _side(part, range(reach.start, second), every=True)
    factor = next((w for w in words[max(place - 2, 0) : place] if w in _TIMES), "")
    between = words[place + 1 : second]
    if not factor:
        return Statement(subject - target, target - subject, 0, 0, level=True)
    more = _TIMES[factor]
    if not _FAST.isdisjoint(between):
        return Statement(subject - target, target - subject, more, 0)
    if not _FEW.isdisjoint(between):
        more = -more
    better = 0 if _SCALES.isdisjoint(between) else more * polarity_at(part, second - 1)
    return Statement(subject - target, target - subject, better, more)


def _equal(part: Passage, place: int, reach: range) -> Statement:
    return Statement(_side(part, reach, every=True), frozenset(), 0, 0, level=True)


def _side(part: Passage, places: range, *, every: bool = False) -> frozenset[str]:
    """What sets a side apart; of an object no more than what follows at once."""
    found: list[str] = []
    for at in places:
        token = part.tokens[at]
        if (
            not every
            and at > places.start
            and (part.words[at] in _ENDS or set(_between(part, at)) & set(",;:()"))
        ):
            break
        if token.content and not is_comparison(part.words[at]) and token.stem not in QUANTITY_STEMS:
            found.append(token.stem)
    return frozenset(found if every else found[:_SIDE_WORDS])


def _between(part: Passage, at: int) -> str:
    return part.quote[part.tokens[at - 1].end : part.tokens[at].start] if at else ""


def says(ours: Statement, other: Statement) -> int | None:
    """1 when both say the same, -1 the opposite, None when it cannot be told."""
    if ours.changes != other.changes and (ours.alone or other.alone):
        return None
    if ours.level or other.level:
        return _says_level(ours, other)
    facing = _facing(ours, other)
    if facing is None:
        return None
    if ours.better and other.better:
        return facing * ours.better * other.better
    if ours.more and other.more and not (ours.better or other.better):
        return facing * ours.more * other.more
    return None


def _says_level(ours: Statement, other: Statement) -> int | None:
    """Of equal sides either may be named first, but both have to be."""
    named = all(side & other.sides for side in (ours.subject, ours.object))
    if not named:
        return None
    return 1 if ours.level and other.level else -1


def _facing(ours: Statement, other: Statement) -> int | None:
    """1 when the sides are the same, -1 when they have changed places."""
    if ours.object and other.object:
        straight = len(ours.object & other.object)
        crossed = len(ours.object & other.subject), len(ours.subject & other.object)
        if all(crossed) and sum(crossed) > straight:
            return -1
        return 1 if straight and straight > sum(crossed) else None
    if ours.object or other.object:
        whole, bare = (ours, other) if ours.object else (other, ours)
        subject, target = whole.subject & bare.subject, whole.object & bare.subject
        if bool(subject) == bool(target):
            return None
        return 1 if subject else -1
    shared = len(ours.subject & other.subject)
    return 1 if shared and shared >= _HALF * len(ours.subject) else None


def opposed(ours: Sequence[Statement], theirs: Sequence[Statement]) -> float:
    """How plainly a text says the opposite of a claim's comparisons, and not the same too; 0 to 1.

    Each comparison of the text speaks to those of the claim that it shares most words with.
    """
    compared = [own for own in ours if own.subject and not own.alone]
    agreeing = dict.fromkeys(range(len(compared)), 0.0)
    opposing = dict(agreeing)
    for other in theirs:
        if other.alone:
            continue
        related = [
            (len(own.sides & other.sides) / len(own.sides), at, said)
            for at, own in enumerate(compared)
            if (said := says(own, other)) is not None
        ]
        nearest = max((share for share, *_ in related), default=0.0)
        near = [each for each in related if each[0] >= _AS_NEAR * nearest]
        agrees = any(said == 1 for *_, said in near)
        for share, at, said in near:
            if said == 1:
                agreeing[at] = max(agreeing[at], share)
            elif not agrees:
                opposing[at] = max(opposing[at], share)
    plain = [share for at, share in opposing.items() if agreeing[at] < _AS_NEAR * share]
    return min(1.0, max(plain, default=0.0) / _PLENTY)
