"""Where the runs of a set do well: by category, type, tier and paper, and task by task.

Small groups have wide intervals, and with many groups some differ by chance: these tables are for looking,
and no test stands behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from expbench.board.contenders import TaskFacts
from expbench.board.measures import DEFINITIONS, Standing
from expbench.metrics import Gated, Metric, measure, parts
from expbench.report.text import natural
from expbench.schema import ScoreName

GROUPED = (
    "all_execution",
    "design",
    "implementation",
    "conclusion",
    "execution",
    "implementation_execution",
    "grounding",
)
"""The metrics of groups, by key; the first is shown first."""
LETTERS: tuple[tuple[str, ScoreName], ...] = (
    ("D", "design"),
    ("I", "implementation"),
    ("C", "conclusion"),
    ("E", "execution"),
)


@dataclass(frozen=True)
class Group:
    """Tasks that have something in common: for each of :data:`GROUPED` a metric of each run."""

    name: str
    tasks: int
    metrics: tuple[tuple[Metric, ...], ...]


@dataclass(frozen=True)
class Grouping:
    """All groups by one property; there are at least two."""

    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Passed:
    """How many of a task's epochs are fully right on a score, of those with a number, in one run."""

    letter: str
    right: int
    scored: int


@dataclass(frozen=True)
class TaskCell:
    """A task in one run; ``convicted`` and ``unfinished`` count its epochs."""

    passed: tuple[Passed, ...]
    convicted: int
    unfinished: int
    epochs: int

    @property
    def all_right(self) -> bool:
        """Whether some epoch may be right on all four: each has been passed at least once."""
        return all(each.right for each in self.passed)


@dataclass(frozen=True)
class TaskRow:
    """A task in all runs of a set."""

    task_id: str
    facts: TaskFacts | None
    cells: tuple[TaskCell, ...]


_WAYS: tuple[tuple[str, Callable[[TaskFacts], str]], ...] = (
    ("category", lambda facts: facts.category),
    ("type", lambda facts: f"type {facts.type}"),
    ("tier", lambda facts: facts.tier),
    ("paper", lambda facts: facts.paper),
)


def groupings(standings: Sequence[Standing]) -> tuple[Grouping, ...]:
    """The groupings that the tasks' facts allow."""
    facts = facts_in(standings)
    found = []
    for title, name_of in _WAYS:
        members: dict[str, set[str]] = {}
        for task_id in tasks_in(standings):
            if task_id in facts and (name := name_of(facts[task_id])):
                members.setdefault(name, set()).add(task_id)
        if len(members) > 1:
            found.append(Grouping(title, tuple(_groups(standings, members))))
    return tuple(found)


def rows(standings: Sequence[Standing]) -> tuple[TaskRow, ...]:
    """Every task of the set, in natural order."""
    facts = facts_in(standings)
    views = [_views(each) for each in standings]
    threshold = standings[0].summary.threshold
    return tuple(
        TaskRow(
            task_id,
            facts.get(task_id),
            tuple(_cell(own.get(task_id, ()), threshold) for own in views),
        )
        for task_id in sorted(tasks_in(standings), key=natural)
    )


def facts_in(standings: Sequence[Standing]) -> dict[str, TaskFacts]:
    """What is known of the tasks, by the first run that knows it."""
    found: dict[str, TaskFacts] = {}
    for each in reversed(standings):
        found.update(each.contender.facts)
    return found


def tasks_in(standings: Sequence[Standing]) -> tuple[str, ...]:
    """The tasks of a set, which all its runs have."""
    return standings[0].contender.run.manifest.tasks


def _groups(standings: Sequence[Standing], members: dict[str, set[str]]) -> Iterator[Group]:
    threshold = standings[0].summary.threshold
    ordered = {name: members[name] for name in sorted(members, key=natural)}
    by_run = (parts(each.attempts, ordered) for each in standings)
    for (name, tasks), own in zip(ordered.items(), zip(*by_run, strict=True), strict=True):
        metrics = tuple(
            tuple(measure(DEFINITIONS[key], each, threshold) for each in own) for key in GROUPED
        )
        yield Group(name, len(tasks), metrics)


def _views(each: Standing) -> dict[str, list[tuple[Gated, bool]]]:
    found: dict[str, list[tuple[Gated, bool]]] = {}
    for outcome, view in each.attempts:
        ended = outcome.status in ("finished", "agent_error")
        found.setdefault(outcome.task_id, []).append((view, ended))
    return found


def _cell(views: Sequence[tuple[Gated, bool]], threshold: float) -> TaskCell:
    passed = []
    for letter, name in LETTERS:
        known = [full for view, _ in views if (full := view.full(name, threshold)) is not None]
        passed.append(Passed(letter, sum(known), len(known)))
    return TaskCell(
        passed=tuple(passed),
        convicted=sum(view.convicted for view, _ in views),
        unfinished=sum(not ended for _, ended in views),
        epochs=len(views),
    )
