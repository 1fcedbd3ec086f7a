"""Where in the outputs a claim's number stands: equal numbers, under the claim's names and not another's."""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from expbench.grounding.binding import EARLIER, HERE, NEAR, SURE
from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.matching import Wanted, chance, pool_of
from expbench.grounding.names import Token, label_tokens
from expbench.grounding.pairs import one_apart
from expbench.grounding.quality import STATISTICS, is_metric
from expbench.grounding.scene import Scene
from expbench.judges.words import stem

COMPUTED = frozenset(
    map(
        stem,
        (
            *("ratio", "factor", "gain", "gap", "difference", "diff", "speedup", "improvement"),
            *("lead", "margin", "reduction", "relative", "change", "delta"),
        ),
    )
)
"""Stems of computed quantities, which the outputs may show themselves."""
NAMED = 0.8
"""Expected chance matches up to which a number counts that shares a name with the claim."""
_ALIKE = 8.0
_MOST_SIBLINGS = 800
_MOST_EQUAL = 60
"""Equal numbers that are looked at: among more, chance is the likeliest reason anyway."""
_SPECIFIC = 40
"""Different numbers under labels up to which these labels tell which number is meant."""
_MOST_TOTALS = 40
_HELD_OUT = frozenset(("val", "valid", "validation", "test", "eval", "dev", "heldout"))
_TRAINING = re.compile(
    r"\btrain(?:ing)?\s(?:set\s)?[\w-]+\s(?:\w+\s){0,2}(?:about\s)?$", re.IGNORECASE
)
_UN = re.compile(r"\b(?:un|non-?)([a-z]{5,40})")
_NEAR_BEFORE = 40
_LONG = 4
_MEASURE = re.compile(r"\s?([KkMGT]i?B(?:/s)?|[kM]?J|[kM]?Wh?|[kMG]?Hz|m?A|[ck]?m|kg)(?![\w/])")
"""Units that tell quantities apart."""


