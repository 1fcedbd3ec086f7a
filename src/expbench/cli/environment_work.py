"""What ``expbench env`` does: plans with their problems, progress in lines, and tables."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from expbench.cli.describing import source_of
from expbench.dataset import load_suite, suite_of
from expbench.dataset.recipe import Problem, recipe
from expbench.environments import (
    EnvironmentPlan,
    EnvironmentRecord,
    IndexAccess,
    Interpreter,
    Places,
    Shelf,
    build,
    interpreters,
    own_names,
    plan,
)
from expbench.errors import InfrastructureError, RepositoryError
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost
from expbench.schema import ResearchTask
from expbench.workspace.files import SourceFiles

_PLAIN_WIDTH = 160
"""Characters of a table's line where there is no terminal that has a width."""


@dataclass(frozen=True)
class Selection:
    """Which tasks: the named ones, else all of the suite."""

    suite: str
    ids: tuple[str, ...] = ()
    data: Path | None = None
    repos: Path | None = None
    errata: bool = True

    def tasks(self) -> list[ResearchTask]:
        """Raises NotFoundError, DataError."""
        if not self.ids:
            return list(load_suite(self.suite, self.data, self.errata).tasks)
        suites = {
            name: load_suite(name, self.data, self.errata) for name in map(suite_of, self.ids)
        }
        return [suites[suite_of(name)].task(name) for name in dict.fromkeys(self.ids)]


@dataclass
class Work:
    """One environment: its plan, the tasks that it is for, and what became of it."""

    plan: EnvironmentPlan
    tasks: list[str] = field(default_factory=list)
    state: str = "planned"
    reason: str = ""
    record: EnvironmentRecord | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is not as the recipe asks for it."""
        return (*self.plan.cannot, *(self.record.problems if self.record else ()))

    def as_json(self) -> dict[str, Any]:
        made = self.record.model_dump(exclude={"plan", "problems"}) if self.record else {}
        return {
            "digest": self.plan.digest,
            "state": self.state,
            "reason": self.reason,
            "tasks": self.tasks,
            "complete": self.record.complete if self.record else None,
            "problems": [problem.model_dump() for problem in self.problems],
            "plan": self.plan.model_dump(exclude={"cannot"}),
            **made,
        }


def build_all(
    chosen: Selection,
    index: IndexAccess,
    places: Places,
    cache: Path,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Build the environments of the chosen tasks; exit code 1 when one could not be made."""
    index.check()
    console = _console(as_json)
    work, unavailable = _planned(chosen, index, interpreters(places), cache)
    for each in work:
        _show_plan(each, console)
    if not dry_run:
        paths = CachePaths(cache)
        host = SandboxHost(paths, (chosen.data,) if chosen.data else ())
        for number, each in enumerate(work, 1):
            _build(each, Shelf(paths.environments), index, host, console, f"[{number}/{len(work)}]")
    if as_json:
        missing = [{"task": task, "reason": reason} for task, reason in unavailable.items()]
        _print_json({"environments": [each.as_json() for each in work], "unavailable": missing})
    else:
        for task, reason in unavailable.items():
            _line(console, f"{task}: {reason}")
        console.print(_table(work))
    return 1 if unavailable or any(each.state == "failed" for each in work) else 0


def list_all(cache: Path, as_json: bool) -> int:
    """Print the environments that are there."""
    rows = Shelf(CachePaths(cache).environments).installed()
    if as_json:
        _print_json([row.model_dump() for row in rows])
        return 0
    table = Table(box=None, header_style="bold")
    for name in ("environment", "python", "packages", "size", "last used", "complete", "tasks"):
        table.add_column(name, justify="right" if name in ("packages", "size") else "left")
    for row in rows:
        table.add_row(
            row.digest,
            row.python,
            str(row.packages),
            decimal(row.bytes),
            time.strftime("%Y-%m-%d %H:%M", time.localtime(row.used)),
            "yes" if row.complete else "no",
            _some(row.tasks),
        )
    console = _console(False)
    console.print(table, markup=False)
    console.print(f"{len(rows)} environments, {decimal(sum(row.bytes for row in rows))}")
    return 0


def free_all(
    cache: Path, older_than: float | None, max_gib: float | None, dry_run: bool, as_json: bool
) -> int:
    """Free what is not used and say what; exit code 1 when something could not be removed."""
    rows = Shelf(CachePaths(cache).environments).gc(older_than, max_gib, dry_run)
    size = sum(row.bytes for row in rows)
    if as_json:
        items = [row.model_dump() for row in rows]
        _print_json({"dry_run": dry_run, "bytes": size, "environments": items})
    else:
        console = _console(False)
        for row in rows:
            _line(
                console,
                f"{row.digest}: {row.state}{f', {decimal(row.bytes)}' if row.bytes else ''}",
            )
        would = "would be freed; nothing was changed" if dry_run else "freed"
        console.print(f"{decimal(size)} {would}")
    return 1 if any(row.state == "failed" for row in rows) else 0


def _planned(
    chosen: Selection, index: IndexAccess, found: Sequence[Interpreter], cache: Path
) -> tuple[list[Work], dict[str, str]]:
    """What is to be made, one for all tasks with the same plan; and tasks without a repository."""
    work: dict[str, Work] = {}
    unavailable: dict[str, str] = {}
    tasks = chosen.tasks()
    for task in tasks:
        try:
            files = SourceFiles(source_of(task, None, chosen.repos, cache))
            made = plan(recipe(files, task), found, index, own_names(task, files))
        except RepositoryError as error:
            if len(tasks) == 1:
                raise
            unavailable[task.id] = str(error)
            continue
        work.setdefault(made.digest, Work(made)).tasks.append(task.id)
    return list(work.values()), unavailable


def _build(
    work: Work, shelf: Shelf, index: IndexAccess, host: SandboxHost, console: Console, head: str
) -> None:
    had = (shelf.folder / work.plan.digest).is_dir()

    def listener(line: str) -> None:
        _line(console, f"{head} {work.plan.digest}: {line}")

    try:
        with build(work.plan, shelf, index, host, listener, work.tasks) as environment:
            work.record = environment.record
            work.state = "had" if had else "built"
    except InfrastructureError as error:
        work.state, work.reason = "failed", str(error)
        listener(f"failed: {error}")
        return
    made = environment.record
    done = f"{len(made.packages)} packages, {decimal(made.bytes)}"
    listener(f"{done}, already there" if had else f"{done}, {made.seconds:.0f} s")


def _show_plan(work: Work, console: Console) -> None:
    made = work.plan
    _line(console, f"{made.digest}: Python {made.python.version}, for {_some(work.tasks)}")
    _line(console, f"  packages: {', '.join(made.requirements) or 'none'}")
    for problem in made.cannot:
        _line(console, f"  {problem.kind}: {problem.text}")


def _table(work: Iterable[Work]) -> Table:
    table = Table(box=None, header_style="bold")
    for name in (
        "environment",
        "python",
        "packages",
        "size",
        "state",
        "complete",
        "problems",
        "tasks",
    ):
        right = name in ("packages", "size", "problems")
        table.add_column(name, justify="right" if right else "left")
    for each in work:
        record = each.record
        table.add_row(
            each.plan.digest,
            each.plan.python.version,
            str(len(record.packages if record else each.plan.requirements)),
            decimal(record.bytes) if record else "",
            each.state,
            "" if record is None else "yes" if record.complete else "no",
            str(len(each.problems) or ""),
            _some(each.tasks),
        )
    return table


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{', '.join(names[:2])}{more}"


def _console(as_json: bool) -> Console:
    console = Console(stderr=as_json, highlight=False)
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    return console


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201
