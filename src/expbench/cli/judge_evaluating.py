"""``expbench judge-eval``: the command's options; the work is in :mod:`~expbench.cli.judge_eval_work`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import (
    DataOption,
    EstimateOption,
    ItemsOption,
    JsonOption,
    JudgeConcurrencyOption,
    JudgeDeadlineOption,
    JudgeOption,
    JudgeSamplesOption,
    PricesOption,
    ProtocolOption,
    ReposOption,
    do,
)
from expbench.cli.settings import cache_folder, data_folder

EPILOG = "Example: expbench judge-eval --judge baseline"


def judge_eval(
    judge: JudgeOption = None,
    protocol: ProtocolOption = "itemised",
    judge_samples: JudgeSamplesOption = 1,
    items_per_call: ItemsOption = 1,
    judge_concurrency: JudgeConcurrencyOption = 8,
    judge_deadline: JudgeDeadlineOption = 600.0,
    samples: Annotated[
        int, typer.Option(min=1, help="Times that everything is judged, for self-agreement.")
    ] = 1,
    no_paper: Annotated[
        bool, typer.Option("--no-paper", help="Do not judge by the paper protocol as well.")
    ] = False,
    set_file: Annotated[
        list[Path] | None,
        typer.Option("--set", help="Your labelled set, JSON lines [default: the shipped one]."),
    ] = None,
    import_file: Annotated[
        Path | None,
        typer.Option("--import", help="People's labels as CSV: case, item, phase, label, person."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many cases, of the papers in turn.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for verdicts and result, or the file of --generate."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Cases at the same time.")] = 4,
    seed: Annotated[int, typer.Option(help="Of intervals, the random judge and --generate.")] = 0,
    generate: Annotated[
        str, typer.Option(help="Write labelled variants of this suite's tasks to --out instead.")
    ] = "",
    estimate: EstimateOption = False,
    prices: PricesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    json: JsonOption = False,
) -> None:
    """Measure how good a judge is, on items whose right verdict is known.

    It stands beside a coin, a judge that finds everything met, the baseline, and the paper protocol. A
    model's verdicts are kept in a folder, so that the same command goes on where it was stopped.
    """

    def body() -> int:
        from expbench.cli.judge_eval_work import Wish, evaluate, write_variants
        from expbench.cli.judging import judging_choice, use_prices_of

        folder = data_folder(data)
        if generate:
            return write_variants(generate, out, seed, folder, repos, cache_folder())
        use_prices_of(prices)
        wish = Wish(
            judging=judging_choice(
                judge, protocol, judge_samples, items_per_call, judge_concurrency, judge_deadline
            ),
            samples=samples,
            paper=not no_paper,
            sets=tuple(set_file or ()),
            people=import_file,
            limit=limit,
            out=out,
            concurrency=concurrency,
            seed=seed,
            estimate=estimate,
            data=folder,
            cache=cache_folder(),
            output="json" if json else "markdown" if markdown else "table",
        )
        return evaluate(wish)

    do(body)
