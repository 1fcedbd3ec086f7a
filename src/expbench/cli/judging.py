"""``expbench judge``, and what judging costs: a run's submissions judged again, both judgings kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from expbench.cli.run_reports import judge_eval_sentence, write_run_report
from expbench.errors import UserError
from expbench.judges import Judge, make_judge
from expbench.judges.estimate import Estimate, JudgeEstimate, estimate
from expbench.metrics import summarise
from expbench.planning import Options, options_of, suite_of_run
from expbench.policy import Record
from expbench.prices import read_prices, use_prices
from expbench.rejudge import Rejudging, cases, judged_keys, open_judging, rejudge
from expbench.report import summary_json, terminal_table
from expbench.runs import Run, load
from expbench.schema import ALL_SCORES, Judging, Outcome, Phase, Protocol
from expbench.workspace import SourceFinder

_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def judging_choice(
    judges: Sequence[str] | None,
    protocol: str,
    samples: int,
    items_per_call: int,
    concurrency: int,
    deadline: float,
) -> Judging:
    """The judging of the options. Raises UserError."""
    known: tuple[Protocol, ...] = get_args(Protocol)
    chosen = next((each for each in known if each == protocol), None)
    if chosen is None:
        raise UserError(f"--protocol is {' or '.join(known)}, not {protocol!r}.")
    try:
        return Judging(
            judges=tuple(judges or ("baseline",)),
            protocol=chosen,
            samples=samples,
            items_per_call=items_per_call,
            concurrency=concurrency,
            deadline=deadline,
        )
    except ValidationError:
        raise UserError(
            "--judge-samples, --items-per-call and --judge-concurrency are numbers from 1, "
            "--judge-deadline is seconds from 1 to 86400."
        ) from None


def phases_choice(given: Sequence[str] | None) -> tuple[Phase, ...]:
    """``--only``, several possible. Raises UserError."""
    known: tuple[Phase, ...] = get_args(Phase)
    for text in given or ():
        if text not in known:
            raise UserError(f"--only is design, implementation or conclusion, not {text!r}.")
    return tuple(phase for phase in known if phase in (given or ()))


def use_prices_of(file: Path | None) -> None:
    """``--prices``. Raises DataError for a file that is not of the form."""
    use_prices(read_prices(file) if file is not None else None)


def judge_run(
    options: Options,
    folder: Path,
    only: tuple[Phase, ...],
    name: str,
    only_estimate: bool,
    as_json: bool,
) -> int:
    """Judge a run's stored submissions as ``options.judging`` says, beside the verdicts it has."""
    run = load(folder)
    if not judged_keys(run):
        raise UserError(
            f"Nothing of {folder} has been judged yet: finish it with `expbench resume {folder}`."
        )
    stored = options_of(run, options.cache, options.data, options.repos)
    suite = suite_of_run(run, stored)
    label = _NAME.sub("-", name or "-".join([options.judging.label, *only])).strip("-.")
    judge = None
    if only_estimate:
        judged, phases = run, only or get_args(Phase)
    else:
        judge = make_judge(options.judging, run.manifest.model, options.cache / "verdicts")
        judged, phases = open_judging(run, label, options.judging, only)
    work = Rejudging(
        run,
        judged,
        {task.id: task for task in suite.tasks},
        SourceFinder(options.cache / "repos", clones=stored.repos, mode=run.manifest.mask),
        phases,
    )
    if judge is None:
        again = Rejudging(run, Run(judged.paths, judged.manifest), work.tasks, work.sources, phases)
        _show(estimate(cases(again), options.judging), as_json)
        return 0
    _judge(work, judge, Console(stderr=True))
    _finish(work, stored, as_json)
    return 0


