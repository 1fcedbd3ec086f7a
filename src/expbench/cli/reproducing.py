"""``expbench reproduce``: are a run's scores what they were, made again from what it stored?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import (
    DataOption,
    JsonOption,
    PackagesOption,
    ReposOption,
    RunArgument,
    SamplesOption,
    TaskOption,
    do,
)

EPILOG = "Example: expbench reproduce runs/NAME"


def reproduce(
    folder: RunArgument,
    task: TaskOption = None,
    name: Annotated[
        str, typer.Option(help="Folder in reproduced/; an unfinished one is gone on with.")
    ] = "",
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    packages: PackagesOption = None,
    json: JsonOption = False,
) -> None:
    """Make every score of a run again from its stored submissions, and compare.

    The run stays as it is. What a model said is taken as it was recorded, and its scores are computed
    again. Exit code 1 where a score is not what it was.
    """

    def body() -> int:
        return _reproduce(folder, tuple(task or ()), name, max_samples, data, repos, packages, json)

    do(body)


def _reproduce(
    folder: Path,
    tasks: tuple[str, ...],
    name: str,
    max_samples: int | None,
    data: Path | None,
    repos: Path | None,
    packages: list[Path] | None,
    as_json: bool,
) -> int:
    from rich.console import Console

    from expbench.cli.demands import package_indexes
    from expbench.cli.progress import progress_view
    from expbench.cli.settings import cache_folder, data_folder, outer_gpus
    from expbench.planning import check_folders, options_of
    from expbench.reproduce import open_reproducing, reproduce
    from expbench.runner import default_max_samples
    from expbench.runs import load
    from expbench.schema import Outcome

    run = load(folder)
    options = options_of(
        run,
        cache_folder(),
        data_folder(data) if run.manifest.suite != "mini" else None,
        repos,
        tuple(packages or ()),
        package_indexes(run.manifest.policy.network),
        outer_gpus(),
    )
    check_folders(options)
    work = open_reproducing(run, replace(options, tasks=tasks), name)
    console = Console(stderr=True)
    done = len(work.keys) - len(work.todo)
    view = progress_view(console, len(work.keys), done, f"reproducing {folder}")

    def listener(outcome: Outcome) -> None:
        view(outcome.task_id, outcome.epoch, "done", outcome)

    try:
        with view:
            found = reproduce(work, max_samples or default_max_samples(), listener)
    except KeyboardInterrupt:
        root = work.into.paths.root
        text = f"interrupted: the same command with --name {root.name} goes on."
        console.print(text, soft_wrap=True, highlight=False)
        return 130
    if as_json:
        typer.echo(found.model_dump_json(indent=1))
    else:
        _show(found)
    return 0 if found.equal else 1


def _show(found: object) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from expbench.reproduce import Reproduction

    assert isinstance(found, Reproduction)
    console = Console()
    table = Table(title=f"{found.run}: {found.attempts} scored attempts once more")
    for column in ("score", "equal", "of", "how"):
        table.add_column(column)
    for each in found.scores:
        how = "made again" if each.how == "again" else "from recorded verdicts"
        table.add_row(each.score, str(each.equal), str(each.of), how)
    console.print(table)
    if found.differences:
        table = Table(title="What is not as it was")
        for column in ("task", "epoch", "score", "before", "now", "why"):
            table.add_column(column)
        for one in found.differences:
            cells = [one.task_id, str(one.epoch), one.score, *map(_shown, (one.before, one.now))]
            table.add_row(*map(Text, (*cells, one.why)))
        console.print(table)
    if found.missing:
        console.print(f"Left out: {found.missing} without an outcome in the run.", highlight=False)
    for failure in found.failed:
        console.print(f"Not done: {failure}", highlight=False, markup=False, soft_wrap=True)
    verdict = "All scores are what they were."
    if found.differences:
        verdict = "Some scores are not what they were."
    elif found.failed:
        verdict = "Not every score could be made again; those that could are what they were."
    console.print(verdict, highlight=False)


def _shown(value: float | None) -> str:
    return "unscored" if value is None else f"{value:g}"
