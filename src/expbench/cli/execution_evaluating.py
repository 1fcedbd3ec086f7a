"""``expbench execution-eval``: the command's options; the work is in ``execution_eval_work``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import ImageOption, JsonOption, SandboxOption, UnenforcedOption, do
from expbench.cli.settings import cache_folder

EPILOG = "Example: expbench execution-eval --set my-cases"


def execution_eval(
    set_folder: Annotated[
        str,
        typer.Option(
            "--set",
            help="Folder of your cases, or mini: the solutions of suite mini [default: the shipped].",
        ),
    ] = "",
    case: Annotated[
        list[str] | None, typer.Option("--case", help="Only this case; several possible.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many cases.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results and outputs [default: execution-evals/…]."),
    ] = None,
    max_samples: Annotated[
        int | None,
        typer.Option("--max-samples", min=1, help="Cases at the same time [default: processors]."),
    ] = None,
    sandbox: SandboxOption = "bwrap",
    image: ImageOption = "",
    allow_unenforced: UnenforcedOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    json: JsonOption = False,
) -> None:
    """Measure how often E, E+ and G are right, on submissions of which it is known what they show.

    Each is run again for real, in a fresh sandbox. What is finished is kept in a folder, so that the same
    command goes on where it was stopped.
    """

    def body() -> int:
        from expbench.cli.execution_eval_work import Wish, evaluate_execution

        wish = Wish(
            set=set_folder,
            cases=tuple(case or ()),
            limit=limit,
            out=out,
            at_once=max_samples,
            sandbox=sandbox,
            image=image,
            allow_unenforced=allow_unenforced,
            cache=cache_folder(),
            output="json" if json else "markdown" if markdown else "table",
        )
        return evaluate_execution(wish)

    do(body)
