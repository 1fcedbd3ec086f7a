"""The comparison of two runs: every metric by its paired difference, and the tasks that changed.

p values are of sign flips over papers; those of all metrics that are shown are adjusted together by Holm's
method, since whoever looks at fifteen numbers finds one that differs. C full and E full are C and E again
and are not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from expbench.contrast.conditions import Condition, differing, notes
from expbench.errors import UserError
from expbench.metrics import METRICS, Bounds, Counts, Definition, numbers, seen, summarise
from expbench.metrics.columns import Seen
from expbench.runs import Run
from expbench.schema import Record
from expbench.statistics.pairs import Paired, holm, paired

SHOWN = tuple(d for d in METRICS if d.key not in ("conclusion_full", "execution_full"))
SCORES = tuple(d for d in METRICS if len(d.parts) == 1 and not d.key.endswith("_full"))
"""What is looked at task by task."""
Numbers = Mapping[str, Sequence[float | None]]


class Side(Record):
    """One of the two runs, and how its attempts ended."""

    run: str
    agent: str
    model: str
    judge: str
    epochs: int
    counts: Counts


class MetricChange(Record):
    """A metric of both runs over the tasks that have a number in both. Fractions in [0, 1]."""

    key: str
    label: str
    title: str
    first: float | None
    second: float | None
    paired: Paired
    p_holm: float | None
    """The p value adjusted for all metrics of the comparison."""
    unscored: int
    """Common tasks without a number in one of the runs or both."""
    bounds: Bounds | None
    """The difference if all that is unscored spoke for the first run, and for the second."""


class ScoreChange(Record):
    """A score of a task in both runs, epochs averaged; ``None`` where it has none."""

    key: str
    label: str
    first: float | None
    second: float | None


class Change(Record):
    """A task with scores that are not the same in both runs."""

    task_id: str
    paper: str
    scores: tuple[ScoreChange, ...]


class Comparison(Record):
    """Everything that ``expbench compare`` says."""

    first: Side
    second: Side
    threshold: float
    unlike: tuple[Condition, ...]
    """Conditions that differ: never empty without ``--force`` having been given."""
    notes: tuple[str, ...]
    tasks: int
    """Tasks of both runs."""
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    metrics: tuple[MetricChange, ...]
    changes: tuple[Change, ...]


def compare(first: Run, second: Run, force: bool = False, threshold: float = 1.0) -> Comparison:
    """Compare two runs on their common tasks.

    Raises:
        UserError: without ``force``, for runs under different conditions; for runs without a common task.
        InfrastructureError: a run does not account for all its attempts.
    """
    unlike = differing(first, second)
    if unlike and not force:
        raise UserError(
            "The two runs were not made under the same conditions: "
            f"{'; '.join(each.text for each in unlike)}. --force compares them all the same, marked as such."
        )
    common = [task for task in first.manifest.tasks if task in set(second.manifest.tasks)]
    if not common:
        raise UserError("The two runs have no task in common: choose runs of the same tasks.")
    sides = [_side(run, threshold) for run in (first, second)]
    return Comparison(
        first=sides[0],
        second=sides[1],
        threshold=threshold,
        unlike=unlike,
        notes=notes(first, second),
        tasks=len(common),
        only_first=tuple(task for task in first.manifest.tasks if task not in set(common)),
        only_second=tuple(task for task in second.manifest.tasks if task not in set(common)),
        metrics=metric_changes(first, second, common, threshold),
        changes=_changes(first, second, common),
    )


def _side(run: Run, threshold: float) -> Side:
    return Side(
        run=run.manifest.name,
        agent=run.manifest.agent,
        model=run.manifest.model,
        judge=run.manifest.judge,
        epochs=run.manifest.epochs,
        counts=summarise(run.planned, run.ordered(), threshold).counts,
    )


def metric_changes(
    first: Run,
    second: Run,
    common: Sequence[str],
    threshold: float = 1.0,
    shown: Sequence[Definition] = SHOWN,
) -> tuple[MetricChange, ...]:
    """The paired differences of two runs over their ``common`` tasks, p adjusted for all that is shown."""
    attempts = [seen(run.ordered()) for run in (first, second)]
    found = []
    for definition in shown:
        (ones, papers), (others, _) = (numbers(definition, each, threshold) for each in attempts)
        found.append(_metric(definition, ones, others, papers, common))
    tested = [place for place, each in enumerate(found) if each.paired.p is not None]
    adjusted = holm([found[place].paired.p or 0.0 for place in tested])
    for place, p in zip(tested, adjusted, strict=True):
        found[place] = found[place].model_copy(update={"p_holm": p})
    return tuple(found)


def _metric(
    definition: Definition,
    ones: Numbers,
    others: Numbers,
    papers: Mapping[str, str],
    common: Sequence[str],
) -> MetricChange:
    belongs = [task for task in common if task in ones and task in others]
    pairs = {task: (_mean(ones[task]), _mean(others[task])) for task in belongs}
    both = {task: (a, b) for task, (a, b) in pairs.items() if a is not None and b is not None}
    before, after = ([pair[side] for pair in both.values()] for side in (0, 1))
    return MetricChange(
        key=definition.key,
        label=definition.label,
        title=definition.title,
        first=fmean(before) if before else None,
        second=fmean(after) if after else None,
        paired=paired(before, after, [papers[task] for task in both]),
        p_holm=None,
        unscored=len(belongs) - len(both),
        bounds=_bounds([(ones[task], others[task]) for task in belongs]),
    )


def _bounds(
    tasks: Sequence[tuple[Sequence[float | None], Sequence[float | None]]],
) -> Bounds | None:
    def filled(numbers: Sequence[float | None], value: float) -> float:
        return fmean(value if number is None else number for number in numbers)

    if not tasks:
        return None
    return Bounds(
        low=fmean(filled(b, 0.0) - filled(a, 1.0) for a, b in tasks),
        high=fmean(filled(b, 1.0) - filled(a, 0.0) for a, b in tasks),
    )


def _changes(first: Run, second: Run, common: Sequence[str]) -> tuple[Change, ...]:
    attempts = [seen(run.ordered()) for run in (first, second)]
    scores = [(d, *_of_both(d, attempts)) for d in SCORES]
    paper_of = {outcome.task_id: outcome.paper for outcome, _ in attempts[0]}
    found = []
    for task in common:
        both = [(d, _mean(a.get(task, ())), _mean(b.get(task, ()))) for d, a, b in scores]
        changed = tuple(
            ScoreChange(key=d.key, label=d.label, first=a, second=b)
            for d, a, b in both
            if not _alike(a, b)
        )
        if changed:
            found.append(Change(task_id=task, paper=paper_of[task], scores=changed))
    return tuple(found)


def _of_both(definition: Definition, attempts: Sequence[Sequence[Seen]]) -> tuple[Numbers, Numbers]:
    first, second = (numbers(definition, each)[0] for each in attempts)
    return first, second


def _mean(own: Sequence[float | None]) -> float | None:
    known = [number for number in own if number is not None]
    return fmean(known) if known else None


def _alike(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) < 1e-9
