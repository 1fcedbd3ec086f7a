"""What stands behind the headline numbers: other denominators, other thresholds, several attempts.

The same metric has different values by what it is of, and the publication mixes rules (its E is over the
attempts whose execution was checked, its D over all). So every metric is here by every rule, and how much
of a share hangs on the threshold of "fully right" is drawn as a curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from statistics import fmean
from typing import get_args

from expbench.metrics.columns import Seen, per_task
from expbench.metrics.definitions import COLLAPSE, METRICS, Definition, Denominator
from expbench.metrics.measuring import Metric, columns_of, measure, seen
from expbench.metrics.scored import Scored
from expbench.schema import Record
from expbench.statistics.repeats import pass_all_k, pass_at_k

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SHARES = tuple(d for d in METRICS if d.kind == "share")
GRADED = ("design", "implementation")
"""The scores that are more than right or wrong: a threshold matters for what is made of them."""


class Point(Record):
    """A share with another threshold of "fully right"."""

    threshold: float
    value: float | None
    n: int
    successes: int


class Curve(Record):
    """How a share falls as more is asked for "fully right"."""

    key: str
    label: str
    points: tuple[Point, ...]


class Repeat(Record):
    """Of ``k`` attempts at a task: the chance that one is right, and that all are.

    Means over ``tasks``, those with at least ``k`` scored attempts.
    """

    key: str
    label: str
    k: int
    any_right: float
    all_right: float
    tasks: int


class Details(Record):
    """Every metric by every rule, the curves, and what several attempts would do."""

    denominators: tuple[Metric, ...]
    curves: tuple[Curve, ...]
    repeats: tuple[Repeat, ...]


def details(outcomes: Sequence[Scored], threshold: float = 1.0) -> Details:
    """All of it for one run; it has been counted by :func:`expbench.metrics.summarise`."""
    attempts = seen(outcomes)
    every = (*METRICS, *COLLAPSE[1:])
    return Details(
        denominators=tuple(
            measure(each, attempts, threshold, rule)
            for each in every
            for rule in get_args(Denominator)
        ),
        curves=tuple(
            curve(each, attempts) for each in (*SHARES, *COLLAPSE[1:]) if {*each.parts} & {*GRADED}
        ),
        repeats=tuple(one for each in SHARES for one in repeats(each, attempts, threshold)),
    )


def curve(
    definition: Definition, attempts: Sequence[Seen], thresholds: Sequence[float] = THRESHOLDS
) -> Curve:
    """A share at each threshold, epochs averaged within tasks."""
    return Curve(
        key=definition.key,
        label=definition.label,
        points=tuple(_point(definition, attempts, each) for each in thresholds),
    )


def repeats(
    definition: Definition, attempts: Sequence[Seen], threshold: float = 1.0
) -> tuple[Repeat, ...]:
    """pass@k and pass^k of a share for every k that some task has scored attempts for."""
    each = per_task(columns_of(attempts), definition, threshold, definition.over)
    counts = Counter(zip(each.scored.tolist(), each.sums.round().astype(int).tolist(), strict=True))
    found = []
    for k in range(1, max((n for n, _ in counts), default=0) + 1):
        enough = {(n, right): tasks for (n, right), tasks in counts.items() if n >= k}
        tasks = sum(enough.values())
        found.append(
            Repeat(
                key=definition.key,
                label=definition.label,
                k=k,
                any_right=fsum(pass_at_k(*own, k) * often for own, often in enough.items()) / tasks,
                all_right=fsum(pass_all_k(*own, k) * often for own, often in enough.items())
                / tasks,
                tasks=tasks,
            )
        )
    return tuple(found)


def _point(definition: Definition, attempts: Sequence[Seen], threshold: float) -> Point:
    found = per_task(columns_of(attempts), definition, threshold, definition.over)
    means = found.means.tolist()
    return Point(
        threshold=threshold,
        value=fmean(means) if means else None,
        n=int(found.scored.sum()),
        successes=found.right,
    )
