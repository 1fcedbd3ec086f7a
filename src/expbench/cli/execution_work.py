"""What ``expbench execute`` does: from options to the table of what came out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from expbench.cli.demands import package_indexes
from expbench.cli.run_reports import write_run_report
from expbench.cli.settings import cache_folder, data_folder, outer_gpus
from expbench.errors import UserError
from expbench.planning import Options, options_of
from expbench.reexecute import (
    ExecutedRun,
    Listener,
    Reexecution,
    open_reexecution,
    reexecute,
    summary,
)
from expbench.runner import default_max_samples
from expbench.runs import Executed, Run, load

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}")


@dataclass(frozen=True)
class Choice:
    """The command's options. Empty ones are as the run was planned."""

    repeat: int
    sandbox: str
    image: str
    rootfs: Path | None
    tasks: tuple[str, ...]
    script: str
    name: str
    out: Path | None
    fresh: bool
    perturb: bool
    max_samples: int | None
    data: Path | None
    repos: Path | None
    packages: tuple[Path, ...]
    allow_unenforced: bool
    unsafe: bool


def execute_run(folder: Path, choice: Choice, as_json: bool) -> int:
    """Execute a run's submissions again. Exit code 1 when some could not be for reasons of the harness."""
    if choice.name and not _NAME.fullmatch(choice.name):
        raise UserError(
            f"--name {choice.name!r} is no folder's name: use letters, digits, dots and dashes."
        )
    if choice.name and choice.out:
        raise UserError(
            "--name names a folder in the run's, and --out another one: give one of them."
        )
    run = load(folder)
    options = _options(run, choice)
    work = open_reexecution(
        run,
        options,
        choice.repeat,
        choice.name,
        choice.out,
        choice.fresh,
        choice.script,
        choice.perturb,
    )
    console = Console(stderr=True)
    try:
        with _progress(work, console) as listener:
            reexecute(work, choice.max_samples or default_max_samples(), listener)
    except KeyboardInterrupt:
        root = work.into.paths.root
        where = f"--out {root}" if work.elsewhere else f"--name {root.name}"
        text = f"interrupted: the same command with {where} goes on."
        console.print(text, soft_wrap=True, highlight=False)
        return 130
    _finish(work, options, as_json)
    return 1 if work.todo else 0


def _options(run: Run, choice: Choice) -> Options:
    """The options that the run was planned with, with what is different now."""
    planned = options_of(
        run,
        cache_folder(),
        data_folder(choice.data) if run.manifest.suite != "mini" else None,
        choice.repos,
        choice.packages,
        package_indexes(run.manifest.policy.network),
        outer_gpus(),
    )
    sandbox = choice.sandbox or planned.sandbox
    same = sandbox == planned.sandbox
    return replace(
        planned,
        tasks=choice.tasks,
        sandbox=sandbox,
        image=choice.image or (planned.image if same else ""),
        rootfs=choice.rootfs or (planned.rootfs if same else None),
        allow_unenforced=choice.allow_unenforced or planned.allow_unenforced,
        unsafe=choice.unsafe,
    )


@contextmanager
def _progress(work: Reexecution, console: Console) -> Iterator[Listener]:
    bar = Progress(
        TextColumn("executing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        step = bar.add_task("", total=len(work.todo))

        def listener(done: Executed) -> None:
            bar.advance(step)
            if not console.is_terminal:
                how = f"taken from executed/{done.reused}" if done.reused else "executed"
                what = f"{done.task_id}, epoch {done.epoch}, number {done.number}"
                text = f"{how}: {what}: {done.execution.state}"
                console.print(text, highlight=False, soft_wrap=True)

        yield listener


def _finish(work: Reexecution, options: Options, as_json: bool) -> None:
    files = write_run_report(work.into, options)
    console = Console()
    if as_json:
        text = summary(work).model_dump_json()
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    found = summary(work)
    console.print(_table(found))
    for row in found.submissions:
        for line in filter(None, (row.said, *row.perturbations)):
            text = f"{row.task_id}, epoch {row.epoch}: {line}"
            console.print(text, soft_wrap=True, markup=False, highlight=False)
    console.print(f"Report: {files.html}", soft_wrap=True, highlight=False)


def _table(found: ExecutedRun) -> Table:
    times = "once" if found.repeat == 1 else f"{found.repeat} times"
    title = f"{len(found.submissions)} submissions, each executed {times} in {found.sandbox}"
    table = Table(title=title, title_justify="left")
    table.add_column("task", no_wrap=True)
    for column in ("epoch", "in the run", "now", "E+", "G", "seconds", "outputs"):
        table.add_column(column)
    for row in found.submissions:
        words = ", ".join(f"{state} {count}" for state, count in row.states.items()) or "missing"
        seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
        produced = f"{row.produced} of {sum(row.states.values())}"
        grounded = "–" if row.grounding is None else f"{row.grounding:g}"
        cells = [row.task_id, str(row.epoch), row.before, words, produced, grounded, seconds]
        cells.append(str(row.outputs))
        table.add_row(*(Text(cell) for cell in cells))
    return table
