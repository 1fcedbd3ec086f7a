"""Where an agent does well: the same metrics over parts of the tasks, by category, type, tier and paper.

Small groups have wide intervals, and with many groups some differ by chance: they are for looking, and no
test stands behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from expbench.dataset.tiers import tier_of
from expbench.metrics import METRICS, Attempts, Metric, measure, parts, seen
from expbench.report.inputs import ReportInput
from expbench.report.text import interval_text, natural, of_text, percent
from expbench.schema import ResearchTask

COLUMNS = ("design", "implementation", "conclusion", "execution", "grounding", "all_execution")
"""The metrics of a group's row, by key."""
_DEFINITIONS = tuple(each for key in COLUMNS for each in METRICS if each.key == key)


@dataclass(frozen=True)
class Share:
    """One metric of a group in words; without an interval where a group is too small for one."""

    label: str
    value: str
    of: str
    interval: str


@dataclass(frozen=True)
class Group:
    """The tasks that have something in common."""

    name: str
    tasks: int
    shares: tuple[Share, ...]


@dataclass(frozen=True)
class Grouping:
    """All groups by one property; there are at least two."""

    title: str
    groups: tuple[Group, ...]


def groupings(run: ReportInput) -> tuple[Grouping, ...]:
    """By category, type, narrowest tier of the release, and paper, as far as tasks are at hand and differ."""
    found = []
    attempts = seen(run.outcomes)
    for title, name_of in _WAYS:
        groups = tuple(_groups(run, attempts, name_of))
        if len(groups) > 1:
            found.append(Grouping(title, groups))
    return tuple(found)


def _groups(
    run: ReportInput, attempts: Attempts, name_of: Callable[[ResearchTask], str]
) -> Iterator[Group]:
    members: dict[str, set[str]] = {}
    for task_id in {key[0] for key in run.planned}:
        if (task := run.tasks.get(task_id)) is not None and (name := name_of(task)):
            members.setdefault(name, set()).add(task_id)
    ordered = {name: members[name] for name in sorted(members, key=natural)}
    for name, own in zip(ordered, parts(attempts, ordered), strict=True):
        measured = (measure(each, own, run.threshold) for each in _DEFINITIONS)
        yield Group(name, len(members[name]), tuple(map(_share, measured)))


def _share(metric: Metric) -> Share:
    interval = "" if metric.interval.low is None else interval_text(metric.interval)
    return Share(metric.label, percent(metric.value), of_text(metric), interval)


_WAYS: tuple[tuple[str, Callable[[ResearchTask], str]], ...] = (
    ("category", lambda task: task.category),
    ("type", lambda task: f"type {task.type}"),
    ("tier", lambda task: tier_of(task) if task.venue != "mini" else ""),
    ("paper", lambda task: task.paper),
)
