"""A run's status as a table for the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from expbench.cli.progress import duration
from expbench.status import RunStatus, TaskStatus

_ORDER = {"at work": 0, "infrastructure": 1, "stopped": 2, "queue": 3, "done": 4}
_LISTED = ("at work", "infrastructure", "stopped")
"""States of which each task has a row; those that wait and those that are done are counted."""


def view(run: RunStatus, most: int) -> RenderableType:
    """What a person is shown: a few lines about the run, and at most so many rows of tasks."""
    listed = [task for task in run.tasks if task.state in _LISTED]
    listed.sort(key=lambda task: (not task.stuck, _ORDER[task.state]))
    parts: list[RenderableType] = [Text(line) for line in _lines(run)]
    if listed:
        parts.append(_table(listed[:most]))
    if len(listed) > most:
        parts.append(Text(f"and {len(listed) - most} tasks more: --json has all of them"))
    parts += [Text(f"stuck: {sentence}", style="bold red") for sentence in run.all_stuck]
    if not run.alive and run.done < run.planned:
        parts.append(Text(f"go on with `expbench resume {shlex.quote(run.folder)}`"))
    return Group(*parts)


def _lines(run: RunStatus) -> Iterator[str]:
    who = ", ".join(filter(None, (run.agent, run.model)))
    process = f" (process {run.pid})" if run.pid is not None else ""
    yield f"{run.run}: {run.state}{process}; agent {who}; judge {run.judge}"
    counts = [f"{run.done} of {run.planned} tasks done"]
    for number, what in (
        (run.at_work, "at work"),
        (run.waiting, "in the queue"),
        (run.infrastructure, "failed for reasons of infrastructure"),
    ):
        if number:
            counts.append(f"{number} {what}")
    if run.left:
        counts.append(f"about {duration(run.left)} left")
    yield ", ".join(counts)
    unknown = f", and {run.unpriced} calls of models without a known price" if run.unpriced else ""
    if run.dollars is not None:
        yield f"spent: {run.dollars:.2f} dollars{unknown}"


def _table(tasks: list[TaskStatus]) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("task", no_wrap=True)
    for name in ("epoch", "state", "phase", "for", "waits for", "since", "left"):
        table.add_column(name, overflow="fold")
    for task in tasks:
        table.add_row(
            Text(task.task_id),
            str(task.epoch),
            task.state,
            task.phase or "",
            _duration(task.seconds),
            Text(task.waiting),
            _duration(task.waiting_seconds),
            _duration(task.left),
            style="bold red" if task.stuck else None,
        )
    return table


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)
