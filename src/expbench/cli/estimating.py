"""``expbench run --estimate``: what a whole run will cost and take, before any call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from expbench.agents import get_agent
from expbench.cli.judging import show_judging
from expbench.crossing import pairs
from expbench.dataset import load_suite
from expbench.forecast import Forecast, Guess, Plan, forecast, read_history
from expbench.judges import rubric
from expbench.judges.estimate import Case, Estimate, estimate
from expbench.planning import Options, check_model
from expbench.runner import default_max_samples
from expbench.schema import Record


class RunEstimate(Estimate):
    """What ``expbench run --estimate --json`` prints: what judging will use, and in ``run`` everything."""

    run: Forecast


class RunEstimates(Record):
    """The same for several agents or models: one for each run."""

    runs: tuple[RunEstimate, ...]


def estimate_run(
    options: Options,
    agents: Sequence[str],
    models: Sequence[str],
    max_samples: int | None,
    as_json: bool,
) -> int:
    """What planned runs will use; submissions of the usual size are assumed.

    Earlier runs are looked for where the new one would lie. No key and no sandbox is needed for it.
    """
    chosen = [replace(options, agent=agent, model=model) for agent, model in _pairs(agents, models)]
    console = Console()
    found = [_estimated(each, max_samples) for each in chosen]
    if as_json:
        several = RunEstimates(runs=tuple(found))
        text = (found[0] if len(found) == 1 else several).model_dump_json()
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return 0
    for each, made in zip(chosen, found, strict=True):
        if len(found) > 1:
            name = " with ".join(filter(None, (each.agent, each.model)))
            console.print(f"\n{name}", style="bold", highlight=False, markup=False)
        _show(console, made, each)
    return 0


def _pairs(agents: Sequence[str], models: Sequence[str]) -> Sequence[tuple[str, str]]:
    if len(agents) == 1 and len(models) <= 1:
        return [(agents[0], models[0] if models else "")]
    return pairs(agents, models)


def _estimated(options: Options, max_samples: int | None) -> RunEstimate:
    check_model(get_agent(options.agent), options.model)
    suite = load_suite(options.suite, options.data, options.errata)
    cases = [Case(rubric(task), task) for task in suite.select(options.tasks)] * options.epochs
    judging = estimate(cases, options.judging)
    folder = options.out.parent
    found = forecast(_plan(options, len(cases), max_samples), read_history(folder), judging.total)
    return RunEstimate(**dict(judging), run=found)


def _show(console: Console, made: RunEstimate, options: Options) -> None:
    found = made.run
    console.print(_table(found))
    sentences = [f"{part.name}: {part.basis}" for part in found.parts]
    sentences.append(
        f"Earlier runs are those of the folder {options.out.parent}; ranges are 95 % prediction "
        "intervals for attempts like theirs, cut at the limits."
    )
    for sentence in sentences:
        console.print(f"- {sentence}", markup=False, highlight=False)
    show_judging(console, made)


def _plan(options: Options, attempts: int, max_samples: int | None) -> Plan:
    agent = get_agent(options.agent)
    return Plan(
        attempts=attempts,
        at_once=max_samples or default_max_samples(),
        suite=options.suite,
        agent=options.agent,
        model=options.model,
        asks=agent.needs_model or agent.own_code,
        judge=options.judging.label,
        monitor_model=options.monitor_model,
        claims_model=options.claims_model,
        limits=options.policy.limits,
        dollars=options.dollars,
    )


def _table(found: Forecast) -> Table:
    title = f"{found.attempts} attempts, {found.at_once} at the same time"
    table = Table(title=title, title_justify="left")
    table.add_column("part")
    for column in ("calls", "tokens in", "tokens out", "dollars", "minutes"):
        table.add_column(column, justify="right")
    for part in found.parts:
        counts = (part.calls, part.input_tokens, part.output_tokens)
        cells = (*map(_count, counts), _number(part.dollars, 2), _number(part.minutes, 1))
        table.add_row(part.name, *cells)
    cells = (_number(found.dollars, 2), _number(found.minutes, 1))
    table.add_row("the run", "", "", "", *cells)
    return table


def _count(guess: Guess) -> str:
    return _number(guess, 0)


def _number(guess: Guess, digits: int) -> str:
    """``12.00 (8.10 to 15.90)``, or that it is not known, with the most that it can be."""
    form = f",.{digits}f"
    if guess.value is None:
        return "not known" if guess.high is None else f"not known, at most {guess.high:{form}}"
    if guess.low is None or guess.high is None or guess.low == guess.high:
        return f"{guess.value:{form}}"
    return f"{guess.value:{form}} ({guess.low:{form}} to {guess.high:{form}})"
