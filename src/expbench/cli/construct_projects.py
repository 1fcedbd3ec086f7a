"""``expbench construct new`` and ``status``: beginning a project, and how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, do
from expbench.cli.settings import cache_folder, network_variables

NEW = "Example: expbench construct new mine --pdf paper.pdf --repo clones/mine"
STATUS = "Example: expbench construct status papers/mine"

ProjectArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The project's folder (`expbench construct new`).")
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget",
        min=0.0,
        metavar="DOLLARS",
        help="What all models of all stages of the project may cost together.",
    ),
]


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is not there yet.")],
    pdf: Annotated[Path, typer.Option(help="The paper.")],
    repo: Annotated[str, typer.Option(help="Its repository: a clone's folder, or a git address.")],
    commit: Annotated[
        str, typer.Option(help="Full id of the commit to work on [default: HEAD as it is now].")
    ] = "",
    name: Annotated[
        str, typer.Option(help="The paper's id in task files [default: the PDF's name].")
    ] = "",
    budget: BudgetOption = None,
    json: JsonOption = False,
) -> None:
    """Begin a project: the paper, and its repository at one commit."""

    def body() -> int:
        from expbench.cli.construct_work import begin

        return begin(
            folder, pdf, repo, commit, name, budget, cache_folder(), network_variables(), json
        )

    do(body)


def status(folder: ProjectArgument, json: JsonOption = False) -> None:
    """Say how far each draft and stage is, what it cost and how long it took."""

    def body() -> int:
        from expbench.cli.construct_status import show_status

        return show_status(folder, cache_folder(), json)

    do(body)
