"""``expbench run``, ``resume`` and ``report``: from options to the table at the end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from expbench.cli.progress import progress_view
from expbench.errors import DataError
from expbench.metrics import summarise
from expbench.planning import (
    Options,
    check_folders,
    open_evaluation,
    options_of,
    plan,
    suite_of_run,
)
from expbench.report import (
    ReportFiles,
    ReportInput,
    summary_json,
    task_table,
    terminal_table,
    write_report,
)
from expbench.runner import RunEnd, default_max_samples, execute
from expbench.runs import Run, create, load
from expbench.schema import Blob, SubmissionText

_OUTPUT_SHOWN = 20_000
"""Characters of a script's output in the report, head and tail."""


def start_run(options: Options, max_samples: int | None, as_json: bool) -> int:
    """Plan, make the run's folder, do it. Exit code 0 when every task has its outcome."""
    manifest = plan(options)
    return _do(create(options.out, manifest), options, max_samples, as_json)


def resume_run(
    folder: Path,
    max_samples: int | None,
    as_json: bool,
    cache: Path,
    data: Path | None,
    repos: Path | None,
    packages: tuple[Path, ...],
) -> int:
    """Do what a run has not done yet."""
    run = load(folder)
    data = data if run.manifest.suite != "mini" else None
    options = options_of(run, cache, data, repos, packages)
    check_folders(options)
    return _do(run, options, max_samples, as_json)


def report_run(folder: Path, as_json: bool, cache: Path, data: Path | None) -> int:
    """Write the report anew from the run's folder."""
    run = load(folder)
    options = options_of(run, cache, data if run.manifest.suite != "mini" else None)
    _finish(run, options, as_json)
    return 0


def _do(run: Run, options: Options, max_samples: int | None, as_json: bool) -> int:
    console = Console(stderr=as_json)
    done = sum(run.final(key) for key in run.planned)
    title = f"{run.manifest.suite}, agent {run.manifest.agent}"
    view = progress_view(console, len(run.planned), done, title)
    with view, _terminated_as_interrupted():
        evaluation = open_evaluation(run, options, view)
        end = execute(evaluation, max_samples or default_max_samples())
    _finish(run, options, as_json)
    return _say_end(console, run, end)


def _finish(run: Run, options: Options, as_json: bool) -> None:
    files = write_run_report(run, options)
    summary = summarise(run.planned, run.ordered())
    console = Console()
    if as_json:
        text = summary_json(summary, run.manifest).model_dump_json(indent=1)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    console.print(task_table(run.ordered()))
    console.print(terminal_table(summary, run.manifest))
    console.print(f"Report: {files.html}", soft_wrap=True, highlight=False)


def write_run_report(run: Run, options: Options) -> ReportFiles:
    """The report of a run, with what its store holds. Raises UserError."""
    suite = suite_of_run(run, options)
    submissions: dict[str, SubmissionText] = {}
    outputs: dict[str, str] = {}
    for attempt in run.attempts.values():
        try:
            content = run.store.get(attempt.submission.text)
            submissions[attempt.submission.digest] = SubmissionText.model_validate_json(content)
        except (DataError, ValueError):
            continue
    for outcome in run.ordered():
        for blob in (
            (outcome.execution.stdout, outcome.execution.stderr) if outcome.execution else ()
        ):
            if blob is not None and blob.size:
                outputs[blob.digest] = _head_and_tail(run, blob)
    return write_report(
        ReportInput(
            manifest=run.manifest,
            tasks={task.id: task for task in suite.tasks},
            outcomes=run.ordered(),
            planned=run.planned,
            submissions=submissions,
            outputs=outputs,
        ),
        run.paths.report,
    )


def _head_and_tail(run: Run, blob: Blob) -> str:
    try:
        text = run.store.text(blob)
    except DataError:
        return "[the output is not in the run's store]"
    if len(text) <= _OUTPUT_SHOWN:
        return text
    half = _OUTPUT_SHOWN // 2
    return f"{text[:half]}\n[… {len(text) - _OUTPUT_SHOWN} characters left out …]\n{text[-half:]}"


def _say_end(console: Console, run: Run, end: RunEnd) -> int:
    if not end.open:
        return 0
    why = "stopped" if end.interrupted else "not scored for reasons of infrastructure"
    console.print(
        f"{end.open} of {len(run.planned)} tasks {why}: "
        f"go on with `expbench resume {run.paths.root}`.",
        soft_wrap=True,
        highlight=False,
    )
    return 130 if end.interrupted else 1


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """A polite kill ends like Ctrl-C: sandboxes end and what is done is kept."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
