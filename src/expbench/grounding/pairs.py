"""Numbers of the outputs that belong together: pairs that differ in one name, and series over one name."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product

from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.matching import pool_of
from expbench.grounding.names import Token, label_tokens
from expbench.grounding.outputs import Outputs
from expbench.grounding.quality import STATISTICS, is_metric
from expbench.judges.words import stem

Pair = tuple[Cell, Cell]
_Key = tuple[object, ...]
_MOST = 4_000
_MOST_PAIRS = 4_000
_MOST_BESIDE = 2_000
_SHORTEST = 2


def pairs(
    outputs: Outputs, one: Iterable[Token], other: Iterable[Token], given: Iterable[Token] = ()
) -> list[Pair]:
    """Numbers of ``one`` and of ``other`` that stand under the same labels apart from these names.

    Equally long lists are paired in their order.
    """
    first, second, shared = frozenset(one), frozenset(other), tuple(given)
    own_rest, other_rest = _Rest(outputs, first), _Rest(outputs, second)
    partners: dict[_Key, list[Cell]] = defaultdict(list)
    for cell in pool_of(outputs, (*second, *shared))[:_MOST]:
        partners[other_rest.key(cell)].append(cell)
    own: dict[_Key, list[Cell]] = defaultdict(list)
    for cell in pool_of(outputs, (*first, *shared))[:_MOST]:
        own[own_rest.key(cell)].append(cell)
    found: list[Pair] = []
    for key, cells in own.items():
        same = partners.get(key, [])
        if len(same) == len(cells):
            found += zip(cells, same, strict=True)
        else:
            room = max(0, _MOST_PAIRS - len(found))
            found += islice(product(cells, same), room)
    return [pair for pair in found if pair[0] is not pair[1]]


def beside(outputs: Outputs, cell: Cell, name: Token) -> list[Cell]:
    """The numbers that differ from one only in that they are another name's: the other methods' numbers."""
    found = []
    alike = outputs.alike(cell)
    if cell.group == "line" and cell.labels and name not in label_tokens(cell.labels[-1][1]):
        same = [other for other in alike if other.labels and other.labels[-1] == cell.labels[-1]]
        alike = same if len(same) > 1 else alike
    for other in alike[:_MOST_BESIDE]:
        own, foreign = cell.tokens - other.tokens, other.tokens - cell.tokens
        its = name in own and all(outputs.together(token, name)[0] for token in own)
        if (
            its
            and (foreign or _variant(cell, other))
            and all(outputs.together(token, name)[1] for token in foreign)
        ):
            found.append(other)
    return found


def one_apart(first: Cell, other: Cell) -> int | None:
    """The place of the one label in which two numbers of a table differ, if it is one."""
    if other is first or len(first.labels) != len(other.labels):
        return None
    if (first.source, first.group) != (other.source, other.group):
        return None
    places = [at for at, label in enumerate(first.labels) if label != other.labels[at]]
    places = [at for at in places if first.labels[at][0] != "over"] if first.derived else places
    texts = {(first.labels[at][1], other.labels[at][1]) for at in places}
    return places[0] if len(texts) == 1 else None


def _variant(one: Cell, other: Cell) -> bool:
    """Whether one is the other with something added: *hybrid+rerank* and *hybrid*."""
    return one.value != other.value and one_apart(one, other) is not None


@dataclass
class _Rest:
    """Labels of numbers without the words that only come with a name."""

    outputs: Outputs
    name: frozenset[Token]
    _known: dict[str, frozenset[Token]] = field(default_factory=dict)

    def key(self, cell: Cell) -> _Key:
        """What two numbers have in common that differ in the name only."""
        return (cell.group, cell.source, *((role, self._of(label)) for role, label in cell.labels))

    def _of(self, label: str) -> frozenset[Token]:
        if label not in self._known:
            self._known[label] = self._made(label)
        return self._known[label]

    def _made(self, label: str) -> frozenset[Token]:
        index = self.outputs.index
        tokens = label_tokens(label)
        if not tokens & self.name:
            return tokens
        nothing = frozenset[int]()
        held = self.name & tokens
        set_names = {str(own).partition("=")[0] for own in held if "=" in str(own)}
        given = [str(t).partition("=") for t in tokens if "=" in str(t)]
        set_names |= {name for name, _, value in given if float(value) in held}
        return frozenset(
            token
            for token in tokens
            if not any(index.get(token, nothing) <= index.get(own, nothing) for own in held)
            and not (isinstance(token, str) and stem(token) in set_names)
        )


def series(outputs: Outputs) -> Iterator[list[Cell]]:
    """Numbers in a row: equal labels again and again, or labels that differ in one role only."""
    seen: set[tuple[int, ...]] = set()
    alike: dict[_Key, list[Cell]] = defaultdict(list)
    for cell in outputs.cells:
        alike[cell.key].append(cell)
    groups: dict[_Key, list[Cell]] = defaultdict(list)
    for cell in outputs.cells:
        for at, (role, _) in enumerate(cell.labels):
            if role.startswith(("row", "set", "column", "key", "lead", "parent")):
                rest = tuple(label for i, label in enumerate(cell.labels) if i != at)
                groups[(cell.source, cell.group, role, rest)].append(cell)
    for members in (*alike.values(), *filter(_of_one_kind, groups.values())):
        ids = tuple(id(member) for member in members)
        if len(members) >= _SHORTEST and ids not in seen:
            seen.add(ids)
            yield members


def _of_one_kind(members: Sequence[Cell]) -> bool:
    """Whether numbers may be of one quantity: not the accuracy and the loss, or the best and the mean."""
    words = [{str(token) for token in member.tokens} for member in members]
    shared = set.intersection(*words)
    kinds = [own - shared for own in words]
    named = sum(bool(own & STATISTICS) or any(map(is_metric, own)) for own in kinds)
    return named < _SHORTEST


def summaries(outputs: Outputs) -> Iterator[Cell]:
    """Mean, median, extremes, last, sum and spread of every series, as numbers of the outputs."""
    for members in series(outputs):
        values = [member.value for member in members]
        common = frozenset.intersection(*(frozenset(member.labels) for member in members))
        labels = tuple(label for label in members[0].labels if label in common)
        words = frozenset.intersection(*(member.tokens for member in members))
        over = sorted(t for t in words if isinstance(t, str) and "=" not in t)
        labels = (*labels, ("over", " ".join(over)))
        for name, value in _statistics(values):
            yield _summary(members, name, value, labels)


def _summary(
    members: Sequence[Cell], name: str, value: float, labels: tuple[tuple[str, str], ...]
) -> Cell:
    figure = Figure(value, 1e-12, 15, 0, 0, 0, unit=members[0].figure.unit)
    return replace(
        members[0], figure=figure, labels=(*labels, ("statistic", name)),
        derived=f"{name} of {len(members)}", quote=f"{members[0].quote} … {members[-1].quote}"[:300],
    )  # fmt: skip


def _statistics(values: Sequence[float]) -> Iterator[tuple[str, float]]:
    if not all(math.isfinite(value) for value in values):
        return
    yield "mean", math.fsum(values) / len(values)
    yield "median", statistics.median(values)
    yield "min", min(values)
    yield "max", max(values)
    yield "last", values[-1]
    yield "sum", math.fsum(values)
    if len(values) > 2:
        yield "std", statistics.stdev(values)
        yield "std", statistics.pstdev(values)
        yield "stderr", statistics.stdev(values) / math.sqrt(len(values))
