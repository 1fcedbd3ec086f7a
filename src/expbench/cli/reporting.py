"""``expbench report``: one run's report, or several runs on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import DataOption, JsonOption, ThresholdOption, do
from expbench.cli.settings import cache_folder, data_folder
from expbench.errors import UserError

EPILOG = "Example: expbench report runs/NAME"


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="A run's folder; with several, all of them on one page."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder of several runs' page [default: board, here].")
    ] = None,
    against: Annotated[
        str,
        typer.Option(help="What the others are compared with: first, best, or a run's name."),
    ] = "first",
    published: Annotated[
        bool,
        typer.Option("--published", help="Show the publication's numbers too, marked as such."),
    ] = False,
    threshold: ThresholdOption = 1.0,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Write a run's report again and print its table; of several runs, write one page.

    Runs that were not made alike stand in sets of their own, each with the field that differs.
    """

    def body() -> int:
        if len(folders) == 1:
            from expbench.cli.run_reports import report_run

            if out is not None or against != "first" or published:
                raise UserError(
                    "--out, --against and --published are for several runs: name two or more, or "
                    "leave them out."
                )
            return report_run(folders[0], json, cache_folder(), data_folder(data), threshold)
        from expbench.cli.boarding import board_runs

        return board_runs(
            folders,
            out or Path("board"),
            against,
            published,
            json,
            cache_folder(),
            data_folder(data),
            threshold,
        )

    do(body)
