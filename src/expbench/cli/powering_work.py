"""The numbers and tables of ``expbench power``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.errors import NotFoundError, UserError
from expbench.metrics import COLLAPSE, METRICS, Definition, numbers, seen, summarise
from expbench.report.text import printable
from expbench.runs import Run, load
from expbench.schema import Record
from expbench.statistics.power import (
    Components,
    Plan,
    components,
    detectable,
    epochs_needed,
    paired_components,
    plan_of,
    power_of,
    tasks_needed,
)

EPOCHS = (1, 2, 3, 5, 10)


@dataclass(frozen=True)
class Wanted:
    """What was asked for; see the options of ``expbench power``."""

    runs: tuple[Path, ...] = ()
    metric: str = "all"
    threshold: float = 1.0
    rate: float | None = None
    variance: float | None = None
    icc: float = 0.2
    noise: float = 0.0
    correlation: float = 0.0
    tasks: int | None = None
    papers: int | None = None
    epochs: int | None = None
    difference: float | None = None
    power: float = 0.8
    alpha: float = 0.05


class Row(Record):
    """A number of epochs: what the tasks show with it, and how many tasks the difference needs."""

    epochs: int
    detectable: float
    """The smallest true difference that is found with the wanted chance, a fraction."""
    power: float | None
    """The chance of finding the asked difference with the tasks that there are."""
    tasks_needed: int | None
    """For the asked difference; ``None`` also where ten million are not enough."""


class Power(Record):
    """Everything that ``expbench power`` says."""

    source: str
    """Where the variances come from."""
    variances: Components
    """Of the difference of one attempt of each run."""
    plan: Plan
    power: float
    alpha: float
    difference: float | None
    epochs_needed: int | None
    """For the asked difference with these tasks; ``None`` where no number is enough, or none was asked."""
    rows: tuple[Row, ...]


def show_power(wanted: Wanted, as_json: bool) -> int:
    """Work it out and print it. Raises UserError."""
    found = work_out(wanted)
    console = Console()
    if as_json:
        text = found.model_dump_json(indent=1)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return 0
    console.print(_table(found))
    return 0


def work_out(wanted: Wanted) -> Power:
    """What a comparison of this size can see. Raises UserError where the options do not fit."""
    if wanted.difference is not None and not 0 < abs(wanted.difference) <= 1:
        raise UserError("--difference is a fraction from 0 to 1: 0.05 is 5 percentage points.")
    parts, plan, source = _from_runs(wanted) if wanted.runs else _from_options(wanted)
    asked = wanted.difference
    settings = (wanted.power, wanted.alpha)
    rows = []
    for epochs in sorted({*EPOCHS, plan.epochs}):
        sized = plan.model_copy(update={"epochs": epochs})
        rows.append(
            Row(
                epochs=epochs,
                detectable=detectable(parts, sized, *settings),
                power=power_of(parts, sized, asked, wanted.alpha) if asked else None,
                tasks_needed=tasks_needed(parts, sized, asked, *settings) if asked else None,
            )
        )
    return Power(
        source=source,
        variances=parts,
        plan=plan,
        power=wanted.power,
        alpha=wanted.alpha,
        difference=asked,
        epochs_needed=epochs_needed(parts, plan, asked, *settings) if asked else None,
        rows=tuple(rows),
    )


def _from_options(wanted: Wanted) -> tuple[Components, Plan, str]:
    if (wanted.rate is None) == (wanted.variance is None):
        raise UserError("Give a run, or --rate of what is right, or --variance of a number.")
    if wanted.tasks is None or wanted.papers is None:
        raise UserError("Without a run the comparison's size is needed: give --tasks and --papers.")
    if wanted.icc + wanted.noise > 1:
        raise UserError("--icc and --noise are parts of one variance: together they are at most 1.")
    rate = wanted.rate or 0.0
    whole = rate * (1 - rate) if wanted.variance is None else wanted.variance
    one = Components(
        paper=wanted.icc * whole,
        task=max(0.0, 1 - wanted.icc - wanted.noise) * whole,
        attempt=wanted.noise * whole,
    )
    source = (
        f"a variance of {whole:.4g}, {wanted.icc:.0%} of it papers', {wanted.noise:.0%} epochs'"
    )
    return one.of_difference(wanted.correlation), _sized(wanted, None), _assuming(source, wanted)


def _from_runs(wanted: Wanted) -> tuple[Components, Plan, str]:
    if wanted.rate is not None or wanted.variance is not None:
        raise UserError("--rate and --variance are for power without a run: leave them out.")
    if len(wanted.runs) > 2:
        raise UserError("Variances come from one run or from two of the same tasks: give no more.")
    definition = _definition(wanted.metric)
    runs = [load(folder) for folder in wanted.runs]
    known = [_attempts(run, definition, wanted.threshold) for run in runs]
    tasks = [task for task in known[0] if all(task in each for each in known)]
    papers = [known[0][task][0] for task in tasks]
    if len(set(papers)) < 2:
        raise UserError(
            f"{definition.label} has numbers of {len(set(papers))} papers here, and variances need two: "
            "choose another metric with --metric, or give --rate, --tasks and --papers."
        )
    numbers_of = [[each[task][1] for task in tasks] for each in known]
    own = plan_of(papers, epochs=max(run.manifest.epochs for run in runs))
    names = " and ".join(run.manifest.name for run in runs)
    source = f"{definition.label} of {names}, {len(tasks)} tasks of {len(set(papers))} papers"
    once = all(len(each) == 1 for run in numbers_of for each in run)
    if once:
        source += ", one attempt each, so that epochs seem not to help"
    if len(runs) == 2:
        first, second = numbers_of
        parts = paired_components(first, second, papers)
    else:
        parts = components(numbers_of[0], papers).of_difference(wanted.correlation)
    if not parts.paper + parts.task + parts.attempt:
        what = "The two runs differ equally" if len(runs) == 2 else "The run has the same number"
        raise UserError(
            f"{what} at every task in {definition.label}, so no variance can be taken from "
            f"{names}: choose another metric with --metric, or give --rate, --tasks and --papers."
        )
    if len(runs) == 2:
        return parts, _sized(wanted, own), source
    return parts, _sized(wanted, own), _assuming(source, wanted)


def _assuming(source: str, wanted: Wanted) -> str:
    return f"{source}; the other run's the same, correlated by {wanted.correlation:g}"


def _attempts(
    run: Run, definition: Definition, threshold: float
) -> dict[str, tuple[str, list[float]]]:
    """The paper and the numbers of each task that has any. Raises InfrastructureError (R5)."""
    outcomes = run.ordered()
    summarise(run.planned, outcomes, threshold)
    by_task, papers = numbers(definition, seen(outcomes), threshold)
    known = {task: [n for n in own if n is not None] for task, own in by_task.items()}
    return {task: (papers[task], own) for task, own in known.items() if own}


def _definition(key: str) -> Definition:
    every = {each.key: each for each in (*METRICS, *COLLAPSE)}
    if key not in every:
        raise NotFoundError(f"There is no metric {key!r}: choose one of {', '.join(every)}.")
    return every[key]


def _sized(wanted: Wanted, own: Plan | None) -> Plan:
    """The comparison's size: the runs' own, unless something else is asked for."""
    if own is None:
        plan = Plan.even(wanted.tasks or 2, min(wanted.papers or 2, wanted.tasks or 2))
    elif wanted.papers is not None:
        plan = Plan.even(wanted.tasks or own.tasks, min(wanted.papers, wanted.tasks or own.tasks))
    else:
        plan = own.scaled(wanted.tasks) if wanted.tasks else own
    return plan.model_copy(update={"epochs": wanted.epochs or plan.epochs})


def _table(found: Power) -> Table:
    plan = found.plan
    table = Table(
        title=f"Two runs on the same {plan.tasks} tasks of {plan.papers} papers",
        caption=Text(printable("\n".join(_sentences(found)))),
        caption_justify="left",
    )
    headings = ["Epochs", "Smallest difference found"]
    if found.difference:
        headings += [f"Chance of finding {_points(found.difference)}", "Tasks needed for it"]
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in found.rows:
        cells = [str(row.epochs), _points(row.detectable)]
        if found.difference and row.power is not None:
            cells += [f"{row.power:.0%}", _count(row.tasks_needed)]
        table.add_row(*cells, style="bold" if row.epochs == plan.epochs else None)
    return table


def _sentences(found: Power) -> Sequence[str]:
    parts = found.variances
    lines = [
        f"Found: with chance {found.power:.0%}, two-sided level {found.alpha:g}, papers as the unit.",
        f"Variances from {found.source}.",
        f"Of the difference: {parts.paper:.4g} papers, {parts.task:.4g} tasks, {parts.attempt:.4g} attempts.",
    ]
    if found.difference:
        needed = found.epochs_needed
        what = "no number of epochs is enough" if needed is None else f"{needed} epochs are needed"
        lines.append(f"For {_points(found.difference)} with these tasks {what}.")
    return lines


def _points(value: float) -> str:
    return f"{100 * abs(value):.1f} points" if abs(value) <= 1 else "none"


def _count(value: int | None) -> str:
    return "more than 10,000,000" if value is None else f"{value:,}"
