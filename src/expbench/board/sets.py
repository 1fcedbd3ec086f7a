"""Which runs may be ranked together: those that were made under the same conditions, on the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expbench.board.contenders import Contender
from expbench.contrast import Condition, differing
from expbench.runs import Run


@dataclass(frozen=True)
class ComparableSet:
    """Runs that were made alike, and in what they are unlike the first set's first run."""

    members: tuple[Contender, ...]
    unlike: tuple[Condition, ...] = ()


def comparable(contenders: Sequence[Contender]) -> tuple[ComparableSet, ...]:
    """The runs in sets; a run joins the first set whose every run was made as it was."""
    sets: list[list[Contender]] = []
    for each in contenders:
        fitting = (own for own in sets if not any(unlike(one.run, each.run) for one in own))
        home = next(fitting, None)
        if home is None:
            sets.append([each])
        else:
            home.append(each)
    return tuple(ComparableSet(tuple(own), _apart(sets, own)) for own in sets)


def unlike(first: Run, second: Run) -> tuple[Condition, ...]:
    """The conditions of :func:`expbench.contrast.differing`, and the planned tasks: rates over other tasks
    are of another difficulty."""
    found = differing(first, second)
    ones, others = set(first.manifest.tasks), set(second.manifest.tasks)
    if ones == others:
        return found
    common = len(ones & others)
    texts = [
        f"{len(each)} tasks, {len(each) - common} of them only there" for each in (ones, others)
    ]
    return (*found, Condition(kind="data", field="tasks", first=texts[0], second=texts[1]))


def _apart(sets: Sequence[Sequence[Contender]], own: Sequence[Contender]) -> tuple[Condition, ...]:
    """In what a set is unlike the first; where its first run is like that one's, of any two of them."""
    if own is sets[0]:
        return ()
    pairs = ((one, other) for one in sets[0] for other in own)
    return next(filter(None, (unlike(one.run, other.run) for one, other in pairs)))
