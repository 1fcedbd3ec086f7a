"""``expbench failures``: why attempts fail, and what to mend first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import DataOption, EstimateOption, JsonOption, PricesOption, do
from expbench.cli.settings import cache_folder, data_folder

EPILOG = "Example: expbench failures runs/NAME"


def failures(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="A run's folder; with several, one map of all."),
    ],
    codebook: Annotated[
        Path | None, typer.Option(help="Codebook to code against [default: the shipped one].")
    ] = None,
    coder: Annotated[
        list[str] | None,
        typer.Option(
            "--coder",
            "--coders",
            help="rules, or an Inspect model; the first one's codes are the map's, and with several their "
            "agreement is told [default: rules].",
        ),
    ] = None,
    opened: Annotated[
        bool,
        typer.Option("--open", help="Have the model make a codebook of its own, batch by batch."),
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Tasks of a batch of --open.")] = 10,
    rounds: Annotated[
        int, typer.Option(min=0, help="Most rounds of merging and splitting codes of --open.")
    ] = 2,
    dollars: Annotated[
        float | None,
        typer.Option("--max-dollars", min=0.0, help="What each model may cost at most."),
    ] = None,
    estimate: EstimateOption = False,
    prices: PricesOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Conjunctive metric of which is said what each cause costs; several possible "
            "[default: all_execution and all_execution_grounding]."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the map [default: failures in the run's; failures, here], or the sample's "
            "file [default: sample.csv]."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, help="Write so many errors as a table for a person to code, and no map."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Such a CSV with a person's codes: say how right the coding is."),
    ] = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Say why attempts fail, each cause with its evidence, and what to mend first."""

    def body() -> int:
        from expbench.cli.failing_coders import Coders
        from expbench.cli.failing_work import Wanted, map_runs
        from expbench.prices import read_prices, use_prices

        use_prices(read_prices(prices) if prices is not None else None)
        wanted = Wanted(
            folders=tuple(folders),
            codebook=codebook,
            coders=Coders(tuple(coder or ("rules",)), opened, batch, rounds, dollars),
            metrics=tuple(metric or ()),
            out=out,
            sample=sample,
            labels=labels,
            cache=cache_folder(),
            data=data_folder(data),
            estimate=estimate,
        )
        return map_runs(wanted, json)

    do(body)
