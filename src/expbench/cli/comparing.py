"""``expbench compare``: what changed between two runs, per metric and per task, with paired statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, do

EPILOG = "Example: expbench compare runs/A runs/B"


def compare(
    first: Annotated[Path, typer.Argument(help="The run's folder that is compared with.")],
    second: Annotated[Path, typer.Argument(help="The run's folder that is compared.")],
    threshold: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="From which a score is fully right.")
    ] = 1.0,
    force: Annotated[
        bool,
        typer.Option("--force", help="Compare runs of different conditions too, marked as such."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what changed from one run to another: per metric with paired statistics, and per task.

    Runs with other data, masks, prompts, judges, protocols or limits are refused by the name of what differs.
    """

    def body() -> int:
        from expbench.cli.comparing_work import compare_runs

        return compare_runs(first, second, threshold, force, json)

    do(body)
