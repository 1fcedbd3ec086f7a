"""``expbench execute``: a run's submissions executed again on clean trees, beside what the run has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import (
    DataOption,
    ImageOption,
    JsonOption,
    PackagesOption,
    ReposOption,
    RootfsOption,
    RunArgument,
    SamplesOption,
    TaskOption,
    UnenforcedOption,
    UnsafeOption,
    do,
)

EPILOG = "Example: expbench execute runs/NAME --repeat 3"


def execute(
    folder: RunArgument,
    repeat: Annotated[
        int, typer.Option(min=1, max=1000, help="How often each submission is executed.")
    ] = 1,
    sandbox: Annotated[
        str, typer.Option(help="bwrap, docker, podman, k8s or local [default: the run's].")
    ] = "",
    image: ImageOption = "",
    rootfs: RootfsOption = None,
    task: TaskOption = None,
    script: Annotated[
        str, typer.Option(help="Name of the script [default: reproduce_exp_bench.sh].")
    ] = "",
    name: Annotated[
        str, typer.Option(help="Name of the folder in executed/ [default: the sandbox's].")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Another folder, which becomes a run of its own.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Execute also what is known from the same conditions.")
    ] = False,
    perturb: Annotated[
        bool,
        typer.Option(
            "--perturb",
            help="Also with other seeds and other numbers, to see whether results react.",
        ),
    ] = False,
    max_samples: SamplesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    packages: PackagesOption = None,
    allow_unenforced: UnenforcedOption = False,
    unsafe: UnsafeOption = False,
    json: JsonOption = False,
) -> None:
    """Execute a run's submissions again, each on a clean tree in a fresh sandbox.

    The run stays as it is. The result is a folder executed/NAME in the run's, which `expbench report`
    reads like any run. What was executed under the same conditions before is taken from there.
    """

    def body() -> int:
        from expbench.cli.execution_work import Choice, execute_run

        choice = Choice(
            repeat=repeat,
            sandbox=sandbox,
            image=image,
            rootfs=rootfs,
            tasks=tuple(task or ()),
            script=script,
            name=name,
            out=out,
            fresh=fresh,
            perturb=perturb,
            max_samples=max_samples,
            data=data,
            repos=repos,
            packages=tuple(packages or ()),
            allow_unenforced=allow_unenforced,
            unsafe=unsafe,
        )
        return execute_run(folder, choice, json)

    do(body)
