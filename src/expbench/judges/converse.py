"""Whether a text fits the opposite of a claim better than the claim.

"A beats B" is turned into what contradicts it: two of its names or numbers exchanged, or its comparisons
turned round. Both done at once say the same again ("B loses to A"), as does another order of its parts ("at
C, A beats B"). A sentence has the reading with which it shares the longest sequence of words in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from expbench.judges.directions import polarity_at
from expbench.judges.lexicon import word_set
from expbench.judges.passages import Passage
from expbench.judges.senses import negates, sense

_DENYING = word_set(
    "unchanged unaffected none neither nor nothing no cannot fails fail failed without"
)
_OPPOSITE = {"better": "worse", "worse": "better", "more": "less", "less": "more"}
_ENOUGH, _PLENTY = 0.4, 0.7
"""Shares of the claim's words that a sentence has to have to count at all, and to count fully."""
_LONG = 8
"""Words of a claim from which on one word of difference is no plain sign."""
_LONGEST = 40
"""Words of a claim and of a sentence that are compared."""
_Word = tuple[str, str]
"""Its kind and itself: words change places only with words of their kind."""


@dataclass(frozen=True)
class _Reading:
    """How long a sequence the claim and its opposite share with a sentence."""

    claim: int
    opposite: int

    @property
    def most(self) -> int:
        return max(self.claim, self.opposite)


def converse(claim: Passage, sentences: Sequence[Passage]) -> float:
    """How plainly the sentence that is nearest to the claim says its opposite; 0 to 1."""
    ours = _sequence(claim)
    if not ours or not sentences:
        return 0.0
    readings = [_read(ours, _sequence(part)) for part in sentences]
    best = max(readings, key=lambda reading: reading.most)
    surplus = min(1.0, max(best.opposite - best.claim, 0) * _LONG / len(ours))
    share = (best.most / len(ours) - _ENOUGH) / (_PLENTY - _ENOUGH)
    return surplus * min(1.0, max(0.0, share))


def _read(ours: list[_Word], theirs: list[_Word]) -> _Reading:
    turned = [(kind, _OPPOSITE.get(word, word)) for kind, word in ours]
    compares = turned != ours
    claim = max(_shared(ours[at:] + ours[:at], theirs) for at in range(len(ours)))
    opposite = _shared(turned, theirs) if compares else 0
    for first, second in _exchangeable(ours, theirs):
        opposite = max(opposite, _shared(_exchanged(ours, first, second), theirs))
        if compares:
            claim = max(claim, _shared(_exchanged(turned, first, second), theirs))
    return _Reading(claim, opposite)


def _exchangeable(ours: list[_Word], theirs: list[_Word]) -> Iterator[tuple[int, int]]:
    """Places of two words of one kind that both texts have, with something between them."""
    known = set(theirs)
    places = [at for at, word in enumerate(ours) if word in known and word[0] != "fact"]
    for first, second in combinations(places, 2):
        alike = ours[first][0] == ours[second][0] and ours[first] != ours[second]
        if alike and second - first > 1:
            yield first, second


def _exchanged(words: list[_Word], first: int, second: int) -> list[_Word]:
    changed = list(words)
    changed[first], changed[second] = words[second], words[first]
    return changed


def _shared(one: Sequence[_Word], other: Sequence[_Word]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for at, counterpart in enumerate(other, 1):
            above = row[at]
            row[at] = diagonal + 1 if word == counterpart else max(above, row[at - 1])
            diagonal = above
    return row[-1]


def _sequence(part: Passage) -> list[_Word]:
    found: list[_Word] = []
    for at, token in enumerate(part.tokens):
        if finding := fact(part, at):
            found.append(("fact", finding))
        elif negates(part, at) or part.words[at] in _DENYING:
            found.append(("fact", "not"))
        elif token.number:
            kind = "result" if token.number.decimals else "number"
            found.append((kind, f"{abs(token.number.values[0]):g}"))
        elif token.content:
            found.append(("word", token.stem))
    return found[:_LONGEST]


def fact(part: Passage, at: int) -> str:
    """What a comparing word says of its subject, "" where it is none.

    Whether more is better is known of some quantities.
    """
    said = sense(part, at)
    if said is None:
        return ""
    better = said.axis == "quality"
    polarity = 0 if better or said.changes else polarity_at(part, at)
    sign = said.sign * (polarity or 1)
    if better or polarity:
        return "better" if sign > 0 else "worse"
    return "more" if sign > 0 else "less"
