"""Whether two numbers of a claim are given to each other's conditions.

"400 rounds at 4 changes, 200 at 9" binds 400 to 4 and 200 to 9; a sentence with 400 at 9 says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from expbench.judges.lexicon import word_set
from expbench.judges.passages import Passage
from expbench.judges.values import same
from expbench.judges.words import Token

_AT = word_set("at for with in under when by")
_UP_TO, _BEHIND = 4, 3
"""Words between a number and the preposition of its condition, and between that and the condition."""
_MOST = 80
_Pair = tuple[Token, Token]


def bound_otherwise(claim: Passage, passage: Sequence[Passage]) -> bool:
    """Whether a number of the claim stands with the condition of another one, and never with its own."""
    ours = _pairs(claim)
    theirs = [pair for part in passage for pair in _pairs(part)]
    for value, condition in ours:
        with_it = [each for each in theirs if _alike(value, each[0])]
        others = [other for _, other in ours if not _alike(other, condition)]
        if sum(_alike(value, token) for token in claim.tokens) > 1:
            continue
        if any(_alike(condition, each[1]) for each in with_it):
            continue
        if any(_alike(other, each[1]) for each in with_it for other in others):
            return True
    return False


def _pairs(part: Passage) -> list[_Pair]:
    found: list[_Pair] = []
    for at, token in enumerate(part.tokens[:_MOST]):
        if token.number and (condition := _condition(part, at)):
            found.append((token, condition))
    return found


def _condition(part: Passage, at: int) -> Token | None:
    """The number that is bound to the one at a place by a preposition, nothing parting the two."""
    preposition = 0
    for place in range(at + 1, min(at + 2 + _UP_TO + _BEHIND, len(part.tokens))):
        between = part.quote[part.tokens[place - 1].end : part.tokens[place].start]
        if set(between) & set(",;:"):
            return None
        token = part.tokens[place]
        if token.number:
            near = preposition and place - preposition <= _BEHIND
            return token if near else None
        if part.words[place] in _AT and not preposition and place - at <= _UP_TO:
            preposition = place
        elif part.words[place] in ("and", "while", "but", "or"):
            return None
    return None


def _alike(first: Token, second: Token) -> bool:
    if not (first.number and second.number):
        return False
    return same(first.number, second.number, exact=False)
