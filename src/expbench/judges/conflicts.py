"""Whether the sentence nearest to a claim says it under another condition, or of more than the claim does.

"Below 4096 A is faster" and "above 4096 A is faster", "on explicit requests" and "on implicit ones", "only
with residuals" and "with and without residuals", "20 minutes" and "20 seconds": the words are the same but
for one that has an opposite. A condition that is merely not there tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from expbench.judges.lexicon import CONDITIONS, NEGATIONS, word_set
from expbench.judges.passages import Passage
from expbench.judges.senses import is_comparison
from expbench.judges.values import same
from expbench.judges.words import stem

_PREFIXES = (
    *(("homo", "hetero"), ("im", "ex"), ("over", "under"), ("macro", "micro"), ("intra", "inter")),
    *(("pre", "post"), ("uni", "multi"), ("mono", "multi"), ("up", "down")),
)
_DENYING = ("un", "in", "im", "non", "dis", "ir")
_COMMON = 4
"""Letters behind the prefixes that two opposites share."""
_MOST = 80
"""Words of a sentence that are looked at."""
_ABOVE = word_set("above over beyond exceeds exceed exceeding past > ≥")
_BELOW = word_set("below under until < ≤ till")
_MORE = word_set("more larger greater longer bigger higher wider deeper")
_LESS = word_set("less fewer smaller shorter lower")
_ALL = word_set("all both every each")
_RESTRICTING = word_set(
    "only not except nothing none no alone just merely solely single exclusively while whereas but save"
)
_APART = re.compile(
    r"\b(?:but|only|while|whereas|unlike)\b|[,;].*\b(?:not|no|nothing|none)\b", re.IGNORECASE
)
_ALIKE = re.compile(
    r"\bso (?:do|does|did|has|have|is|are|was|were|would)\b|\bboth\b|\bequally\b|\balike\b|"
    r"\bas (?:much|well|good|bad|often|little) as\b|\bneither\b|\beither\b",
    re.IGNORECASE,
)
_SOME = word_set("one two three four five six half most some several many few part")
_NOUN = 3
"""Words after a quantifier of which one is what it counts."""
_TIMES = {
    word: unit
    for unit in (
        "ms",
        "s sec second seconds",
        "min minute minutes",
        "h hour hours",
        "day days",
        "week weeks",
    )
    for word in unit.split()
}


def conflicts(claim: Passage, sentence: Passage) -> bool:
    """Whether a sentence that has most of a claim's words has the opposite of one of its conditions."""
    return (
        _is_opposite(claim, sentence)
        or _other_presence(claim, sentence)
        or _is_unrestricted(claim, sentence)
        or _is_levelled(claim, sentence)
        or _is_part(claim, sentence)
        or any(_other_bound(claim, sentence))
        or any(_other_unit(claim, sentence))
    )


def _is_opposite(claim: Passage, sentence: Passage) -> bool:
    """Whether one word of the claim has become its opposite; of two the one may make up for the other."""
    ours, theirs = _conditions(claim), _conditions(sentence)
    gone, new = ours - theirs, theirs - ours
    negated = not NEGATIONS.isdisjoint(claim.words) or not NEGATIONS.isdisjoint(sentence.words)
    found = [word for word in gone if any(_opposes(word, other, negated) for other in new)]
    return len(found) == 1


def _conditions(part: Passage) -> frozenset[str]:
    return frozenset(
        token.stem
        for token, word in zip(part.tokens[:_MOST], part.words, strict=False)
        if token.content and not is_comparison(word)
    )


def _opposes(one: str, other: str, negated: bool) -> bool:
    """Whether two words are opposites; "unscaled" and "scaled" are where neither is negated."""
    if other in _OPPOSITES.get(one, ()):
        return True
    if any(_differ_in_prefix(*pair, one, other) for pair in _PREFIXES):
        return True
    if negated:
        return False
    long, short = (one, other) if len(one) > len(other) else (other, one)
    return len(short) > _COMMON and any(long == prefix + short for prefix in _DENYING)


