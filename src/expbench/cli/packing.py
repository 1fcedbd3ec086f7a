"""``expbench runs``: pack, unpack and list runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, RunArgument, do

runs_app = typer.Typer(help="Pack, unpack and list runs.", no_args_is_help=True)


@runs_app.command("pack", epilog="Example: expbench runs pack runs/NAME --out NAME.tar.gz")
def pack_run(
    folder: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(help="The archive, a new file NAME.tar.gz [default: the run's name, here]."),
    ] = None,
    without_logs: Annotated[
        bool, typer.Option("--without-logs", help="Leave Inspect's logs out.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write a run to one file that can be unpacked elsewhere."""

    def body() -> int:
        from expbench.cli.moving import pack_to

        return pack_to(folder, out, not without_logs, json)

    do(body)


@runs_app.command("unpack", epilog="Example: expbench runs unpack NAME.tar.gz --out runs/NAME")
def unpack_run(
    archive: Annotated[Path, typer.Argument(help="A file that `expbench runs pack` made.")],
    out: Annotated[
        Path | None,
        typer.Option(help="A new or empty folder [default: the run's name, under runs/]."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make a run's folder of a packed run, after checking everything in it."""

    def body() -> int:
        from expbench.cli.moving import unpack_to

        return unpack_to(archive, out, json)

    do(body)


@runs_app.command("list", epilog="Example: expbench runs list runs")
def list_runs(
    folder: Annotated[Path, typer.Argument(help="The folder of runs.")] = Path("runs"),
    json: JsonOption = False,
) -> None:
    """List the runs of a folder, also damaged ones."""

    def body() -> int:
        from expbench.cli.moving import list_folder

        return list_folder(folder, json)

    do(body)
