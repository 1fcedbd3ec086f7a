"""Which names go with which numbers, or with which of two findings, in a claim and in a text.

"A finds 62 %, B 35 %" is parted into what stands with 62 % and what stands with 35 %. A sentence in which
A's words stand with 35 % and B's with 62 % has the two exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from expbench.judges.directions import QUANTITY_STEMS, polarity_at
from expbench.judges.lexicon import word_set
from expbench.judges.passages import Passage
from expbench.judges.senses import is_comparison, negates, sense
from expbench.judges.values import same
from expbench.judges.words import Token

_CONTRAST = word_set(
    "while whereas but although though versus vs against instead yet compared than"
)
_NOTHING = word_set("nothing none zero")
_DENYING = word_set("unchanged unaffected none neither nor nothing no cannot without keeps keep")
_IN_NAME = re.compile(r"[A-Za-z][\^-]?$")
_MODIFIER = re.compile(r"-[A-Za-z]")
_MOST = 60
"""Words of a sentence that are looked at."""
_FACTOR = 30
_UNITS = frozenset(("s", "ms", "point", "pp", "x", "second", "minut", "hour"))
_Anchor = tuple[int, Token | str]
_Anchors = Callable[[Passage], list[_Anchor]]


@dataclass(frozen=True)
class _Segment:
    anchor: Token | str
    words: frozenset[str]
    subject: frozenset[str]
    """Of its words those before the anchor."""
    apart: bool
    """Whether there is a word between its anchor and the one before."""


def exchanged(claim: Passage, passage: Sequence[Passage]) -> bool:
    """Whether two numbers, or two findings, of the claim stand with each other's words."""
    return any(_exchanged(claim, passage, anchors) for anchors in (_numbers, _findings))


def _exchanged(claim: Passage, passage: Sequence[Passage], anchors: _Anchors) -> bool:
    ours = _segments(claim, anchors)
    if len(ours) < 2:
        return False
    theirs = [_segments(part, anchors) for part in passage]
    return any(
        _changed_places(first, second, part)
        for first, second in pairwise(ours)
        if second.apart
        and _of_one_kind(first.anchor, second.anchor)
        and not _alike(first.anchor, second.anchor)
        for part in theirs
    )


def _changed_places(first: _Segment, second: _Segment, part: Sequence[_Segment]) -> bool:
    with_first = [each.words for each in part if _alike(first.anchor, each.anchor)]
    with_second = [each.words for each in part if _alike(second.anchor, each.anchor)]
    if len(with_first) != 1 or len(with_second) != 1:
        return False
    near_first, near_second = with_first[0] - with_second[0], with_second[0] - with_first[0]
    return any(
        _is_crossed(one - other, other - one, near_first, near_second)
        for one, other in ((first.words, second.words), (first.subject, second.subject))
    )


def _is_crossed(
    one: frozenset[str],
    other: frozenset[str],
    near_first: frozenset[str],
    near_second: frozenset[str],
) -> bool:
    """Whether more has changed places than has stayed; what is said of all alike stands with one only."""
    straight = len(one & near_first), len(other & near_second)
    crossed = len(one & near_second), len(other & near_first)
    return all(crossed) and sum(crossed) > (sum(straight) if all(straight) else 0)


def _segments(part: Passage, anchors: _Anchors) -> list[_Segment]:
    found = anchors(part)
    places = [place for place, _ in found]
    apart = [True, *(bool(_words(part, range(a + 1, b)) - _UNITS) for a, b in pairwise(places))]
    bounds = [0, *(_parting(part, a, b) for a, b in pairwise(places)), min(len(part.words), _MOST)]
    return [
        _Segment(anchor, _words(part, range(begin, end)), _words(part, range(begin, at)), alone)
        for (at, anchor), alone, (begin, end) in zip(found, apart, pairwise(bounds), strict=False)
    ]


def _words(part: Passage, places: range) -> frozenset[str]:
    return frozenset(
        token.stem
        for at in places
        if (token := part.tokens[at]).content
        and token.stem not in QUANTITY_STEMS
        and part.words[at] not in _CONTRAST
        and not is_comparison(part.words[at])
    )


def _parting(part: Passage, first: int, last: int) -> int:
    """Where the sentence is parted between two anchors: at its strongest joint."""
    joints = [(strength, at) for at in range(first + 1, last + 1) if (strength := _joint(part, at))]
    return max(joints)[1] if joints else first + 1


def _joint(part: Passage, at: int) -> int:
    between = part.quote[part.tokens[at - 1].end : part.tokens[at].start]
    if ";" in between or ": " in between:
        return 4
    if part.words[at] in _CONTRAST and not any(t.number for t in part.tokens[at + 1 : at + 2]):
        return 3
    if "," in between:
        return 2
    return int(part.words[at] == "and")


def _numbers(part: Passage) -> list[_Anchor]:
    """Numbers that are no part of a name, and what says that there is none."""
    found: list[_Anchor] = []
    for at, token in enumerate(part.tokens[:_MOST]):
        if token.number and not token.spelled:
            before = part.quote[max(token.start - 3, 0) : token.start]
            after = part.quote[token.end : token.end + 2]
            if not (_IN_NAME.search(before) or _MODIFIER.match(after)):
                found.append((at, token))
        elif part.words[at] in _NOTHING:
            found.append((at, "nothing"))
    return found


def _findings(part: Passage) -> list[_Anchor]:
    """What is found of each: that it is better or worse, has more or less, or does not."""
    found: list[_Anchor] = []
    for at, word in enumerate(part.words[:_MOST]):
        said = sense(part, at)
        if said is not None:
            better = said.axis == "quality"
            polarity = 0 if better or said.changes else polarity_at(part, at)
            sign = said.sign * (polarity or 1)
            up, down = ("better", "worse") if better or polarity else ("more", "less")
            found.append((at, up if sign > 0 else down))
        elif negates(part, at) or word in _DENYING:
            found.append((at, "not"))
    return found


def _of_one_kind(first: Token | str, second: Token | str) -> bool:
    """Whether both may be values of one quantity: written alike and of about one size."""
    if isinstance(first, str) or isinstance(second, str):
        return True
    if not (first.number and second.number):
        return False
    if first.number.percent and second.number.percent:
        return True
    small, large = sorted(abs(each.number.values[0]) for each in (first, second) if each.number)
    written = {(each.number.percent, each.number.whole) for each in (first, second) if each.number}
    return len(written) == 1 and large <= _FACTOR * small


def _alike(first: Token | str, second: Token | str) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    if not (first.number and second.number):
        return False
    return same(first.number, second.number, exact=False)
