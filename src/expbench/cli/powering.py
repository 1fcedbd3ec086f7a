"""``expbench power``: which differences a comparison can see, and how many tasks or epochs one needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, do

EPILOG = "Example: expbench power --rate 0.25 --icc 0.2 --tasks 452 --papers 50 --difference 0.05"


def power(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="One run, or two of the same tasks: variances are taken from them."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Key of the metric of the runs (docs/metrics.md).")
    ] = "all",
    threshold: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="From which a score is fully right.")
    ] = 1.0,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="Without runs: the share that is expected to be right."
        ),
    ] = None,
    variance: Annotated[
        float | None,
        typer.Option(min=0.0, help="Without runs, instead of --rate: of one attempt's number."),
    ] = None,
    icc: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Without runs: the part of it that is the papers'."),
    ] = 0.2,
    noise: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Without runs: the part that differs between epochs of a task."
        ),
    ] = 0.0,
    correlation: Annotated[
        float,
        typer.Option(
            min=-1.0, max=1.0, help="Unless two runs are given: of the two runs' tasks and papers."
        ),
    ] = 0.0,
    tasks: Annotated[
        int | None, typer.Option(min=2, help="Tasks of the comparison [default: the runs'].")
    ] = None,
    papers: Annotated[
        int | None, typer.Option(min=2, help="Papers of these tasks [default: as in the runs].")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Epochs of each run [default: the runs', else 1].")
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(help="A difference to find, as a fraction: 0.05 is 5 percentage points."),
    ] = None,
    chance: Annotated[
        float, typer.Option("--power", min=0.06, max=0.999, help="Chance of finding it.")
    ] = 0.8,
    alpha: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Two-sided level of the test.")
    ] = 0.05,
    json: JsonOption = False,
) -> None:
    """Say which difference of two runs can be found, and how many tasks or epochs a difference needs.

    For a paired comparison on the same tasks, papers being the unit, by a run's variances or given ones.
    """

    def body() -> int:
        from expbench.cli.powering_work import Wanted, show_power

        wanted = Wanted(
            runs=tuple(runs or ()),
            metric=metric,
            threshold=threshold,
            rate=rate,
            variance=variance,
            icc=icc,
            noise=noise,
            correlation=correlation,
            tasks=tasks,
            papers=papers,
            epochs=epochs,
            difference=difference,
            power=chance,
            alpha=alpha,
        )
        return show_power(wanted, json)

    do(body)
