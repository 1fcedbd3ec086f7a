"""``expbench env``: build, list and free the Python environments of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import (
    DataOption,
    ErrataOption,
    JsonOption,
    ReposOption,
    SuiteOption,
    TaskOption,
    do,
)
from expbench.cli.settings import (
    cache_folder,
    data_folder,
    errata_choice,
    index_settings,
    interpreter_places,
)

environments_app = typer.Typer(
    help="Build, list and free the Python environments of tasks.", no_args_is_help=True
)


@environments_app.command(
    "build", epilog="Example: expbench env build --task iclr2024/18439/0 --repos clones"
)
def build_environments(
    suite: SuiteOption = "mini",
    task: TaskOption = None,
    wheels: Annotated[
        Path | None,
        typer.Option(
            help="Folder of wheels and source archives, instead of pip's package indexes."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be built.")
    ] = False,
    data: DataOption = None,
    repos: ReposOption = None,
    errata: ErrataOption = "package",
    json: JsonOption = False,
) -> None:
    """Install the packages that tasks' repositories declare, once for all sandboxes.

    Wheels are unpacked; what has none is built in a sandbox without network. Tasks with the same needs
    share an environment. Without --suite, tasks are of the suite that their ids name.
    """

    def body() -> int:
        from expbench.cli.environment_work import Selection, build_all
        from expbench.environments import IndexAccess

        chosen = Selection(
            suite, tuple(task or ()), data_folder(data), repos, errata_choice(errata)
        )
        index = IndexAccess(index_settings(), wheels)
        return build_all(chosen, index, interpreter_places(), cache_folder(), dry_run, json)

    do(body)


@environments_app.command("list", epilog="Example: expbench env list")
def list_environments(json: JsonOption = False) -> None:
    """List the environments that were built."""

    def body() -> int:
        from expbench.cli.environment_work import list_all

        return list_all(cache_folder(), json)

    do(body)


@environments_app.command("gc", epilog="Example: expbench env gc --older-than 30 --max-gib 50")
def free_environments(
    older_than: Annotated[
        float | None, typer.Option(min=0, help="Only those last used so many days ago.")
    ] = None,
    max_gib: Annotated[
        float | None,
        typer.Option(min=0, help="Only until all together take no more than so many GiB."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be freed.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Free the environments that no process uses, those that were used longest ago first."""

    def body() -> int:
        from expbench.cli.environment_work import free_all

        return free_all(cache_folder(), older_than, max_gib, dry_run, json)

    do(body)
