"""Rows of numbers that go with a row of names: *lowest at 0.3, 0.6 and 1.2 (71.8, 49.7, 30.6)*.

A row is told by all of its numbers together: numbers of one table that differ in nothing but what the
sentence, or the one before it, enumerates in the same order. That says more than the nearest name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, pairwise, product

from expbench.grounding import cues
from expbench.grounding.agreeing import Agreeing
from expbench.grounding.cells import Cell
from expbench.grounding.compounds import is_compound
from expbench.grounding.figures import Figure
from expbench.grounding.names import Mention, Token
from expbench.grounding.scene import Place, Scene, is_number, is_weak

_Row = tuple[Place, ...]
_AGAINST = re.compile(r"(?:vs\.?|versus|against|compared (?:with|to))\s", re.IGNORECASE)
_MOST_EACH, _MOST = 12, 400
_FEWEST = 2
_LONGEST_GAP = 60
_BEHIND = 30


@dataclass
class Parallel:
    """Finds the numbers of a conclusion that stand in rows."""

    scene: Scene
    agreeing: Agreeing
    equal: Callable[[Figure], Sequence[Cell]]
    """The numbers of the outputs that may be a figure's by their value."""
    _found: dict[_Row, tuple[Cell, ...]] = field(default_factory=dict)

    def cell(self, figure: Figure) -> Cell | None:
        """The number of the outputs that a figure is by its place in a row."""
        own = (figure.start, figure.end)
        for row in self.rows(figure):
            cells = self._of(row)
            if cells:
                return cells[row.index(own)]
        return None

    def rows(self, figure: Figure) -> list[_Row]:
        """The rows that a figure may be of, from the longest on: its list, or an equal part of it."""
        series = self._series(figure)
        own = (figure.start, figure.end)
        found = [series] if len(series) >= _FEWEST else []
        for size in range(len(series) // 2, _FEWEST - 1, -1):
            if len(series) % size == 0:
                parts = [series[at : at + size] for at in range(0, len(series), size)]
                found += [part for part in parts if own in part]
        return found

    def beside(self, figure: Figure) -> list[tuple[Figure, Figure]]:
        """The two numbers that have a figure's place in the two rows before its own, if they are as long.

        *170.6 and 245.2 against 230.8 and 330.3, 26 % and 26 % less*.
        """
        row = self._series(figure)
        passage = self.scene.conclusion.passage(figure.start)
        if passage is None or len(row) < _FEWEST:
            return []
        unit = figure.unit
        figures = {(f.start, f.end): f for f in self.scene.conclusion.figures}
        row = tuple(place for place in row if figures[place].unit == unit)
        start = passage.sentence[0]
        before = [p for p in self.scene.places if start <= p[0] and p[1] <= row[0][0]]
        before = [p for p in before if figures[p].unit != unit][-2 * len(row) :]
        if len(before) != 2 * len(row) or (figure.start, figure.end) not in row:
            return []
        between = self.scene.conclusion.text[before[len(row) - 1][1] : before[len(row)][0]]
        if not _AGAINST.search(between):
            return []
        at = row.index((figure.start, figure.end))
        return [(figures[before[at]], figures[before[at + len(row)]])]

    def _series(self, figure: Figure) -> _Row:
        """The numbers of a passage that follow one another as a list around a figure."""
        passage = self.scene.conclusion.passage(figure.start)
        own = (figure.start, figure.end)
        if passage is None:
            return ()
        inside = [p for p in self.scene.places if passage.start <= p[0] < passage.end]
        if own not in inside:
            return ()
        text = self.scene.conclusion.text
        first = last = inside.index(own)
        while first and cues.LIST.fullmatch(text[inside[first - 1][1] : inside[first][0]]):
            first -= 1
        while last + 1 < len(inside) and cues.LIST.fullmatch(
            text[inside[last][1] : inside[last + 1][0]]
        ):
            last += 1
        return tuple(inside[first : last + 1])

    def _of(self, row: _Row) -> tuple[Cell, ...]:
        if row not in self._found:
            self._found[row] = next(self._chains(row), ()) or self._against(row)
        return self._found[row]

    def _against(self, row: _Row) -> tuple[Cell, ...]:
        """The numbers of a row that another one is compared with, whose own name may be left out."""
        places, size = self.scene.places, len(row)
        at = places.index(row[0])
        first = tuple(places[max(0, at - size) : at])
        if len(first) < size or not _AGAINST.search(
            self.scene.conclusion.text[first[-1][1] : row[0][0]]
        ):
            return ()
        cells = next(self._chains(first), ())
        than = frozenset().union(*(cell.tokens for cell in cells)) if cells else None
        found = next(self._chains(row, than), ()) if than else ()
        if not than or not found:
            return ()
        owner = than.difference(*(cell.tokens for cell in found))
        behind = self.scene.within(row[-1][1], row[-1][1] + _BEHIND)
        return () if any(names(m, token) for m in behind for token in owner) else found

    def _chains(
        self, row: _Row, than: frozenset[Token] | None = None
    ) -> Iterator[tuple[Cell, ...]]:
        """Numbers of one table for each of a row, under names that are enumerated in its order.

        Args:
            than: the names of a row that this one stands against, which are not said of it.
        """
        figures = {(f.start, f.end): f for f in self.scene.conclusion.figures}
        tables: list[dict[tuple[str, str], list[Cell]]] = []
        for place in row:
            table: dict[tuple[str, str], list[Cell]] = defaultdict(list)
            for cell in self.equal(figures[place]):
                table[cell.source, cell.group].append(cell)
            tables.append(table)
        shared = set.intersection(*(set(table) for table in tables))
        for key in sorted(shared):
            each = [table[key][:_MOST_EACH] for table in tables]
            for cells in islice(product(*each), _MOST):
                if self._enumerated(cells, row, than):
                    yield cells

    def _enumerated(self, cells: Sequence[Cell], row: _Row, than: frozenset[Token] | None) -> bool:
        """Whether numbers differ only in what a sentence enumerates in their order."""
        if len({id(cell) for cell in cells}) < len(cells):
            return False
        common = frozenset.intersection(*(cell.tokens for cell in cells))
        varying = [_plain(cell.tokens - common) for cell in cells]
        if not all(varying):
            return False
        kinds = {_kind(token) for own in varying for token in own}
        if any({_kind(token) for token in own} != kinds for own in varying):
            return False
        if len(kinds) > 1 and (len(row) == _FEWEST and self._compared(row)):
            return False
        for kind in kinds:
            listed = [frozenset(t for t in own if _kind(t) == kind) for own in varying]
            if not kind and self._crossed(cells[0], listed):
                return False
            parts = self._parts(row)
            if not any(
                self._in_order(listed, kind, part) or self._in_range(listed, kind, part)
                for part in parts
            ):
                return False
        start = row[0][0]
        return all(self.agreeing.degree(cell, start, common, than) > 0 for cell in cells)

    def _compared(self, row: _Row) -> bool:
        """Whether two numbers are set against each other, which differ in one thing then."""
        between = self.scene.conclusion.text[row[0][1] : row[-1][0]]
        return _AGAINST.search(between) is not None

    def _crossed(self, cell: Cell, listed: Sequence[frozenset[Token]]) -> bool:
        """Whether the table has a number under words of two of the names: they differ in two things."""
        table = self.scene.outputs.alike(cell)[:_MOST]
        for one, other in combinations(set(listed), 2):
            both = [(a, b) for a in one - other for b in other - one]
            if any(a in each.tokens and b in each.tokens for a, b in both for each in table):
                return True
        return False

    def _parts(self, row: _Row) -> list[Place]:
        """The sentence of a row and the one before it."""
        passages = self.scene.conclusion.passages
        passage = self.scene.conclusion.passage(row[0][0])
        if passage is None:
            return []
        earlier = [
            p.sentence
            for p in passages
            if p.block == passage.block and p.sentence[1] <= passage.sentence[0]
        ]
        return [passage.sentence, *earlier[-1:]]

    def _in_order(self, listed: Sequence[frozenset[Token]], kind: str, part: Place) -> bool:
        """Whether a part of the text names tokens one after the other, and none like them between."""
        order: list[tuple[Place, int | None]] = []
        for mention in self.scene.within(*part):
            at = self._place(mention, listed, kind)
            if at is None and not self._like(mention, listed, kind):
                continue
            where = (mention.start, mention.end)
            if order and at is not None and self._adds(order[-1], where, listed, at):
                order[-1] = ((order[-1][0][0], where[1]), at)
                continue
            if order and order[-1][0][1] > where[0]:
                if order[-1][1] is None:
                    order[-1] = (where, at)
                continue
            order.append((where, at))
        size = len(listed)
        for first in range(len(order) - size + 1):
            part_of = order[first : first + size]
            gaps = [b[0][0] - a[0][1] for a, b in pairwise(part_of)]
            same = all(
                at is not None and listed[at] == listed[i] for i, (_, at) in enumerate(part_of)
            )
            if same and max(gaps) <= _LONGEST_GAP:
                return True
        return False

    def _adds(
        self,
        last: tuple[Place, int | None],
        where: Place,
        listed: Sequence[frozenset[Token]],
        at: int,
    ) -> bool:
        """Whether a mention adds to the name before it: *GBM with reweighing*, where *GBM* is one too."""
        between = self.scene.conclusion.text[last[0][1] : where[0]]
        return (
            last[1] is not None
            and listed[last[1]] < listed[at]
            and re.fullmatch(r"\s?(?:with|plus|\+|-|/)?\s?", between) is not None
        )

    def _in_range(self, listed: Sequence[frozenset[Token]], kind: str, part: Place) -> bool:
        """Whether a part of the text says all values of a setting by the ends: *epochs 1 to 4*."""
        if not kind:
            return False
        values = [{_setting(token)[1] for token in own} for own in listed]
        numbers = [each.pop() for each in values if len(each) == 1]
        if numbers != [numbers[0] + at for at in range(len(listed))] if numbers else True:
            return False
        ends = (f"{numbers[0]:g}", f"{numbers[-1]:g}")
        said = rf"(?<![\w.]){ends[0]}\s?(?:to|through|–|-)\s?{ends[1]}(?![\w]|\.\d)"
        return re.search(said, self.scene.conclusion.text[slice(*part)]) is not None

    def _place(self, mention: Mention, listed: Sequence[frozenset[Token]], kind: str) -> int | None:
        """Which of the listed names a mention is of."""
        for at, own in enumerate(listed):
            others = frozenset().union(*(o for o in listed if o != own and not own < o))
            if any(names(mention, token) for token in own - others):
                return at
        return None

    def _like(self, mention: Mention, listed: Sequence[frozenset[Token]], kind: str) -> bool:
        """Whether a mention is of another name of the same kind."""
        if kind or is_number(mention) or is_weak(mention.token):
            return (
                is_number(mention)
                and isinstance(mention.token, str)
                and (mention.token.rpartition("=")[0] == kind)
            )
        return all(any(self.scene.rivals(mention.token, t) for t in own) for own in listed)


def names(mention: Mention, token: Token) -> bool:
    """Whether a mention is of a token: of numbers by the value, and by the setting where both have one."""
    if mention.token == token:
        return True
    if not is_number(mention) or not _is_number(token):
        return False
    said, own = _setting(mention.token), _setting(token)
    return said[1] == own[1] and (not said[0] or not own[0] or said[0] == own[0])


def _is_number(token: Token) -> bool:
    return isinstance(token, float) or "=" in token


def _setting(token: Token) -> tuple[str, float]:
    if isinstance(token, float):
        return "", token
    name, _, value = token.rpartition("=")
    return name, float(value)


def _kind(token: Token) -> str:
    """Words are of one kind, numbers of that of their setting."""
    return (_setting(token)[0] or "#") if _is_number(token) else ""


def _plain(tokens: frozenset[Token]) -> frozenset[Token]:
    """Tokens without a number that is there with its setting too, and without names that hold a number."""
    named = {_setting(t)[1] for t in tokens if isinstance(t, str) and "=" in t}
    numbers = {t for t in tokens if _is_number(t)}
    return frozenset(
        token
        for token in tokens
        if not (isinstance(token, float) and token in named)
        and not (numbers and isinstance(token, str) and is_compound(token))
    )
