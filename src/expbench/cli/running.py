"""``expbench run`` and ``resume``: from options to the table at the end."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from expbench.activity import Progress
from expbench.allocator import bound_arenas, keep_loaded, map_large_blocks
from expbench.books import Books, cap_anew
from expbench.cli.demands import package_indexes
from expbench.cli.progress import ProgressView, progress_view
from expbench.cli.run_reports import finish, finish_all, write_run_report
from expbench.cli.settings import outer_gpus
from expbench.cli.stopping import Stopping
from expbench.crossing import create_matrix
from expbench.errors import UserError
from expbench.evaluation import Listener
from expbench.matrix import is_matrix, load_matrix
from expbench.planning import (
    Options,
    check_folders,
    open_evaluation,
    options_of,
    plan,
)
from expbench.runner import RunEnd, default_max_samples, execute
from expbench.runs import Run, create, load
from expbench.schema import Outcome

Planned = tuple[Run, Options]


def start_run(
    options: Options,
    agents: Sequence[str],
    models: Sequence[str],
    max_samples: int | None,
    as_json: bool,
) -> int:
    """Plan, make the run's folder, do it. Exit code 0 when every task has its outcome.

    Several agents or models are a folder of runs, which are done one after the other.
    """
    if len(agents) > 1 or len(models) > 1:
        return _do_all(create_matrix(options, agents, models), options.out, max_samples, as_json)
    options = replace(options, agent=agents[0], model=models[0] if models else "")
    return _do(create(options.out, plan(options)), options, max_samples, as_json)


def resume_run(
    folder: Path,
    max_samples: int | None,
    as_json: bool,
    cache: Path,
    data: Path | None,
    repos: Path | None,
    packages: tuple[Path, ...],
    run_dollars: float | None = None,
) -> int:
    """Do what a run has not done yet, or the runs of a folder that were begun at once."""
    indexes = functools.cache(package_indexes)

    def planned(run: Run) -> Planned:
        own_data = data if run.manifest.suite != "mini" else None
        index = indexes(run.manifest.policy.network)
        options = options_of(run, cache, own_data, repos, packages, index, outer_gpus())
        check_folders(options)
        if run_dollars is not None:
            cap_anew(run, run_dollars)
        return run, options

    if is_matrix(folder):
        runs = [planned(run) for run in load_matrix(folder)]
        return _do_all(runs, folder, max_samples, as_json)
    run = load(folder)
    if run.paths.base != run.paths.root:
        command = "execute" if run.manifest.repeat else "judge"
        raise UserError(
            f"{folder} is made from the submissions of {run.paths.base}: go on with it by the "
            f"`expbench {command}` that began it."
        )
    return _do(*planned(run), max_samples, as_json)


def _do(run: Run, options: Options, max_samples: int | None, as_json: bool) -> int:
    console = Console(stderr=as_json)
    title = f"{run.manifest.suite}, agent {run.manifest.agent}"
    with _view(console, [run], title) as view:
        end, books = _execute(run, options, max_samples, console, view)
    if not end.interrupted or not end.open:
        finish(run, options, as_json)
    return _say_end(console, run, end, books)


def _do_all(runs: Sequence[Planned], root: Path, max_samples: int | None, as_json: bool) -> int:
    """Do several runs one after the other, with one view of all. The worst exit code."""
    console = Console(stderr=as_json)
    worst = 0
    title = f"{runs[0][0].manifest.suite}, {len(runs)} runs"
    with _view(console, [run for run, _ in runs], title) as view:
        for run, options in runs:
            listener = _named(view, run.paths.root.name)
            end, books = _execute(run, options, max_samples, console, listener)
            if end.interrupted and end.open:
                text = f"stopped: go on with all by `expbench resume {root}`."
                console.print(text, soft_wrap=True, highlight=False)
                return 130
            write_run_report(run, options)
            worst = max(worst, _say_end(console, run, end, books))
    finish_all(runs, as_json)
    return worst


def _view(console: Console, runs: Sequence[Run], title: str) -> ProgressView:
    done = sum(run.final(key) for run in runs for key in run.planned)
    return progress_view(console, sum(len(run.planned) for run in runs), done, title)


def _named(view: ProgressView, name: str) -> Listener:
    """Tells a view of a run's tasks by the run's name too."""

    def listener(task_id: str, epoch: int, phase: Progress, outcome: Outcome | None) -> None:
        view(f"{name}: {task_id}", epoch, phase, outcome)

    return listener


def _execute(
    run: Run, options: Options, max_samples: int | None, console: Console, view: Listener
) -> tuple[RunEnd, Books]:
    bound_arenas()
    map_large_blocks()
    keep_loaded()
    evaluation = open_evaluation(run, options, view)
    stopping = Stopping(evaluation, console)
    evaluation = replace(evaluation, listener=stopping.hearing(view))
    with stopping.guarding():
        end = execute(evaluation, max_samples or default_max_samples(), stopping.left)
    return end, evaluation.books


def _say_end(console: Console, run: Run, end: RunEnd, books: Books) -> int:
    if not end.open:
        return 0
    if books.spent and not end.interrupted:
        said = f"{books.sentence[0].upper()}{books.sentence[1:]}"
        console.print(
            f"{said}: {end.open} of {len(run.planned)} tasks are left, go on with "
            f"`expbench resume {run.paths.root} --run-dollars` and a higher number.",
            soft_wrap=True,
            highlight=False,
        )
        return 1
    why = "stopped" if end.interrupted else "not scored for reasons of infrastructure"
    console.print(
        f"{end.open} of {len(run.planned)} tasks {why}: "
        f"go on with `expbench resume {run.paths.root}`.",
        soft_wrap=True,
        highlight=False,
    )
    return 130 if end.interrupted else 1
