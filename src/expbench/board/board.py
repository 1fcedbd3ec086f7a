"""The whole board as numbers, which every format is written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.board.breakdown import Grouping, TaskRow, groupings, rows
from expbench.board.contenders import Contender, named_apart
from expbench.board.measures import Standing, standing
from expbench.board.pairs import Pair, against
from expbench.board.sets import comparable
from expbench.contrast import Condition
from expbench.errors import NotFoundError, UserError
from expbench.published import Published, published

AGAINST = ("first", "best")
"""What runs may be compared with, besides one of them by its name."""


@dataclass(frozen=True)
class Division:
    """A set of comparable runs in numbers, the best first. ``unlike``: by what it is apart from the first."""

    standings: tuple[Standing, ...]
    unlike: tuple[Condition, ...]
    reference: str
    pairs: tuple[Pair, ...]
    groupings: tuple[Grouping, ...]
    rows: tuple[TaskRow, ...]


@dataclass(frozen=True)
class Board:
    """Everything that a board says. ``standings`` are in the order in which the runs were given."""

    standings: tuple[Standing, ...]
    divisions: tuple[Division, ...]
    against: str
    threshold: float
    published: Published | None


def build(
    contenders: Sequence[Contender],
    compared_with: str = "first",
    with_published: bool = False,
    threshold: float = 1.0,
) -> Board:
    """Measure and compare runs.

    Raises:
        UserError: no run is given.
        NotFoundError: they are to be compared with a run that is not among them.
        InfrastructureError: a run does not account for all its attempts.
    """
    if not contenders:
        raise UserError("There is no run to report: give folders that `expbench run` made.")
    named = named_apart(contenders)
    if compared_with not in (*AGAINST, *(each.label for each in named)):
        names = ", ".join((*AGAINST, *(each.label for each in named)))
        raise NotFoundError(f"No run here is named {compared_with!r}: choose one of {names}.")
    by_label = {each.label: standing(each, threshold) for each in named}
    divisions = []
    for own in comparable(named):
        members = [by_label[each.label] for each in own.members]
        reference = _reference(members, compared_with)
        ordered = tuple(sorted(members, key=lambda each: each.rank))
        divisions.append(
            Division(
                standings=ordered,
                unlike=own.unlike,
                reference=reference.label,
                pairs=against(reference, [each for each in ordered if each is not reference]),
                groupings=groupings(ordered),
                rows=rows(ordered),
            )
        )
    return Board(
        standings=tuple(by_label.values()),
        divisions=tuple(divisions),
        against=compared_with,
        threshold=threshold,
        published=published() if with_published else None,
    )


def _reference(members: Sequence[Standing], compared_with: str) -> Standing:
    """The run that the others of a set are compared with: by its name, else the best or the first."""
    if compared_with == "best":
        return min(members, key=lambda each: each.rank)
    return next((each for each in members if each.label == compared_with), members[0])
