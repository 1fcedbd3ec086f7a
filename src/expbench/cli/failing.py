"""``expbench failures``: why attempts fail, and what to mend first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import DataOption, JsonOption, do
from expbench.cli.settings import cache_folder, data_folder

EPILOG = "Example: expbench failures runs/NAME"


def failures(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="A run's folder; with several, one map of all."),
    ],
    codebook: Annotated[
        Path | None, typer.Option(help="Codebook to code against [default: the shipped one].")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Conjunctive metric of which is said what each cause costs; several possible "
            "[default: all_execution and all_execution_grounding]."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the map [default: failures in the run's; failures, here], or the sample's "
            "file [default: sample.csv]."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, help="Write so many errors as a table for a person to code, and no map."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Such a CSV with a person's codes: say how right the coding is."),
    ] = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Say why attempts fail, each cause with its evidence, and what to mend first."""

    def body() -> int:
        from expbench.cli.failing_work import Wanted, map_runs

        wanted = Wanted(
            folders=tuple(folders),
            codebook=codebook,
            metrics=tuple(metric or ()),
            out=out,
            sample=sample,
            labels=labels,
            cache=cache_folder(),
            data=data_folder(data),
        )
        return map_runs(wanted, json)

    do(body)
