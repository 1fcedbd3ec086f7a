"""``expbench tasks check``: the table of a suite's soundness."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from expbench.cli.progress import progress_view
from expbench.dataset import load_suite
from expbench.planning import Options
from expbench.preflight import TaskCheck, check_runs, check_static
from expbench.runner import default_max_samples
from expbench.workspace import SourceFinder


def check(
    suite: str,
    tasks: tuple[str, ...],
    static: bool,
    max_samples: int | None,
    data: Path | None,
    repos: Path | None,
    cache: Path,
    as_json: bool,
) -> int:
    """Check a suite; exit code 1 when a task is not sound."""
    loaded = load_suite(suite, data)
    chosen = loaded.select(tasks)
    finder = SourceFinder(cache / "repos", clones=repos) if suite == "mini" or repos else None
    console = Console(stderr=as_json)
    checks = check_static(chosen, finder)
    if not static:
        options = Options(suite=suite, data=data, repos=repos, cache=cache, minutes=10.0)
        able = sum(1 for task in chosen if task.venue == "mini")
        with (
            tempfile.TemporaryDirectory(prefix="expbench-check-") as folder,
            progress_view(console, 2 * able, 0, f"{suite}: oracle and empty submission") as view,
        ):
            samples = max_samples or default_max_samples()
            checks = check_runs(loaded, checks, options, Path(folder), samples, view)
    if as_json:
        print(json.dumps([each.model_dump() for each in checks], indent=1))  # noqa: T201
    else:
        _show(checks, console)
    return 0 if all(each.sound for each in checks) else 1


def _show(checks: Sequence[TaskCheck], console: Console) -> None:
    table = Table("task", "oracle", "empty", "measured", "leaks", "sound", header_style="bold")
    for each in checks:
        leaks = str(len(each.leaks))
        table.add_row(
            each.task_id,
            each.oracle,
            each.null,
            each.measured,
            leaks,
            "yes" if each.sound else "NO",
        )
    if len(checks) <= 60:
        console.print(table)
    for each in checks:
        for problem in each.problems:
            console.print(
                f"{each.task_id}: {problem}", markup=False, highlight=False, soft_wrap=True
            )
    bad = sum(not each.sound for each in checks)
    skipped = sum(bool(each.skipped) for each in checks)
    console.print(f"{len(checks)} tasks checked, {bad} not sound, {skipped} not checked in full")
