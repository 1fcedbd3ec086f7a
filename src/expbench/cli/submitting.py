"""``expbench submit``, ``leaderboard`` and ``unseal``: bundles for others, and the site of many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import DataOption, JsonOption, RunArgument, do
from expbench.cli.settings import cache_folder, data_folder, passphrase_given

KeyOption = Annotated[
    Path | None,
    typer.Option("--key", help="Key file of the sealed part [default: $EXPBENCH_PASSPHRASE]."),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command("submit", epilog="Example: expbench submit runs/NAME")(submit)
    app.command("unseal", epilog="Example: expbench unseal NAME.bundle.tar.gz --out sealed")(unseal)
    app.command("leaderboard", epilog="Example: expbench leaderboard bundles --out site")(
        leaderboard
    )


def submit(
    folder: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(help="A new file NAME.bundle.tar.gz [default: the run's name, here]."),
    ] = None,
    encrypt: Annotated[
        bool,
        typer.Option(
            "--encrypt",
            help="Add ground truth, trajectories and all texts, encrypted (extra `seal`).",
        ),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            help="Key file to use [default: $EXPBENCH_PASSPHRASE, else a new one beside the bundle].",
        ),
    ] = None,
    allow_secret_looking: Annotated[
        bool,
        typer.Option("--allow-secret-looking", help="What looks like a key is none."),
    ] = False,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Make a bundle of a run that others can verify, without ground truth and trajectories."""

    def body() -> int:
        from expbench.cli.submitting_work import Sealing, submit_run

        sealing = Sealing(encrypt, key, passphrase_given())
        return submit_run(
            folder, out, sealing, allow_secret_looking, json, cache_folder(), data_folder(data)
        )

    do(body)


def unseal(
    bundle: Annotated[Path, typer.Argument(help="A file of `expbench submit --encrypt`.")],
    out: Annotated[Path, typer.Option(help="A new or empty folder.")],
    key: KeyOption = None,
    json: JsonOption = False,
) -> None:
    """Open the encrypted part of a bundle."""

    def body() -> int:
        from expbench.cli.submitting_work import unseal_to

        return unseal_to(bundle, out, key, passphrase_given(), json)

    do(body)


def leaderboard(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of bundles.")],
    out: Annotated[
        Path, typer.Option(help="Folder of the site; one that was made before is replaced.")
    ] = Path("site"),
    against: Annotated[
        str,
        typer.Option(help="What the others are compared with: first, best, or a run's name."),
    ] = "best",
    published: Annotated[
        bool,
        typer.Option("--published", help="Show the publication's numbers too, marked as such."),
    ] = False,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Build a static site from bundles; every number is computed again.

    What does not verify is listed with the reason, and the exit code is 2.
    """

    def body() -> int:
        from expbench.cli.submitting_work import build_leaderboard

        return build_leaderboard(folder, out, against, published, json, data_folder(data))

    do(body)
