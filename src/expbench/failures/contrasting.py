"""Which causes came more or less often in a second run, task by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from expbench.failures.coding import Coded
from expbench.schema import Outcome, Record
from expbench.statistics.pairs import Paired, holm, paired


class Change(Record):
    """The share of a code's attempts in a second run less that in the first, over the tasks of both.

    ``adjusted`` is the permutation p by Holm over all codes of the two runs.
    """

    code: str
    first: float
    second: float
    paired: Paired
    adjusted: float | None


class Contrast(Record):
    """Two runs' causes; ``tasks`` were looked at in both, the others are left out."""

    first: str
    second: str
    tasks: int
    changes: tuple[Change, ...]


def contrast(runs: Mapping[str, Sequence[Outcome]], coded: Iterable[Coded]) -> tuple[Contrast, ...]:
    """The first run against each other one; epochs of a task are averaged first."""
    names = list(runs)
    has: dict[str, dict[tuple[str, int], set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in coded:
        has[each.insight.run][each.insight.task_id, each.insight.epoch].add(each.code)
    return tuple(_two(runs, names[0], other, has) for other in names[1:])


def _two(
    runs: Mapping[str, Sequence[Outcome]],
    first: str,
    second: str,
    has: Mapping[str, Mapping[tuple[str, int], set[str]]],
) -> Contrast:
    papers = {o.task_id: o.paper for name in (first, second) for o in runs[name]}
    attempts = {name: _attempts(runs[name]) for name in (first, second)}
    tasks = sorted(attempts[first].keys() & attempts[second].keys())
    codes = sorted({c for name in (first, second) for own in has[name].values() for c in own})
    shares = {
        (name, code): [
            sum(code in has[name].get((task, epoch), ()) for epoch in attempts[name][task])
            / len(attempts[name][task])
            for task in tasks
        ]
        for name in (first, second)
        for code in codes
    }
    found = [
        paired(shares[first, code], shares[second, code], [papers[task] for task in tasks])
        for code in codes
    ]
    known = [each.p for each in found if each.p is not None]
    adjusted = iter(holm(known))
    changes = [
        Change(
            code=code,
            first=_mean(shares[first, code]),
            second=_mean(shares[second, code]),
            paired=each,
            adjusted=None if each.p is None else next(adjusted),
        )
        for code, each in zip(codes, found, strict=True)
    ]
    changes.sort(key=lambda each: (-abs(each.paired.difference or 0.0), each.code))
    return Contrast(first=first, second=second, tasks=len(tasks), changes=tuple(changes))


def _attempts(outcomes: Sequence[Outcome]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.status not in ("infrastructure", "missing"):
            found[outcome.task_id].append(outcome.epoch)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
