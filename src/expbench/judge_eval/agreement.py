"""Agreement of several answers to the same questions: of samples of one judge, or of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from expbench.judges.agreement import krippendorff_alpha
from expbench.schema import Record


class Agreement(Record):
    """How far the answers to each item agree.

    ``pairwise`` is the share of pairs of answers to one item that are equal, ``unanimous`` the share of
    items without a differing pair; both are over the ``items`` with two answers or more. ``alpha`` is
    Krippendorff's, nominal, ``None`` where all answers are of one kind.
    """

    items: int
    answers: int
    pairwise: float | None
    unanimous: float | None
    alpha: float | None


def agreement(units: Iterable[Sequence[str]]) -> Agreement | None:
    """Agreement over units (items), each with its answers; ``None`` where no unit has two."""
    several = [unit for unit in units if len(unit) >= 2]
    paired = [Counter(unit) for unit in several]
    if not paired:
        return None
    pairs = sum(unit.total() * (unit.total() - 1) for unit in paired)
    equal = sum(count * (count - 1) for unit in paired for count in unit.values())
    return Agreement(
        items=len(paired),
        answers=sum(unit.total() for unit in paired),
        pairwise=equal / pairs,
        unanimous=sum(len(unit) == 1 for unit in paired) / len(paired),
        alpha=krippendorff_alpha(several),
    )
