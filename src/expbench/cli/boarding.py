"""Several runs on one page: the work of ``expbench report RUN RUN…``."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from expbench.allocator import uncollected
from expbench.board import (
    Board,
    Contender,
    TaskFacts,
    build,
    facts_of,
    named_apart,
    read_spend,
    record,
    write_board,
)
from expbench.board.rendering import p_text, points
from expbench.board.write import REPORTS, BoardFiles, check_own
from expbench.cli.run_reports import (
    Places,
    check_threshold,
    judge_eval_sentence,
    places_of,
    write_run_report,
)
from expbench.dataset import load_suite
from expbench.errors import UserError
from expbench.matrix import is_matrix, matrix_folders
from expbench.report import matrix_table
from expbench.report.text import printable
from expbench.runs import Manifest, Run, load
from expbench.scores import load_scores


@uncollected()
def board_runs(
    folders: Sequence[Path],
    out: Path,
    against: str,
    published: bool,
    as_json: bool,
    cache: Path,
    data: Path | None,
    threshold: float = 1.0,
) -> int:
    """Write the page of several runs and print their tables. Raises UserError."""
    check_threshold(threshold)
    check_own(BoardFiles(out.absolute()))
    runs = list(_opened(folders))
    made = named_apart([_contender(run, cache, data) for run in runs])
    contenders = [_linked(each, out, cache, data, number) for number, each in enumerate(made, 1)]
    board = build(contenders, against, published, threshold)
    files = write_board(board, out)
    console = Console()
    if as_json:
        text = record(board).model_dump_json(indent=1)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return 0
    print_board(board, console)
    console.print(f"Report: {files.html}", soft_wrap=True, highlight=False, markup=False)
    return 0


def print_board(board: Board, console: Console) -> None:
    """The tables of each set, and what it is apart by."""
    for number, own in enumerate(board.divisions, 1):
        summaries = {each.label: each.summary for each in own.standings}
        manifest = own.standings[0].contender.run.manifest
        if own.unlike:
            _say(console, f"NOT COMPARABLE with the runs above (set {number}); what differs:")
            for each in own.unlike:
                _say(console, f"  {each.kind}: {each.text}")
        console.print(matrix_table(summaries, manifest))
        for pair in own.pairs:
            change = next(each for each in pair.changes if each.key == "all_execution")
            _say(
                console,
                f"{pair.label} minus {own.reference}, All·E: {points(change.paired.difference)} "
                f"percentage points, p {p_text(change.p_holm)} (Holm over the page's table), "
                f"{change.paired.tasks} tasks",
            )


def _opened(folders: Sequence[Path]) -> Iterator[Run]:
    """The runs; a folder of runs that were begun at once stands for all of them."""
    seen: set[Path] = set()
    for folder in folders:
        for root in matrix_folders(folder) if is_matrix(folder) else [folder]:
            place = root.resolve()
            if place in seen:
                raise UserError(f"{root} is given twice: name each run once.")
            seen.add(place)
            yield load_scores(root)


def _contender(run: Run, cache: Path, data: Path | None) -> Contender:
    places = places_of(run.manifest, cache, data)
    return Contender(
        run=run,
        facts=known_facts(run.manifest, places.data, places.errata),
        judge_eval=judge_eval_sentence(run, cache),
        spend=read_spend(run.paths.ledger),
    )


def known_facts(manifest: Manifest, data: Path | None, errata: bool) -> dict[str, TaskFacts]:
    """What is known of a run's tasks; nothing where its suite is not at hand in that version."""
    version, facts = _facts(manifest.suite, data, errata)
    return facts if version == manifest.suite_version else {}


@functools.cache
def _facts(suite: str, data: Path | None, errata: bool) -> tuple[str, dict[str, TaskFacts]]:
    try:
        found = load_suite(suite, data, errata)
    except UserError:
        return "", {}
    return found.version, facts_of(found.tasks)


def _linked(each: Contender, out: Path, cache: Path, data: Path | None, number: int) -> Contender:
    """With the link to the run's own report, which is written where there is none."""
    beside = each.run.paths.report / "index.html"
    try:
        if not beside.is_file():
            beside = _own_report(each.run, out, number, places_of(each.run.manifest, cache, data))
    except UserError as error:
        return replace(each, note=str(error))
    return replace(each, link=Path(os.path.relpath(beside, out)).as_posix())


def _own_report(run: Run, out: Path, number: int, places: Places) -> Path:
    """Written beside the run, or into the page's folder where that cannot be. Raises UserError."""
    whole = load(run.paths.root)
    try:
        return write_run_report(whole, places).html
    except OSError:
        return write_run_report(whole, places, dest=out / REPORTS / str(number)).html


def _say(console: Console, text: str) -> None:
    console.print(printable(text), soft_wrap=True, highlight=False, markup=False)
