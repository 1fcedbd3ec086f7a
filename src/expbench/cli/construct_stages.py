"""``expbench construct extract``, ``locate``, ``write``, ``verify`` and ``run``: the stages of a project."""

from __future__ import annotations

from typing import Annotated

import typer

from expbench.cli.construct_projects import BudgetOption, ProjectArgument
from expbench.cli.options import EstimateOption, JsonOption, PackagesOption, PricesOption, do
from expbench.cli.settings import cache_folder

EXTRACT = "Example: expbench construct extract papers/mine --model openai/gpt-5"
LOCATE = "Example: expbench construct locate papers/mine --model openai/gpt-5"
WRITE = "Example: expbench construct write papers/mine --model openai/gpt-5"
VERIFY = "Example: expbench construct verify papers/mine --rounds 2"
RUN = "Example: expbench construct run papers/mine --model openai/gpt-5"

StageModelOption = Annotated[
    str, typer.Option("--model", help="Any Inspect model, provider/name; it may differ by stage.")
]
SearchMinutesOption = Annotated[
    float,
    typer.Option(
        "--limit-minutes", min=0.1, help="Minutes of one question's search, or of one run."
    ),
]
SearchTurnsOption = Annotated[
    int, typer.Option("--limit-turns", min=1, help="Answers of the model to one question's search.")
]
SearchDollarsOption = Annotated[
    float | None,
    typer.Option("--limit-dollars", min=0.0, help="What one question's search may cost."),
]
AgainOption = Annotated[
    list[str] | None,
    typer.Option(
        "--again",
        metavar="DRAFT",
        help="Do a refused draft once more, and tell the model why it was refused; several possible.",
    ),
]
PicturesOption = Annotated[
    bool,
    typer.Option(
        "--pictures", help="Show the model the pictures of tables and figures too; it has to see."
    ),
]
RoundsOption = Annotated[
    int, typer.Option("--rounds", min=0, help="How often a draft may go back to an earlier stage.")
]


def extract(
    folder: ProjectArgument,
    model: StageModelOption = "",
    pictures: PicturesOption = False,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    estimate: EstimateOption = False,
    again: AgainOption = None,
    json: JsonOption = False,
) -> None:
    """Make drafts of tasks from the paper: question, method, outcome, design, claims, with their evidence."""

    def body() -> int:
        from expbench.cli.construct_work import Wanted, do_stages

        wanted = Wanted(
            folder,
            cache_folder(),
            model,
            budget,
            prices,
            estimate,
            again=tuple(again or ()),
            pictures=pictures,
        )
        return do_stages(wanted, ("extract",), json)

    do(body)


def locate(
    folder: ProjectArgument,
    model: StageModelOption = "",
    budget: BudgetOption = None,
    prices: PricesOption = None,
    estimate: EstimateOption = False,
    limit_minutes: SearchMinutesOption = 30.0,
    limit_turns: SearchTurnsOption = 60,
    limit_dollars: SearchDollarsOption = None,
    packages: PackagesOption = None,
    again: AgainOption = None,
    json: JsonOption = False,
) -> None:
    """Have an agent find and run the authors' programs for each question, or say why there are none."""

    def body() -> int:
        from expbench.cli.construct_work import Wanted, do_stages

        wanted = Wanted(
            folder,
            cache_folder(),
            model,
            budget,
            prices,
            estimate,
            packages=tuple(packages or ()),
            minutes=limit_minutes,
            turns=limit_turns,
            search_dollars=limit_dollars,
            again=tuple(again or ()),
        )
        return do_stages(wanted, ("locate",), json)

    do(body)


def write(
    folder: ProjectArgument,
    model: StageModelOption = "",
    budget: BudgetOption = None,
    prices: PricesOption = None,
    estimate: EstimateOption = False,
    again: AgainOption = None,
    json: JsonOption = False,
) -> None:
    """Word requirements and instructions from the trace, and choose what is masked."""

    def body() -> int:
        from expbench.cli.construct_work import Wanted, do_stages

        wanted = Wanted(
            folder, cache_folder(), model, budget, prices, estimate, again=tuple(again or ())
        )
        return do_stages(wanted, ("write",), json)

    do(body)


def verify(
    folder: ProjectArgument,
    rounds: RoundsOption = 2,
    limit_minutes: SearchMinutesOption = 40.0,
    packages: PackagesOption = None,
    json: JsonOption = False,
) -> None:
    """Run each chain, its oracle and an empty submission in clean sandboxes; send back what fails."""

    def body() -> int:
        from expbench.cli.construct_work import Wanted, do_stages

        wanted = Wanted(
            folder,
            cache_folder(),
            packages=tuple(packages or ()),
            run_minutes=limit_minutes,
            rounds=rounds,
        )
        return do_stages(wanted, ("verify",), json)

    do(body)


def run(
    folder: ProjectArgument,
    model: StageModelOption = "",
    pictures: PicturesOption = False,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    rounds: RoundsOption = 2,
    limit_minutes: SearchMinutesOption = 30.0,
    limit_turns: SearchTurnsOption = 60,
    limit_dollars: SearchDollarsOption = None,
    packages: PackagesOption = None,
    json: JsonOption = False,
) -> None:
    """Do all stages that are left, in order, and again what verification sends back."""

    def body() -> int:
        from expbench.cli.construct_work import ALL, Wanted, do_stages

        wanted = Wanted(
            folder,
            cache_folder(),
            model,
            budget,
            prices,
            packages=tuple(packages or ()),
            minutes=limit_minutes,
            turns=limit_turns,
            search_dollars=limit_dollars,
            rounds=rounds,
            pictures=pictures,
        )
        return do_stages(wanted, ALL, json)

    do(body)
