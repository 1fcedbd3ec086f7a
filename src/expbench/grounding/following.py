"""Numbers that are said in one breath with another: *0.88 against 0.71*, *from 0.91 down to 0.61*.

Of the second no name may be said at all: it is the other one's, or the other end's. Once one was found
in the outputs, the other is looked for among the numbers that differ from it in one label only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from expbench.grounding.binding import SURE
from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.names import Token, label_tokens
from expbench.grounding.outputs import Outputs
from expbench.grounding.pairs import one_apart
from expbench.grounding.scene import Place, Scene

_AGAINST = re.compile(
    r"\s?%?\)?(?:\sper\s\w+)?,?\s(?:vs\.?|versus|against|compared (?:with|to)|instead of|rather than|"
    r"where \S+ \S+)\s"
    r"(?:only\s|about\s|the\s)?[$€£]?",
    re.IGNORECASE,
)
_TOWARDS = re.compile(
    r"\s?%?\s?(?:,?\s?(?:(?:drops?|falls?|r[io]ses?|fell|dropped|grows?|grew|climbs?|shrinks?|goes) )?"
    r"(?:down |up |over |on )?to\s(?:only\s|about\s|just\s)?[$€£]?|→\s?|->\s?|–\s?)",
    re.IGNORECASE,
)
_INTERVAL = re.compile(
    r"\s?%?,?\s?[(\[]?(?:(?:\d\d(?:\.\d)?\s?%[\s-])?(?:CI|(?:confidence|credible)?\s?interval|IQR)"
    r"(?:\s(?:of|from))?[\s:=]*[(\[]?|(?<=\[))",
    re.IGNORECASE,
)
"""Between a number and the interval that it has."""
_TO_HIGH = re.compile(r"\s?%?\s?(?:-|–|to|,|;)\s?")
_AND = re.compile(r"\s?%?\s(?:and)\s")
_FEW = 3
_PAIR = 2
_NEAR, _BEFORE = 40, 60
_MOST_TWINS = 8


@dataclass(frozen=True)
class Partners:
    """Finds the numbers of one conclusion that go with others."""

    scene: Scene
    pairs: Mapping[int, Cell]
    """By the end of a figure the number of the outputs that it was found to be."""
    equal: Callable[[Figure], Sequence[Cell]]
    """The numbers of the outputs that may be a figure's by their value."""

    def of(self, figure: Figure, honest: Sequence[Cell], bound: dict[Token, float]) -> Cell | None:
        """The number of the outputs that goes with the one beside it: *0.88 against 0.71*."""
        text, places = self.scene.conclusion.text, self.scene.places
        parallel = self._parallel(figure, honest, bound)
        if parallel is not None:
            return parallel
        before = [place for place in places if place[1] <= figure.start][-_PAIR:]
        behind = min((place for place in places if place[0] >= figure.end), default=None)
        found = self._interval(before, figure, honest)
        if found is not None:
            return found
        if before and before[-1][1] in self.pairs:
            between = text[before[-1][1] : figure.start]
            found = self._with(between, before[-1], honest, bound)
            if found is None and len(before) == _PAIR and _AND.fullmatch(between):
                against = text[before[0][1] : before[1][0]]
                found = _AGAINST.fullmatch(against) and self._with(
                    against, before[0], honest, bound
                )
        if found is None and behind is not None and behind[1] in self.pairs:
            found = self._with(text[figure.end : behind[0]], behind, honest, bound)
        return found or None

    def _interval(
        self, before: Sequence[Place], figure: Figure, honest: Sequence[Cell]
    ) -> Cell | None:
        """The end of an interval that stands in one line with the number before it: *0.85 (CI 0.84-0.87)*."""
        text = self.scene.conclusion.text
        one = self.pairs.get(before[-1][1]) if before else None
        if one is None:
            return None
        between = text[before[-1][1] : figure.start]
        high = len(before) == _PAIR and _TO_HIGH.fullmatch(between)
        low = text[before[0][1] : before[1][0]] if high else between
        if not _INTERVAL.fullmatch(low):
            return None
        return next((cell for cell in honest if cell is not one and _in_one_row(cell, one)), None)

    def _with(
        self, between: str, place: Place, honest: Sequence[Cell], bound: dict[Token, float]
    ) -> Cell | None:
        """The partner of a number wherever that one stands in the outputs under the same names."""
        one = self.pairs.get(place[1])
        if one is None:
            return None
        outputs = self.scene.outputs
        found = partner(between, one, honest, outputs, bound)
        if found is not None:
            return found
        own = next((f for f in self.scene.conclusion.figures if f.start == place[0]), None)
        for twin in self.equal(own)[:_MOST_TWINS] if own is not None else ():
            same = twin is not one and _names(one) <= twin.tokens
            found = partner(between, twin, honest, outputs, bound) if same else None
            if found is not None:
                return found
        return None

    def _parallel(
        self, figure: Figure, honest: Sequence[Cell], bound: dict[Token, float]
    ) -> Cell | None:
        """The second of *85.3 % on x and 74.3 % on y, compared to 80.5 % and 49.3 % for B*, pair by pair."""
        text, places = self.scene.conclusion.text, self.scene.places
        at = next((i for i, place in enumerate(places) if place[0] == figure.start), 0)
        for back in (0, 1):
            if at - back < _PAIR or at - back + 1 >= len(places):
                continue
            own, first = places[at - back : at - back + _PAIR], places[at - back - _PAIR]
            joined = re.fullmatch(r"\s?%?\s(?:and|/)\s", text[own[0][1] : own[1][0]])
            against = text[places[at - back - 1][1] : own[0][0]]
            named = re.search(
                r"(,?\s(?:vs\.?|versus|against|compared (?:with|to))\s)$", against[-_NEAR:]
            )
            one = self.pairs.get(places[at - _PAIR][1])
            if joined and named and first and one is not None and len(against) < _BEFORE:
                return partner(named[1], one, honest, self.scene.outputs, bound)
        return None


