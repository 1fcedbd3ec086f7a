"""Attempts as columns of numbers, for measuring thousands of them at once.

What a metric is stands in :mod:`expbench.metrics.definitions`, for one attempt; here is the same for all of
a run, and a test holds the two together. Unscored is not a number (NaN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from expbench.metrics.definitions import Definition, Denominator
from expbench.metrics.gate import Gated
from expbench.metrics.scored import Scored
from expbench.schema import ScoreName

Seen = tuple[Scored, Gated]
"""An outcome and its scores as they count."""
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

_RERUN: frozenset[ScoreName] = frozenset({"execution", "produced", "grounding"})


class Columns:
    """The attempts of a run, each a place in every column.

    ``tasks`` are the distinct ones in the order of the attempts, ``papers`` the paper of each as a number,
    and ``task`` is each attempt's place among the tasks.
    """

    def __init__(self, attempts: Sequence[Seen]) -> None:
        self._views = [view for _, view in attempts]
        place: dict[str, int] = {}
        self.task: Places = np.array(
            [place.setdefault(outcome.task_id, len(place)) for outcome, _ in attempts],
            dtype=np.intp,
        )
        paper = {outcome.task_id: outcome.paper for outcome, _ in attempts}
        numbers = {name: number for number, name in enumerate(sorted(set(paper.values())))}
        self.tasks = tuple(place)
        self.papers: Places = np.array([numbers[paper[task]] for task in place], dtype=np.intp)
        self._values: dict[ScoreName, Floats] = {}

    def __len__(self) -> int:
        return len(self._views)

    @cached_property
    def convicted(self) -> Flags:
        return np.array([view.convicted for view in self._views], dtype=np.bool_)

    @cached_property
    def rerun(self) -> Flags:
        return np.array([view.rerun for view in self._views], dtype=np.bool_)

    def values(self, name: ScoreName) -> Floats:
        """A score of every attempt, in [0, 1]."""
        if name not in self._values:
            found = [view.value(name) for view in self._views]
            self._values[name] = np.array(found, dtype=np.float64)
        return self._values[name]

    def population(self, rule: Denominator) -> Flags:
        """Which attempts belong to a metric over ``rule`` at all."""
        if rule == "executed":
            return ~self.convicted
        return self.rerun if rule == "checked" else np.ones(len(self), dtype=np.bool_)

    def numbers(self, definition: Definition, threshold: float, rule: Denominator) -> Floats:
        """The metric's number of every attempt, whether it belongs to it or not."""
        if definition.kind == "mean":
            found = self.values(definition.parts[0]).copy()
        else:
            parts = np.stack([self.values(name) for name in definition.parts])
            found = np.where(np.isnan(parts).any(axis=0), np.nan, 1.0)
            found[(parts < threshold).any(axis=0)] = 0.0
        if not _RERUN.isdisjoint(definition.parts):
            found[self.convicted] = 0.0
        if rule == "executed":
            found[np.isnan(self.values("execution"))] = np.nan
        return np.nan_to_num(found, nan=0.0) if rule == "planned" else found


@dataclass(frozen=True)
class PerTask:
    """Of each task that has attempts in a metric: how many, how many with a number, and their sum."""

    attempts: Places
    scored: Places
    sums: Floats
    papers: Places
    right: int
    """Attempts whose number is 1."""

    @property
    def known(self) -> Flags:
        """Which of the tasks have a number."""
        return self.scored > 0

    @property
    def means(self) -> Floats:
        """The mean of every task that has a number, over its epochs."""
        return self.sums[self.known] / self.scored[self.known]


def per_task(
    columns: Columns, definition: Definition, threshold: float, rule: Denominator
) -> PerTask:
    """A metric's numbers, epochs together."""
    belongs = columns.population(rule)
    numbers, task = columns.numbers(definition, threshold, rule)[belongs], columns.task[belongs]
    known, tasks = ~np.isnan(numbers), len(columns.tasks)
    attempts = np.bincount(task, minlength=tasks)
    sums = np.bincount(task[known], weights=numbers[known], minlength=tasks)
    there = attempts > 0
    return PerTask(
        attempts=attempts[there],
        scored=np.bincount(task[known], minlength=tasks)[there],
        sums=sums.astype(np.float64)[there],
        papers=columns.papers[there],
        right=int(np.count_nonzero(numbers == 1.0)),
    )
