"""``expbench status``: what a run is at, also from another terminal while it goes on."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from expbench.cli.options import JsonOption, do
from expbench.paths import RunPaths

if TYPE_CHECKING:
    from expbench.status import RunStatus

EPILOG = "Example: expbench status runs/NAME --watch"


def status(
    folder: Annotated[
        Path, typer.Argument(help="The run's folder, runs/NAME, or a packed run, NAME.tar.gz.")
    ],
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again every two seconds until the run ends.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what each task of a run is at, what it waits for, what is spent, and what is stuck.

    Only files are read: nothing is asked of the run, and nothing is changed. Exit code 1 when something
    is stuck.
    """

    def body() -> int:
        from expbench.errors import UserError

        if RunPaths(folder).matrix.is_file():
            from expbench.matrix import load_matrix

            folders = [run.paths.root for run in load_matrix(folder)]
            if watch:
                raise UserError(
                    f"--watch shows one run: give a folder of it, such as {folders[0]}."
                )
            return _all(folders, json)
        if watch:
            return _watched(folder, json)
        return _once(folder, json)

    do(body)


_EVERY = 2.0
_MOST_ROWS = 60
"""Rows of the table; ``--json`` has all tasks."""


def _once(folder: Path, as_json: bool) -> int:
    from rich.console import Console

    from expbench.cli.status_table import view

    found = _read(folder)
    console = Console(highlight=False)
    if as_json:
        text = found.model_dump_json(indent=1)
        console.print(text, markup=False, soft_wrap=True)
    else:
        console.print(view(found, _MOST_ROWS))
    return 1 if found.all_stuck else 0


def _all(folders: Sequence[Path], as_json: bool) -> int:
    """The runs that were begun at once, one after the other."""
    if not as_json:
        return max(_once(folder, as_json) for folder in folders)
    found = [_read(folder) for folder in folders]
    runs = ", ".join(each.model_dump_json() for each in found)
    typer.echo(f'{{"runs": [{runs}]}}')
    return int(any(each.all_stuck for each in found))


def _watched(folder: Path, as_json: bool) -> int:
    """Show it until no harness works on the run."""
    from rich.console import Console
    from rich.live import Live

    from expbench.cli.status_table import view

    found = _read(folder)
    if as_json:
        while True:
            print(found.model_dump_json(), flush=True)  # noqa: T201
            if not found.alive:
                return 0
            time.sleep(_EVERY)
            found = _read(folder)
    console = Console(highlight=False)
    with Live(view(found, _MOST_ROWS), console=console, auto_refresh=False) as live:
        while found.alive:
            time.sleep(_EVERY)
            found = _read(folder)
            live.update(view(found, _MOST_ROWS), refresh=True)
    return 0


def _read(folder: Path) -> RunStatus:
    from expbench.packing import peek
    from expbench.status import status as status_of

    if not folder.is_file():
        return status_of(folder)
    with tempfile.TemporaryDirectory(prefix="expbench-status-") as place:
        peek(folder, Path(place), ("manifest.json", "journal.jsonl", "ledger.jsonl"))
        return status_of(Path(place)).model_copy(update={"folder": str(folder)})