def _differ_in_prefix(first: str, second: str, one: str, other: str) -> bool:
    if not one.startswith(first):
        first, second = second, first
    rest, counterpart = one[len(first) :], other[len(second) :]
    begun = one.startswith(first) and other.startswith(second)
    return begun and len(rest) >= _COMMON and rest[:_COMMON] == counterpart[:_COMMON]


def _other_presence(claim: Passage, sentence: Passage) -> bool:
    """Whether "with" something has become "without" it, or the other way round."""
    ours, theirs = _presences(claim), _presences(sentence)
    return any(
        (word, not present) in theirs and (word, present) not in theirs for word, present in ours
    )


def _presences(part: Passage) -> set[tuple[str, bool]]:
    found = set()
    for at, word in enumerate(part.words[: _MOST - 1]):
        following = part.tokens[at + 1] if at + 1 < len(part.tokens) else None
        if word in ("with", "without") and following and following.content:
            found.add((following.stem, word == "with"))
    return found


def _is_unrestricted(claim: Passage, sentence: Passage) -> bool:
    """Whether a claim of one only is said of all."""
    ours, theirs = set(claim.words), set(sentence.words)
    return "only" in ours and bool(theirs & _ALL - ours) and not theirs & _RESTRICTING


def _is_levelled(claim: Passage, sentence: Passage) -> bool:
    """Whether what a claim sets against each other is said of both alike."""
    if not _ALL.isdisjoint(claim.words) or not _APART.search(claim.quote):
        return False
    return bool(_ALIKE.search(sentence.quote)) and not _ALIKE.search(claim.quote)


def _is_part(claim: Passage, sentence: Passage) -> bool:
    """Whether what a claim says of all of a kind is said of some of them, as in "two of the corpora"."""
    if not _ALL.isdisjoint(sentence.words):
        return False
    counted = {
        token.stem
        for at, word in enumerate(claim.words)
        if word in _ALL
        for token in claim.tokens[at + 1 : at + 1 + _NOUN]
        if token.content
    }
    return any(
        token.stem in counted
        for at, (word, following) in enumerate(pairwise(sentence.words[:_MOST]))
        if word in _SOME and following == "of"
        for token in sentence.tokens[at + 2 : at + 2 + _NOUN]
    )


def _other_bound(claim: Passage, sentence: Passage) -> Iterator[bool]:
    for at, token in enumerate(claim.tokens):
        if token.number and (own := bound(claim, at)):
            found = {
                bound(part, place)
                for part in (claim, sentence)
                for place, other in enumerate(part.tokens[:_MOST])
                if other.number and same(token.number, other.number, exact=True)
                if part is sentence or place != at
            }
            yield -own in found and own not in found


def bound(part: Passage, place: int) -> int:
    """1 for a number with "above" or "more than" before it, -1 for "below" or "fewer than", else 0."""
    before = part.words[max(place - 2, 0) : place]
    if not before:
        return 0
    if before[-1] in _ABOVE | _BELOW:
        return 1 if before[-1] in _ABOVE else -1
    if before[-1] == "than" and before[0] in _MORE | _LESS:
        denied = part.words[max(place - 3, 0) : place - 2] in (["no"], ["not"])
        return (1 if before[0] in _MORE else -1) * (-1 if denied else 1)
    return 0


def _other_unit(claim: Passage, sentence: Passage) -> Iterator[bool]:
    for at, token in enumerate(claim.tokens):
        if token.number and (own := _unit(claim, at)):
            found = {
                _unit(sentence, place)
                for place, other in enumerate(sentence.tokens[:_MOST])
                if other.number and same(token.number, other.number, exact=True)
            }
            yield bool(found - {""}) and own not in found


def _unit(part: Passage, place: int) -> str:
    following = part.words[place + 1] if place + 1 < len(part.words) else ""
    return _TIMES.get(following, "")


def _pairs() -> Iterator[tuple[str, str]]:
    for group in CONDITIONS:
        words = [stem(word) for word in group.split()]
        yield from ((a, b) for a in words for b in words if a != b)


_OPPOSITES: dict[str, set[str]] = {}
for _one, _other in _pairs():
    _OPPOSITES.setdefault(_one, set()).add(_other)
