"""``expbench tasks verify``: the authors' own code against the expected outcome."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from expbench.dataset import load_suite, suite_of
from expbench.errors import NotFoundError
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.providers import provider
from expbench.schema import Limits
from expbench.verify import (
    Check,
    Verification,
    default_command,
    errata_row,
    to_json,
    verify,
)
from expbench.workspace import SourceFinder


def verify_tasks(
    ids: Sequence[str],
    command: str,
    expect: str,
    contradict: str,
    repeat: int,
    minutes: float,
    packages: tuple[Path, ...],
    data: Path | None,
    repos: Path | None,
    cache: Path,
    as_json: bool,
) -> int:
    """Run the authors' code of each task and print what it says."""
    if not ids:
        raise NotFoundError("Name the tasks to verify: --task VENUE/PAPER/INDEX.")
    provider("bwrap").check()
    paths = CachePaths(cache)
    finder = SourceFinder(paths.repos, clones=repos)
    hidden = (data,) if data else ()
    host = SandboxHost(paths, hidden, packages)
    console = Console(stderr=as_json)
    done: list[Verification] = []
    for name in ids:
        task = load_suite(suite_of(name), data).task(name)
        source = finder.source(task)
        text = command or default_command(task, source)
        console.print(f"{name}: {text[:120]}", markup=False, highlight=False, soft_wrap=True)
        check = Check.of(task, expect, contradict)
        limits = Limits(minutes=minutes, memory_mib=None)
        done.append(verify(task, source, host, text, check, repeat, limits))
    if as_json:
        print(to_json(done))  # noqa: T201
    else:
        _show(done, console)
    return 0


def _show(done: Sequence[Verification], console: Console) -> None:
    table = Table("task", "runs", "state", "why", "seconds", header_style="bold")
    for each in done:
        seconds = ", ".join(f"{run.seconds:g}" for run in each.runs)
        table.add_row(each.task_id, str(len(each.runs)), each.state, each.reason, seconds)
    console.print(table)
    for each in done:
        if row := errata_row(each):
            console.print(
                "errata row, to be checked:", row.model_dump_json(), markup=False, soft_wrap=True
            )
