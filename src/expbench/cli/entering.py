"""``expbench enter``: into a running sandbox, from another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import do


def enter(
    door: Annotated[Path, typer.Argument(help="The path that the run has printed.")],
) -> None:
    """Work in the sandbox of a run's human agent, until you leave its shell."""

    def body() -> int:
        from expbench.sandboxes.entering import enter

        enter(door)
        return 0

    do(body)
