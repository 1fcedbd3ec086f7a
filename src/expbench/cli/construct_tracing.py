"""``expbench construct trace``: what a chain of scripts does, from its source alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, PackagesOption, do
from expbench.cli.settings import cache_folder

EPILOG = "Example: expbench construct trace --repo clones/NAME --source train.sh --question 'Does it help?'"


def trace(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A project: the chains of its drafts are traced."),
    ] = None,
    repo: Annotated[
        Path | None, typer.Option(help="Instead of a project: a repository's folder.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="With --repo: a file of it that is run, or a pattern; several possible."),
    ] = None,
    usage: Annotated[
        str, typer.Option(help="With --repo: how the files are run, in words and commands.")
    ] = "",
    question: Annotated[
        str, typer.Option(help="With --repo: what is asked; steps and files are ranked by it.")
    ] = "",
    figure: Annotated[
        Path | None, typer.Option(help="With --repo: write the graph as this .svg or .html file.")
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="With --repo: steps that are shown, by relevance.")
    ] = 40,
    dynamic: Annotated[
        bool,
        typer.Option(
            "--dynamic",
            help="With --repo: run it in a sandbox too, and say which files really ran.",
        ),
    ] = False,
    command: Annotated[
        str, typer.Option(help="What --dynamic runs [default: the files of --source, in order].")
    ] = "",
    minutes: Annotated[
        float, typer.Option("--limit-minutes", min=0.01, help="Minutes that it may take.")
    ] = 10.0,
    packages: PackagesOption = None,
    json: JsonOption = False,
) -> None:
    """Follow scripts through shell, Python and configurations to their steps, without a model."""

    def body() -> int:
        from expbench.cli.construct_tracing_work import Asked, Running, trace_repository

        running = (
            Running(command, minutes, tuple(packages or ()), cache_folder()) if dynamic else None
        )
        asked = Asked(repo, tuple(source or ()), usage, question, figure, top, running)
        if folder is None:
            return trace_repository(asked, json)
        asked.refuse_repository()
        from expbench.cli.construct_work import Wanted, do_stages

        return do_stages(Wanted(folder, cache_folder()), ("trace",), json)

    do(body)