@dataclass
class Locator:
    """Finds claims' numbers in the outputs of one scene."""

    scene: Scene
    _ordered: dict[Token, list[int]] = field(default_factory=dict, repr=False)

    def equal(self, wanted: Wanted) -> list[Cell]:
        """The numbers of the outputs that equal a claim's."""
        outputs = self.scene.outputs
        if len(outputs.runs) > 1:
            ids: Iterable[int] = range(len(outputs.cells))
        else:
            ids = self._near(wanted)
        return [
            outputs.cells[at]
            for at in ids
            if wanted.equals(outputs.cells[at], outputs.repeated(at))
        ]

    def nearest(self, cells: Sequence[Cell], bound: dict[Token, float]) -> list[Cell]:
        """The numbers, of very many only those under most of a claim's names, in their order."""
        if len(cells) <= _MOST_EQUAL:
            return list(cells)
        support = [sum(s for t, s in bound.items() if t in cell.tokens) for cell in cells]
        first = sorted(range(len(cells)), key=lambda at: (-support[at], at))[:_MOST_EQUAL]
        return [cells[at] for at in sorted(first)]

    def _near(self, wanted: Wanted) -> set[int]:
        """The numbers that may equal a claim's, by their size."""
        values, ids = self._sorted
        figure = wanted.figure
        value = abs(figure.value)
        span = wanted.tolerance + (figure.error or 0.0)
        found: set[int] = set(self._with_errors)
        factors = [1.0, 0.01, 100.0, *wanted.worth]
        factors += [total * f for total in self._totals for f in (1, 0.01)]
        if figure.total:
            factors += [1 / figure.total, 100 / figure.total]
        if figure.unit == "seconds":
            factors += [figure.scale / unit for unit in (1.0, 1e-3, 1e-6, 1e-9, 60.0, 3600.0)]
        for factor in factors:
            low = bisect_left(values, (value - span) * factor * (1 - 1e-9) - 1e-15)
            high = bisect_right(values, (value + span) * factor * (1 + 1e-9) + 1e-15)
            found.update(ids[low:high])
        return found

    @cached_property
    def _sorted(self) -> tuple[list[float], list[int]]:
        order = sorted((abs(cell.value), at) for at, cell in enumerate(self.scene.outputs.cells))
        return [value for value, _ in order], [at for _, at in order]

    @cached_property
    def _totals(self) -> list[float]:
        totals = {cell.figure.total for cell in self.scene.outputs.cells if cell.figure.total}
        return sorted(totals)[:_MOST_TOTALS]

    @cached_property
    def _with_errors(self) -> list[int]:
        return [
            at for at, cell in enumerate(self.scene.outputs.cells) if cell.figure.error is not None
        ]

    def stands_elsewhere(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> bool:
        """Whether the number is one of another name or condition than the claim's."""
        bound = self._of_kind(cell, wanted, bound)
        for differs in (
            self._other_split,
            self._without,
            self._unsaid,
            self._other_statistic,
            self._more_special,
        ):
            if differs(cell, wanted, bound):
                return True
        index = self.scene.outputs.index
        measured = _MEASURE.match(self.scene.conclusion.text, wanted.figure.end)
        unit = measured[1] if measured else ""
        firm = {t for t, strength in bound.items() if strength >= NEAR}
        held = firm & cell.tokens
        for token in firm - cell.tokens:
            defended = any(
                self.scene.rivals(token, other) and bound[other] >= bound[token] for other in held
            )
            if defended:
                continue
            kept = [other for other in held if not self.scene.rivals(token, other)]
            ids = index[token].intersection(*(index[other] for other in kept))
            others = [self.scene.outputs.cells[at] for at in ids]
            if unit and measure_of(cell) == unit:
                others = [other for other in others if measure_of(other) == unit]
            if all(_in_title(token, other) for other in others):
                others = [other for other in others if other.group == cell.group]
            other_value = isinstance(token, str) and _has_setting(token, cell)
            rest = [
                o
                for o in others
                if not wanted.equals(o)
                and (other_value or alike(o, cell) or of_one_column(o, cell))
            ]
            if rest and len({f"{other.value:.4g}" for other in rest}) <= _SPECIFIC:
                return True
        return False

    def _without(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> bool:
        """Whether the sentence speaks of what is *undefended* and the number is of what is *defended*."""
        passage = self.scene.conclusion.passage(wanted.figure.start)
        text = self.scene.conclusion.text[slice(*passage.sentence)].lower() if passage else ""
        denied = _UN.findall(text)
        if not denied:
            return False
        words = [t for t in cell.tokens if isinstance(t, str) and t.isalpha() and len(t) > _LONG]
        return any(
            word in denied and not re.search(rf"\b{word}\b", text.replace(f"non-{word}", ""))
            for word in words
        )

    def _other_split(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> bool:
        """Whether the number is one of validation where the claim says *training* and there is another."""
        before = self.scene.conclusion.text[: wanted.figure.start][-_NEAR_BEFORE:]
        if not _TRAINING.search(before) or not cell.tokens & _HELD_OUT:
            return False
        return any(
            not other.tokens & _HELD_OUT and cell.tokens - _HELD_OUT <= other.tokens
            for other in self.scene.outputs.alike(cell)[:_MOST_SIBLINGS]
        )

    def _other_statistic(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> bool:
        """Whether the number is in the column *mean* where the sentence speaks of the column *best*."""
        said = {m.token for m in self.scene.said_of(wanted.figure)} & STATISTICS & bound.keys()
        if not said or cell.tokens & said:
            return False
        for other in self.scene.outputs.alike(cell)[:_MOST_SIBLINGS]:
            place = one_apart(cell, other) if other.tokens & said else None
            if place is None or wanted.equals(other):
                continue
            own = label_tokens(cell.labels[place][1])
            if label_tokens(other.labels[place][1]) & said and not own & bound.keys():
                return True
        return False

    def _more_special(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> bool:
        """Whether the sentence names *amp*, and the number is one of *amp + channels_last*."""
        for other in self.scene.outputs.alike(cell)[:_MOST_SIBLINGS]:
            place = one_apart(cell, other)
            if place is None:
                continue
            own, plain = (label_tokens(each.labels[place][1]) for each in (cell, other))
            if any(isinstance(t, str) and stem(t) in COMPUTED for t in own - plain) and (
                wanted.figure.unit in ("times", "points", "percent")
            ):
                continue
            named = bool(plain) and plain < own and all(bound.get(t, 0) >= HERE for t in plain)
            if (
                named
                and not any(self._told(t, wanted.figure, bound) for t in own - plain)
                and not wanted.equals(other)
            ):
                return True
        return False

    def _told(self, token: Token, figure: Figure, bound: dict[Token, float]) -> bool:
        """Whether the sentence says a label of a number, and not behind another number of its own."""
        if bound.get(token, 0) < HERE:
            return False
        passage = self.scene.conclusion.passage(figure.start)
        places = (
            [m for m in self.scene.within(*passage.sentence) if m.token == token] if passage else []
        )
        after = [end for start, end in self.scene.places if start > figure.start]
        return not places or any(m.start < min(after, default=m.end) for m in places)

    def _of_kind(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> dict[Token, float]:
        """The labels without those of quantities that a ratio is one of: *25 times the regret*."""
        words = {t for t in cell.tokens if isinstance(t, str) and stem(t) in COMPUTED}
        if not words or wanted.figure.unit not in ("times", "points", "percent"):
            return bound
        return {
            token: strength
            for token, strength in bound.items()
            if token in cell.tokens
            or not is_metric(token)
            or not any(self.scene.rivals(token, word) for word in words)
        }

    def _unsaid(self, cell: Cell, wanted: Wanted, bound: dict[Token, float]) -> bool:
        """Whether the sentence speaks of other names where the conclusion has a name for this number's.

        A label that the conclusion never mentions may be one that its author calls otherwise.
        """
        cells = self.scene.outputs.cells
        here = [t for t, strength in bound.items() if strength >= HERE and t not in cell.tokens]
        for token in here:
            numeric = isinstance(token, float) or "=" in token
            if not numeric and self.scene.compared(wanted.figure):
                continue
            for at in self._in_order(token):
                other = cells[at]
                own = cell.tokens - other.tokens
                if other.group != cell.group or not own or any(t in bound for t in own):
                    continue
                if not own & self._known or not all(self.scene.rivals(token, each) for each in own):
                    continue
                if wanted.equals(other):
                    continue
                if not alike(other, cell) and not of_one_column(other, cell):
                    continue
                if not self.scene.refers_back(wanted.figure, own, numeric):
                    return True
        return False

    def _in_order(self, token: Token) -> list[int]:
        """The first numbers under a label."""
        if token not in self._ordered:
            ids = self.scene.outputs.index[token]
            self._ordered[token] = heapq.nsmallest(_MOST_SIBLINGS, ids)
        return self._ordered[token]

    @cached_property
    def _known(self) -> frozenset[Token]:
        """All labels that the conclusion mentions anywhere."""
        return frozenset(mention.token for mention in self.scene.mentions)

    def likeliest(
        self, cells: Sequence[Cell], wanted: Wanted, bound: dict[Token, float]
    ) -> Cell | None:
        """The number that is least likely to be equal by chance, if that is unlikely enough."""
        best: tuple[float, float, Cell] | None = None
        for cell in cells:
            shared = [t for t, strength in bound.items() if t in cell.tokens]
            pool = pool_of(self.scene.outputs, shared)
            likely = chance(wanted, cell, pool)
            if likely <= (NAMED if shared else _unnamed(wanted.figure)):
                support = sum(bound[token] for token in shared)
                if wanted.figure.error is not None and cell.figure.error is not None:
                    support += SURE
                if best is None or (-support, likely) < best[:2]:
                    best = (-support, likely, cell)
        return best[2] if best else None

    def place(self, bound: dict[Token, float]) -> list[Cell]:
        """The numbers under all labels that are firmly bound, then under as many others as go together."""
        index = self.scene.outputs.index
        firm = sorted(
            (t for t, s in bound.items() if s >= NEAR), key=lambda t: (-bound[t], len(index[t]))
        )
        ids: frozenset[int] | None = None
        for token in firm:
            both = index[token] if ids is None else ids & index[token]
            if not both:
                return []
            ids = both
        if ids is None or not any(isinstance(token, str) for token in firm):
            return []
        for level in (HERE, EARLIER):
            for token in (t for t, s in bound.items() if s == level):
                if ids & index[token]:
                    ids &= index[token]
        return [self.scene.outputs.cells[at] for at in sorted(ids)]


def measure_of(cell: Cell) -> str:
    """The unit that an output writes behind a number: *7.63 MiB*."""
    at = cell.quote.find(cell.written) if cell.written else -1
    found = _MEASURE.match(cell.quote, at + len(cell.written)) if at >= 0 else None
    return found[1] if found else ""


def _in_title(token: Token, cell: Cell) -> bool:
    """Whether a number has a label only from what stands above its table."""
    above = ("title", "parent", "lead")
    return not any(
        token in label_tokens(label) for role, label in cell.labels if not role.startswith(above)
    )


def _has_setting(token: str, cell: Cell) -> bool:
    """Whether a number has another value of the setting that a token is a value of."""
    name, equals, _ = token.rpartition("=")
    return bool(equals) and any(
        isinstance(t, str) and t != token and t.startswith(f"{name}=") for t in cell.tokens
    )


def _unnamed(figure: Figure) -> float:
    """The same where no name is common to both: a number of two digits says nothing then."""
    return 0.0 if figure.digits < 3 else 0.1 if figure.digits == 3 else 0.2


def size_alike(value: float, figure: Figure) -> bool:
    """Whether a number may stand where a claim's does, by its size."""
    sizes = (
        [abs(figure.value), abs(figure.value) / 100]
        if figure.unit == "percent"
        else [abs(figure.value)]
    )
    return any(abs(value) <= _ALIKE * size and size <= _ALIKE * abs(value) for size in sizes)


def alike(one: Cell, other: Cell) -> bool:
    """Whether two numbers are of about one size, so that one can stand for the other."""
    sizes = sorted((abs(one.value), abs(other.value)))
    return sizes[1] <= _ALIKE * sizes[0] or sizes[1] == 0


def of_one_column(one: Cell, other: Cell) -> bool:
    """Whether two numbers are of one quantity, under names that differ in one place only."""
    place = one_apart(one, other)
    return place is not None and place < len(one.labels) - 1
