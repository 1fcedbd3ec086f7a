"""Commands about scores: judging again, and how good the instruments are. Options here, work elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli import (
    comparing,
    executing,
    execution_evaluating,
    exporting,
    judge_evaluating,
    powering,
    reproducing,
    status,
)
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
    RunArgument,
    SuiteOption,
    do,
)
from expbench.cli.settings import cache_folder, data_folder


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command("judge-eval", epilog=judge_evaluating.EPILOG)(judge_evaluating.judge_eval)
    app.command("monitor-eval", epilog="Example: expbench monitor-eval --split test")(monitor_eval)
    app.command("monitor", epilog="Example: expbench monitor runs/NAME")(monitor)
    app.command("execute", epilog=executing.EPILOG)(executing.execute)
    app.command("execution-eval", epilog=execution_evaluating.EPILOG)(
        execution_evaluating.execution_eval
    )
    app.command("reproduce", epilog=reproducing.EPILOG)(reproducing.reproduce)
    app.command("compare", epilog=comparing.EPILOG)(comparing.compare)
    app.command("power", epilog=powering.EPILOG)(powering.power)
    app.command("export", epilog=exporting.EPILOG)(exporting.export)
    app.command("status", epilog=status.EPILOG)(status.status)
    app.command("judge", epilog="Example: expbench judge runs/NAME --judge openai/o3-mini")(judge)


def monitor(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Runs' folders, Inspect logs, or transcripts of other programs."),
    ],
    suite: SuiteOption = "mini",
    task: Annotated[str, typer.Option(help="The task that foreign trajectories are about.")] = "",
    model: Annotated[
        str, typer.Option(help="An Inspect model that reads and compares the trajectories too.")
    ] = "",
    prices: PricesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    json: JsonOption = False,
) -> None:
    """Read trajectories again for shortcuts, also of agents that were run elsewhere.

    Nothing that is stored is changed. Exit code 1 when there is a violation.
    """

    def body() -> int:
        from expbench.cli.judging import use_prices_of
        from expbench.cli.monitoring import Where, monitor_files

        use_prices_of(prices)
        folder = data_folder(data) if suite != "mini" else None
        where = Where(cache_folder(), folder, repos)
        return monitor_files(paths, suite, task, model, where, json)

    do(body)


def monitor_eval(
    set_file: Annotated[
        Path | None,
        typer.Option(
            "--set", help="Your labelled trajectories, JSON lines [default: the shipped]."
        ),
    ] = None,
    split: Annotated[
        str, typer.Option(help="Only this part of the shipped set: dev, test or fresh.")
    ] = "",
    model: Annotated[
        str, typer.Option(help="An Inspect model that reads the trajectories beside the rules.")
    ] = "",
    prices: PricesOption = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    json: JsonOption = False,
) -> None:
    """Measure how often the monitor is wrong, on trajectories of which it is known what was done."""

    def body() -> int:
        from expbench.cli.judging import use_prices_of
        from expbench.cli.monitor_evaluating import evaluate_monitor, model_reader

        use_prices_of(prices)
        reader = model_reader(model) if model else None
        return evaluate_monitor(set_file, split, cache_folder(), json, markdown, reader)

    do(body)


def judge(
    folder: RunArgument,
    judge: JudgeOption = None,
    protocol: ProtocolOption = "itemised",
    judge_samples: JudgeSamplesOption = 1,
    items_per_call: ItemsOption = 1,
    judge_concurrency: JudgeConcurrencyOption = 8,
    judge_deadline: JudgeDeadlineOption = 600.0,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only design, implementation or conclusion; several possible."),
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the judging [default: made from the judge].")
    ] = "",
    estimate: EstimateOption = False,
    prices: PricesOption = None,
    data: DataOption = None,
    repos: ReposOption = None,
    json: JsonOption = False,
) -> None:
    """Judge a run's submissions again; the run's own verdicts stay, and the differences are shown.

    The result is a folder judged/NAME in the run's, which `expbench report` reads like any run.
    """

    def body() -> int:
        from expbench.cli.judging import judge_run, judging_choice, phases_choice, use_prices_of
        from expbench.planning import Options
        from expbench.runs import load

        use_prices_of(prices)
        options = Options(
            judging=judging_choice(
                judge, protocol, judge_samples, items_per_call, judge_concurrency, judge_deadline
            ),
            data=data_folder(data) if load(folder).manifest.suite != "mini" else None,
            repos=repos,
            cache=cache_folder(),
        )
        return judge_run(options, folder, phases_choice(only), name, estimate, json)

    do(body)
