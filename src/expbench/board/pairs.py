"""Every run of a set against one of them: paired differences, with all p values adjusted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.board.measures import DEFINITIONS, HEADLINE, Standing
from expbench.contrast import MetricChange, metric_changes, notes
from expbench.statistics.pairs import holm

_SHOWN = tuple(DEFINITIONS[key] for key in HEADLINE)


@dataclass(frozen=True)
class Pair:
    """A run against the set's reference: the headline metrics, ``p_holm`` over all pairs of the set."""

    label: str
    changes: tuple[MetricChange, ...]
    tasks: int
    notes: tuple[str, ...]
    """What else was not alike, and is no reason to keep them apart."""


def against(reference: Standing, others: Sequence[Standing]) -> tuple[Pair, ...]:
    """Compare runs of one set with one of them."""
    pairs = []
    for other in others:
        first, second = reference.contender.run, other.contender.run
        tasks = first.manifest.tasks
        changes = metric_changes(first, second, tasks, reference.summary.threshold, _SHOWN)
        pairs.append(Pair(other.label, changes, len(tasks), notes(first, second)))
    return _adjusted(pairs)


def _adjusted(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    known = [each.paired.p for pair in pairs for each in pair.changes if each.paired.p is not None]
    left = iter(holm(known))
    return tuple(
        Pair(
            pair.label,
            tuple(
                each.model_copy(update={"p_holm": None if each.paired.p is None else next(left)})
                for each in pair.changes
            ),
            pair.tasks,
            pair.notes,
        )
        for pair in pairs
    )
