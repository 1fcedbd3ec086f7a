"""Reports of runs that are there: what ``expbench report`` does, and every command that ends with one.

Nothing here can start work, so that a report is not kept waiting for what does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich.console import Console

from expbench.allocator import uncollected
from expbench.dataset import load_version
from expbench.dataset.errata import NO_ERRATA
from expbench.errors import UserError
from expbench.judge_eval.known import FOLDER, known_eval
from expbench.ledger import read_ledger
from expbench.matrix import is_matrix, load_matrix
from expbench.metrics import summarise
from expbench.report import (
    Correction,
    ReportFiles,
    ReportInput,
    RunSummaries,
    RunSummary,
    corrections,
    material_of,
    matrix_table,
    spent_by_stage,
    summary_json,
    task_table,
    terminal_table,
    write_report,
)
from expbench.report.viewer import viewer_addresses
from expbench.runs import Manifest, Run, load
from expbench.schema import Outcome


class Sources(Protocol):
    """Where a report finds what a run's folder does not hold."""

    @property
    def cache(self) -> Path: ...
    @property
    def data(self) -> Path | None: ...
    @property
    def errata(self) -> bool: ...


@dataclass(frozen=True)
class Places:
    """The sources of a run that is only looked at."""

    cache: Path
    data: Path | None
    errata: bool


def places_of(manifest: Manifest, cache: Path, data: Path | None) -> Places:
    """The sources that a run was planned with; the folder given here replaces a moved one."""
    stored = manifest.options.get("data")
    given = data if manifest.suite != "mini" else None
    return Places(
        cache=cache,
        data=given or (Path(stored) if stored else None),
        errata=manifest.errata != NO_ERRATA,
    )


@uncollected()
def report_run(
    folder: Path, as_json: bool, cache: Path, data: Path | None, threshold: float = 1.0
) -> int:
    """Write the report anew from the run's folder, or those of runs that were begun at once.

    A score is fully right from ``threshold`` on. Raises UserError.
    """
    check_threshold(threshold)

    if not is_matrix(folder):
        run = load(folder)
        finish(run, places_of(run.manifest, cache, data), as_json, threshold)
        return 0
    runs = [(run, places_of(run.manifest, cache, data)) for run in load_matrix(folder)]
    for run, places in runs:
        write_run_report(run, places, threshold)
    finish_all(runs, as_json, threshold)
    return 0


def check_threshold(threshold: float) -> None:
    """Refuse what is no share of a score. Raises UserError."""
    if not 0.0 < threshold <= 1.0:
        raise UserError(
            f"--threshold is a share above 0 and up to 1, such as 0.8, not {threshold:g}."
        )


def finish_all(runs: Sequence[tuple[Run, Sources]], as_json: bool, threshold: float = 1.0) -> None:
    """Print what several runs came to; their reports are written."""
    console = Console()
    if as_json:
        found = [_json_of(run, sources, threshold) for run, sources in runs]
        text = RunSummaries(runs=tuple(found)).model_dump_json(indent=1)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    summaries = {
        run.paths.root.name: summarise(run.planned, run.ordered(), threshold) for run, _ in runs
    }
    console.print(matrix_table(summaries, runs[0][0].manifest))
    for run, _ in runs:
        text = f"Report: {run.paths.report / 'index.html'}"
        console.print(text, soft_wrap=True, highlight=False)


def finish(run: Run, sources: Sources, as_json: bool, threshold: float = 1.0) -> None:
    """Write a run's report and print what it came to."""
    outcomes = run.ordered()
    files = write_run_report(run, sources, threshold, outcomes=outcomes)
    console = Console()
    summary = summarise(run.planned, outcomes, threshold)
    known = judge_eval_sentence(run, sources.cache)
    corrected = _corrected(run, outcomes, sources.cache)
    if as_json:
        text = summary_json(summary, run.manifest, known, outcomes, corrected)
        said = text.model_dump_json(indent=1)
        console.print(said, markup=False, highlight=False, soft_wrap=True)
        return
    console.print(task_table(outcomes, threshold))
    console.print(terminal_table(summary, run.manifest, known, corrected))
    console.print(f"Report: {files.html}", soft_wrap=True, highlight=False)


def _json_of(run: Run, sources: Sources, threshold: float) -> RunSummary:
    outcomes = run.ordered()
    summary = summarise(run.planned, outcomes, threshold)
    known = judge_eval_sentence(run, sources.cache)
    corrected = _corrected(run, outcomes, sources.cache)
    return summary_json(summary, run.manifest, known, outcomes, corrected)


def _corrected(run: Run, outcomes: Sequence[Outcome], cache: Path) -> tuple[Correction, ...]:
    return corrections(outcomes, known_eval(run.manifest.judge, cache / FOLDER))


def judge_eval_sentence(run: Run, cache: Path) -> str:
    """How good the run's judge is known to be, or that it is not known."""
    known = known_eval(run.manifest.judge, cache / FOLDER)
    if known is not None:
        return known.sentence
    return (
        f"No judge-eval of {run.manifest.judge} is known: how often its verdicts are right can be measured "
        "with `expbench judge-eval`."
    )


def _failures(run: Run) -> str:
    """The address of the run's failure map, where `expbench failures` has made one."""
    return "../failures/index.html" if (run.paths.root / "failures/index.html").is_file() else ""


def write_run_report(
    run: Run,
    sources: Sources,
    threshold: float = 1.0,
    dest: Path | None = None,
    outcomes: Sequence[Outcome] | None = None,
) -> ReportFiles:
    """The report of a run, with what its store holds, in its own folder or ``dest``.

    ``outcomes`` are all of the run's, where they are at hand. Raises UserError.
    """
    manifest = run.manifest
    suite = load_version(manifest.suite, manifest.suite_version, sources.data, sources.errata)
    outcomes = run.ordered() if outcomes is None else outcomes
    material = material_of(run, outcomes)
    return write_report(
        ReportInput(
            manifest=run.manifest,
            tasks={task.id: task for task in suite.tasks},
            outcomes=outcomes,
            planned=run.planned,
            submissions=material.submissions,
            outputs=material.outputs,
            pictures=material.pictures,
            judge_eval=judge_eval_sentence(run, sources.cache),
            corrected=_corrected(run, outcomes, sources.cache),
            threshold=threshold,
            spent=spent_by_stage(read_ledger(run.paths.ledger)),
            viewer=viewer_addresses(run.paths.logs),
            failures=_failures(run) if dest is None else "",
        ),
        dest or run.paths.report,
    )
