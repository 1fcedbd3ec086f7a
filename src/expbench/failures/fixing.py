"""What to mend first: how many more attempts would pass if a cause were gone.

An attempt fails a conjunction for all its causes together, so mending one helps only those that have no
other. ``alone`` counts these. The list is greedy: of all sets of causes that some attempt has, first the
one that lets most attempts pass for each of its causes, given that everything above it is mended (a ratio
rule as for weighted covers; Chvátal, 1979). It is an upper bound: a mended cause may show another one
behind it, which a failed re-run for instance has hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from expbench.failures.coding import Coded
from expbench.metrics import METRICS, gated
from expbench.schema import Outcome, Record
from expbench.statistics.intervals import Interval, share_interval


class Fix(Record):
    """A cause in the order of mending.

    ``touched`` attempts fail and have it; ``alone`` would pass without it and nothing else mended; ``more``
    pass in addition to those of the causes above; ``interval`` is of ``alone`` as a share of the attempts
    that count.
    """

    code: str
    touched: int
    alone: int
    more: int
    interval: Interval


class FixList(Record):
    """The causes of one conjunctive metric, the first to mend first.

    ``of`` attempts count, ``passed`` hold it. Of the others ``unexplained`` fail without any insight that
    says why.
    """

    metric: str
    label: str
    of: int
    passed: int
    unscored: int
    unexplained: int
    fixes: tuple[Fix, ...]


def fix_first(
    seen: Sequence[tuple[str, Outcome]],
    by_attempt: Mapping[tuple[str, str, int], Sequence[Coded]],
    metric: str,
) -> FixList:
    """Rank the causes of a conjunctive metric; raises KeyError for a key that is none.

    Every attempt counts, also a convicted one, whose re-run the publication's metric leaves out.
    """
    definition = {each.key: each for each in METRICS}[metric]
    parts = set(definition.parts)
    passed, unscored, unexplained = 0, 0, 0
    failing: list[tuple[frozenset[str], str]] = []
    papers: list[str] = []
    for run, outcome in seen:
        holds = definition.measure(gated(outcome), over="checked")
        if holds is None:
            unscored += 1
            continue
        papers.append(outcome.paper)
        causes = frozenset(
            each.code
            for each in by_attempt.get((run, outcome.task_id, outcome.epoch), ())
            if parts.intersection(each.insight.costs)
        )
        passed += holds == 1.0
        unexplained += holds != 1.0 and not causes
        failing.append((causes if holds != 1.0 else frozenset(), outcome.paper))
    return FixList(
        metric=metric,
        label=definition.label,
        of=len(papers),
        passed=passed,
        unscored=unscored,
        unexplained=unexplained,
        fixes=_ranked([causes for causes, _ in failing], papers),
    )


def _ranked(failing: Sequence[frozenset[str]], papers: Sequence[str]) -> tuple[Fix, ...]:
    touched = Counter(code for causes in failing for code in causes)
    codes = sorted(touched, key=lambda code: (-touched[code], code))
    left = Counter(tuple(code in causes for code in codes) for causes in failing if causes)
    lacking = np.array(list(left), dtype=np.float32).reshape(len(left), len(codes))
    attempts = np.array(list(left.values()), dtype=np.float32)
    ranked: list[Fix] = []
    while lacking.size and lacking.any():
        chosen = _next(lacking, attempts)
        for at in chosen:
            before = _passing(lacking)
            lacking[:, at] = 0
            alone = [float(causes == {codes[at]}) for causes in failing]
            ranked.append(
                Fix(
                    code=codes[at],
                    touched=touched[codes[at]],
                    alone=int(sum(alone)),
                    more=int(attempts @ (_passing(lacking) & ~before)),
                    interval=share_interval(alone, papers),
                )
            )
    return tuple(ranked)


def _next(lacking: NDArray[np.float32], attempts: NDArray[np.float32]) -> list[int]:
    """The causes to mend next, the most frequent first: of all sets that some attempt lacks, the set whose
    mending lets most attempts pass for each of its causes."""
    open_ones = lacking.any(axis=1)
    sets = np.unique(lacking[open_ones], axis=0)
    outside = lacking[open_ones] @ (1 - sets).T
    gains = attempts[open_ones] @ (outside == 0) / sets.sum(axis=1)
    touched = attempts @ lacking
    best = max(range(len(sets)), key=lambda at: (gains[at], touched @ sets[at], -at))
    return sorted(np.flatnonzero(sets[best]).tolist(), key=lambda at: (-touched[at], at))


def _passing(lacking: NDArray[np.float32]) -> NDArray[np.bool_]:
    return np.logical_not(lacking.any(axis=1))
