"""``expbench review``, also ``expbench construct review``: the human check of drafts and of verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import DataOption, JsonOption, ReposOption, do
from expbench.cli.settings import cache_folder, data_folder, variables

EPILOG = "Example: expbench review runs/NAME"
PROJECT_EPILOG = "Example: expbench construct review papers/NAME"


def review(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A construction project's folder, or a run's, runs/NAME."
        ),
    ],
    reviewer: Annotated[
        str, typer.Option(help="Name under which decisions are kept [default: the user's].")
    ] = "",
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65_535, help="Port on the loopback [default: 8417, or any that is free]."
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind/--no-blind", help="Hide a judge's verdict until the reviewer has decided."
        ),
    ] = True,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Only print how far the reviewers agree.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Only write a run's labelled items as a set for `expbench judge-eval --set`."
        ),
    ] = None,
    export_findings: Annotated[
        Path | None,
        typer.Option(
            help="Only write a run's labelled trajectories as a set for `expbench monitor-eval --set`."
        ),
    ] = None,
    data: DataOption = None,
    repos: ReposOption = None,
    json: JsonOption = False,
) -> None:
    """Review drafts of tasks, or a judge's verdicts and the monitor's findings, on a local page."""

    def body() -> int:
        from expbench.cli.reviewing_work import Wanted, run_review

        wanted = Wanted(
            folder=folder,
            reviewer=reviewer,
            port=port,
            browser=browser,
            blind=blind,
            agreement=agreement,
            export=export,
            export_findings=export_findings,
            json=json,
            cache=cache_folder(),
            data=data_folder(data),
            repos=repos,
            variables=variables(),
        )
        return run_review(wanted)

    do(body)