def _judge(work: Rejudging, judge: Judge, console: Console) -> None:
    todo = len(work.todo)
    bar = Progress(
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with bar:
        step = bar.add_task("", total=todo)

        def listener(outcome: Outcome) -> None:
            bar.advance(step)
            if not console.is_terminal:
                console.print(f"judged {outcome.task_id}", highlight=False, soft_wrap=True)

        rejudge(work, judge, listener)


class Change(Record):
    """A score, or a single verdict, that the two judgings give differently."""

    task_id: str
    epoch: int
    what: str
    before: str
    now: str


def changes(before: Run, now: Run) -> list[Change]:
    """Every score and every verdict on which two judgings of the same submissions differ."""
    found = []
    for key in now.planned:
        old, new = before.outcomes.get(key), now.outcomes.get(key)
        if old is None or new is None:
            continue
        a, b = _facts(old), _facts(new)
        for what in dict.fromkeys((*a, *b)):
            pair = (a.get(what, "none"), b.get(what, "none"))
            if pair[0] != pair[1]:
                found.append(
                    Change(task_id=key[0], epoch=key[1], what=what, before=pair[0], now=pair[1])
                )
    return found


def _facts(outcome: Outcome) -> dict[str, str]:
    scores = {
        name: "unscored" if (value := outcome.scores[name].value) is None else f"{value:.0%}"
        for name in ALL_SCORES
        if name in outcome.scores
    }
    verdicts = outcome.judgement.verdicts if outcome.judgement else ()
    return scores | {verdict.item: verdict.state for verdict in verdicts}


class Rejudged(Record):
    """What ``expbench judge --json`` prints."""

    folder: str
    before: str
    now: str
    changed: tuple[Change, ...]


def _finish(work: Rejudging, options: Options, as_json: bool) -> None:
    files = write_run_report(work.judged, options)
    changed = changes(work.run, work.judged)
    console = Console()
    if as_json:
        result = Rejudged(
            folder=str(work.judged.paths.root),
            before=work.run.manifest.judge,
            now=work.judged.manifest.judge,
            changed=tuple(changed),
        )
        summary = summary_json(
            summarise(work.judged.planned, work.judged.ordered()),
            work.judged.manifest,
            judge_eval_sentence(work.judged, options.cache),
            work.judged.ordered(),
        )
        text = f'{{"judging": {result.model_dump_json()}, "summary": {summary.model_dump_json()}}}'
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    for run in (work.run, work.judged):
        console.print(
            terminal_table(
                summarise(run.planned, run.ordered()),
                run.manifest,
                judge_eval_sentence(run, options.cache),
            )
        )
    console.print(_change_table(work, changed))
    console.print(f"Report: {files.html}", soft_wrap=True, highlight=False)


def _change_table(work: Rejudging, changed: list[Change]) -> Table:
    items = sum(
        len(outcome.judgement.verdicts)
        for outcome in work.judged.outcomes.values()
        if outcome.judgement
    )
    verdicts = sum("/" in change.what for change in changed)
    table = Table(title=f"{verdicts} of {items} verdicts changed", title_justify="left")
    for column in ("task", "epoch", "score or item", work.run.manifest.judge, "now"):
        table.add_column(column)
    for change in changed[:40]:
        table.add_row(change.task_id, str(change.epoch), change.what, change.before, change.now)
    if len(changed) > 40:
        table.add_row(f"and {len(changed) - 40} more (--json)", "", "", "", "")
    return table


def _show(found: Estimate, as_json: bool) -> None:
    console = Console()
    if as_json:
        console.print(found.model_dump_json(), markup=False, highlight=False, soft_wrap=True)
        return
    show_judging(console, found)


def show_judging(console: Console, found: Estimate) -> None:
    """What judging will use, as a table, and what is assumed for it."""
    table = Table(title=f"Judging {found.submissions} submissions", title_justify="left")
    for column in ("judge", "calls", "tokens in", "of them cached", "tokens out", "dollars"):
        table.add_column(column, justify="left" if column == "judge" else "right")
    for each in (*found.judges, *([found.total] if len(found.judges) > 1 else [])):
        table.add_row(*_row(each))
    console.print(table)
    for sentence in (*found.assumptions, *([found.reason] if found.reason else [])):
        console.print(f"- {sentence}", markup=False, highlight=False)


def _row(each: JudgeEstimate) -> list[str]:
    counts = (each.calls, each.input_tokens, each.cached_tokens, each.output_tokens)
    dollars = "not known" if each.dollars is None else f"{each.dollars:.2f}"
    if each.dollars_uncached is not None and each.dollars_uncached != each.dollars:
        dollars += f" ({each.dollars_uncached:.2f} uncached)"
    return [each.judge, *(f"{count:,}" for count in counts), dollars]
