"""Options that several commands share, and how a command's body is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.boundary import boundary

SuiteOption = Annotated[
    str,
    typer.Option(help="mini, expbench, maskable, clean, lite, paper:ID, … (`expbench suites`)."),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Folder of the released data set [default: $EXPBENCH_DATA, else the fetched one].",
    ),
]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")
]
ReposOption = Annotated[
    Path | None,
    typer.Option("--repos", help="Folder of clones of the papers' repositories, OWNER/NAME."),
]
SamplesOption = Annotated[
    int | None,
    typer.Option("--max-samples", min=1, help="Tasks at the same time [default: processors]."),
]
PackagesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--packages",
        help="Folder of Python packages for the sandbox (pip install --target); several possible.",
    ),
]
ErrataOption = Annotated[
    str,
    typer.Option("--errata", help="package: corrected tasks; none: the release as it is."),
]
MaskOption = Annotated[
    str,
    typer.Option(
        "--mask", help="paper: the task's files and README; strict: also what is left of them."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]

RunArgument = Annotated[Path, typer.Argument(help="The run's folder, runs/NAME.")]

TaskArgument = Annotated[str, typer.Argument(help="A task's id, venue/paper/index.")]


def do(body: Callable[[], int | None]) -> None:
    """Run a command's body; its errors become a sentence and the process's exit code."""
    raise typer.Exit(boundary(body))
