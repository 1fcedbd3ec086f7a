"""``expbench failures-eval``: how right a coder of failures is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, PricesOption, do

EPILOG = "Example: expbench failures-eval"


def failures_eval(
    coder: Annotated[
        list[str] | None,
        typer.Option(help="rules, or an Inspect model; several possible [default: rules]."),
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option("--set", help="Labelled errors as JSON lines [default: the shipped set]."),
    ] = None,
    codebook: Annotated[
        Path | None, typer.Option(help="The codebook of the set [default: the shipped one].")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="Where answers of models are kept; what is there is not asked again."),
    ] = Path("failures-eval.jsonl"),
    dollars: Annotated[
        float | None,
        typer.Option("--max-dollars", min=0.0, help="What each model may cost at most."),
    ] = None,
    prices: PricesOption = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for a page.")] = False,
    json: JsonOption = False,
) -> None:
    """Code errors whose codes are known, and say how often it is right."""

    def body() -> int:
        from expbench.cli.failing_coders import Coders
        from expbench.cli.failure_eval_work import show_eval
        from expbench.prices import read_prices, use_prices

        use_prices(read_prices(prices) if prices is not None else None)
        coders = Coders(tuple(coder or ("rules",)), False, 10, 0, dollars)
        return show_eval(coders, own, codebook, out, markdown, json)

    do(body)
