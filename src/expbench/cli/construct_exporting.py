"""``expbench construct export``: finished drafts as task files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.construct_projects import ProjectArgument
from expbench.cli.options import JsonOption, do
from expbench.cli.settings import cache_folder

EXPORT = "Example: expbench construct export papers/mine --format tasks"


def export(
    folder: ProjectArgument,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="tasks: with solutions, for `expbench run`; release: the release's files.",
        ),
    ] = "tasks",
    unanswered: Annotated[
        bool,
        typer.Option(
            "--unanswered", help="Also tasks that no program answers (they have no oracle)."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write the verified tasks that no reviewer rejected."""

    def body() -> int:
        from expbench.cli.construct_exporting_work import export_project

        return export_project(Path(folder), cache_folder(), form, unanswered, json)

    do(body)
