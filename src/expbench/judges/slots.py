"""Whether a text gives another value to what an item gives its value to.

"1000 rounds" and "rounds: 1000" give 1000 to rounds; a text that has rounds with numbers beside them,
and never with this one, gives another value.
"""

from __future__ import annotations

from collections.abc import Sequence

from expbench.judges.index import Index
from expbench.judges.values import missing
from expbench.judges.words import Token

_REACH = 2
_LIST_MARKS = frozenset(",;|\n")
_SUM_MARKS = frozenset("/+")


def given_otherwise(
    item: str, words: Sequence[Token], numbers: Sequence[Token], index: Index
) -> bool:
    """Whether for one of the item's numbers the text has others beside its word, and never it."""
    places = {token.start: at for at, token in enumerate(words)}
    return any(
        _otherwise(number, numbers, _words_beside(words, places[number.start], item), index)
        for number in numbers
        if number.start in places
    )


def _otherwise(
    number: Token, numbers: Sequence[Token], words: Sequence[Token], index: Index
) -> bool:
    other = False
    for place in sorted({at for word in words for at in index.places(word)}):
        around = _numbers_beside(index, place)
        if around and not missing([number], around, exact=True):
            return False
        other = other or bool(missing(around, numbers, exact=True))
    return other


def _words_beside(words: Sequence[Token], at: int, text: str) -> list[Token]:
    """The nearest telling word on each side of a number, with no mark of a list between.

    What stands right behind a colon belongs to all words before it.
    """
    found = []
    for step in (-1, 1):
        for place in _reached(words, at, step, text, _LIST_MARKS | _SUM_MARKS):
            if words[place].number:
                break
            if words[place].content:
                found.append(words[place])
                break
    before = text[words[at - 1].end : words[at].start] if at else ""
    return [t for t in words[:at] if t.content] if ":" in before else found


def _numbers_beside(index: Index, at: int) -> list[Token]:
    found = []
    for step in (-1, 1):
        for place in _reached(index.tokens, at, step, index.text, _LIST_MARKS):
            if index.tokens[place].number:
                found.append(index.tokens[place])
                break
    return found


def _reached(
    words: Sequence[Token], at: int, step: int, text: str, marks: frozenset[str]
) -> list[int]:
    """The places up to two words away in one direction, up to one of the marks."""
    found = []
    for place in range(at + step, at + step * (_REACH + 1), step):
        if not 0 <= place < len(words):
            break
        first, second = sorted((place, place - step))
        if not marks.isdisjoint(text[words[first].end : words[second].start]):
            break
        found.append(place)
    return found