def _in_one_row(cell: Cell, other: Cell) -> bool:
    """Whether two numbers stand in one line, or under one name of a structure."""
    if cell.source != other.source:
        return False
    return cell.line == other.line if cell.line >= 0 else cell.labels[:-1] == other.labels[:-1]


def _words(tokens: Iterable[Token]) -> set[Token]:
    return {token for token in tokens if isinstance(token, str) and "=" not in token}


def _of_one_kind(own: frozenset[Token], firm: set[Token]) -> bool:
    """Whether what only one number stands under is a name that is said of it, and no condition beside."""
    numbers = {t for t in own if isinstance(t, float) or "=" in t}
    return bool(own & firm) and (not numbers or numbers == own)


def _names(cell: Cell) -> frozenset[Token]:
    """The words of a number that tell it from others, without the title that they stand under."""
    return frozenset(
        token
        for role, label in cell.labels
        if role != "title"
        for token in label_tokens(label)
        if isinstance(token, float) or "=" in token or token.isalpha()
    )


def partner(
    between: str, one: Cell, equal: Iterable[Cell], outputs: Outputs, bound: dict[Token, float]
) -> Cell | None:
    """The number that a figure is, where what stands between it and another one says that they are a pair.

    Args:
        between: the conclusion's text between the two.
        one: the number of the outputs that the other one was found to be.
        equal: numbers of the outputs that may be the figure's by their value.
        bound: the figure's labels; where one is bound surely, it has to have it.
    """
    against, towards = _AGAINST.fullmatch(between), _TOWARDS.fullmatch(between)
    if not against and not towards:
        return None
    firm = {token for token, strength in bound.items() if strength >= SURE}
    for cell in equal:
        differing = one_apart(one, cell)
        if differing is None or cell.value == one.value:
            continue
        named = _of_one_kind(cell.tokens - one.tokens, firm)
        if not firm <= cell.tokens and not (against and named and _words(firm) <= cell.tokens):
            continue
        others = [other for other in outputs.alike(one) if one_apart(one, other) == differing]
        last = bool(towards) and cell is others[-1]
        if named or len(others) <= _FEW or last or _extreme(cell, [one, *others]):
            return cell
    return None


def _extreme(cell: Cell, cells: Sequence[Cell]) -> bool:
    values = [each.value for each in cells]
    return cell.value in (min(values), max(values))
