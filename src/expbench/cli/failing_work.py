"""What ``expbench failures`` does: reads runs, codes their errors, writes and prints the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.cli.failing_coders import Coders, Coding, estimate_line
from expbench.cli.run_reports import Places, places_of, write_run_report
from expbench.dataset import load_version
from expbench.errors import UserError
from expbench.failure_coding import CodingEstimate
from expbench.failure_map import check_own, map_json, write_map
from expbench.failures import (
    Codebook,
    FailureMap,
    Insight,
    insights_of,
    load_codebook,
    map_failures,
)
from expbench.failures.fixing import FixList
from expbench.failures.sampling import (
    PersonsCoding,
    compare_with_person,
    draw,
    read_labels,
    sample_csv,
)
from expbench.judges.rubric import rubric
from expbench.matrix import is_matrix, load_matrix
from expbench.metrics import METRICS
from expbench.redaction import redacted
from expbench.report.text import interval_text, percent
from expbench.runs import Run, load
from expbench.schema import Outcome

_DEFAULT = ("all_execution", "all_execution_grounding")
_ROWS = 10
CONJUNCTIONS = tuple(each.key for each in METRICS if each.kind == "share" and len(each.parts) > 1)


@dataclass(frozen=True)
class Wanted:
    """What the command was asked for."""

    folders: tuple[Path, ...]
    codebook: Path | None
    coders: Coders
    metrics: tuple[str, ...]
    out: Path | None
    sample: int | None
    labels: Path | None
    cache: Path
    data: Path | None
    estimate: bool = False
    """Only say what the coders will use."""


def map_runs(wanted: Wanted, as_json: bool) -> int:
    """Make the map of runs, or a sample of their errors. Raises UserError."""
    if wrong := [key for key in wanted.metrics if key not in CONJUNCTIONS]:
        raise UserError(
            f"There is no conjunctive metric {wrong[0]!r}: choose of {', '.join(CONJUNCTIONS)}."
        )
    wanted.coders.check()
    book = load_codebook(wanted.codebook)
    labels = read_labels(wanted.labels, book) if wanted.labels else None
    runs = _named([run for folder in wanted.folders for run in _runs(folder)])
    outcomes = {name: run.ordered() for name, run in runs.items()}
    insights = [
        each for name, run in runs.items() for each in _insights(name, run, outcomes[name], wanted)
    ]
    single = next(iter(runs.values())) if len(runs) == 1 else None
    if wanted.sample is not None:
        _write_sample(draw(insights, wanted.sample), wanted.out or Path("sample.csv"))
        return 0
    if wanted.estimate:
        return _tell_estimate(wanted.coders.estimate(insights, book), as_json)
    dest = wanted.out or (single.paths.root / "failures" if single else Path("failures"))
    check_own(dest)
    coding = wanted.coders.code(insights, book, _journal_of(dest))
    found = map_failures(
        outcomes, coding.coded, coding.book, coding.coder, wanted.metrics or _DEFAULT
    )
    agreed = compare_with_person(coding.coded, labels) if labels is not None else None
    roots = {name: run.paths.root for name, run in runs.items()}
    files = write_map(found, coding.book, outcomes, roots, dest, coding.agreement)
    if single and wanted.out is None:  # so that the report links to the map
        write_run_report(single, _places(single, wanted), outcomes=next(iter(outcomes.values())))
    console = Console()
    if as_json:
        shown = map_json(found, coding.agreement)
        shown["person"] = agreed.model_dump(mode="json") if agreed else None
        shown["usage"] = coding.usage.model_dump(mode="json")
        shown["notes"] = list(coding.notes)
        console.print_json(data=shown)
    else:
        _show(console, found, coding, agreed)
        console.print(f"Map: {files.html}", soft_wrap=True, highlight=False, markup=False)
    return 1 if found.unanswered else 0


def _tell_estimate(found: Sequence[CodingEstimate], as_json: bool) -> int:
    console = Console()
    if as_json:
        console.print_json(data=[each.model_dump(mode="json") for each in found])
        return 0
    for line in map(estimate_line, found):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    if not found:
        console.print("Rules ask no model: nothing is used.")
    return 0


def _journal_of(dest: Path) -> Path:
    """Where answers of models are kept: beside the map, which is replaced as a whole."""
    dest = dest.absolute()
    return dest.with_name(f"{dest.name}-coding.jsonl")


def _write_sample(sample: Sequence[Insight], file: Path) -> None:
    try:
        with file.open("x", encoding="utf-8", newline="") as out:
            out.write(redacted(sample_csv(sample)))
    except FileExistsError:
        raise UserError(
            f"{file} is there, and may hold a person's codes: name another file with --out."
        ) from None
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error}.") from None
    Console().print(
        f"{len(sample)} errors to code: {file}", soft_wrap=True, highlight=False, markup=False
    )


def _runs(folder: Path) -> Sequence[Run]:
    return load_matrix(folder) if is_matrix(folder) else [load(folder)]


def _named(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the names of their folders, which are told apart where two are the same."""
    counts = Counter(run.paths.root.absolute().name for run in runs)
    found: dict[str, Run] = {}
    for run in runs:
        root = run.paths.root.absolute()
        name = root.name if counts[root.name] == 1 else f"{root.parent.name}/{root.name}"
        if name in found:
            raise UserError(f"{root} is named twice: name each run once.")
        found[name] = run
    return found


def _places(run: Run, wanted: Wanted) -> Places:
    return places_of(run.manifest, wanted.cache, wanted.data)


def _insights(
    name: str, run: Run, outcomes: Sequence[Outcome], wanted: Wanted
) -> Iterator[Insight]:
    places = _places(run, wanted)
    suite = load_version(run.manifest.suite, run.manifest.suite_version, places.data, places.errata)
    items: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        if outcome.task_id not in items:
            task = suite.task(outcome.task_id)
            items[outcome.task_id] = {item.id: item.text for item in rubric(task)}
        yield from insights_of(outcome, name, items[outcome.task_id])


def _show(
    console: Console, found: FailureMap, coding: Coding, agreed: PersonsCoding | None
) -> None:
    how = ", ".join(f"{count} by {by}" for by, count in found.by.items())
    lines = [
        f"{len(found.coded)} errors in {found.attempts} attempts ({how or 'nothing to code'})."
    ]
    lines += coding.notes
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    for each in found.fixes:
        if each.fixes:
            console.print(_fixes(each, coding.book))
        else:
            text = f"{each.label}: {each.passed} of {each.of} attempts pass."
            console.print(text, highlight=False)
    for row in coding.agreement:
        alpha = "–" if row.alpha is None else f"{row.alpha:.2f}"
        share = f"{row.same} of {row.of} the same ({interval_text(row.interval)})"
        text = f"Coders, {row.phase}: {share}, alpha {alpha}"
        console.print(text, highlight=False, soft_wrap=True)
    for told in agreed.agreement if agreed else ():
        kappa = "–" if told.kappa is None else f"{told.kappa:.2f}"
        share = f"{told.right} of {told.of} ({interval_text(told.interval)})"
        text = f"As a person coded, {told.phase}: {share}, kappa {kappa}"
        console.print(text, highlight=False, soft_wrap=True)


def _fixes(fixes: FixList, book: Codebook) -> Table:
    title = f"Fix this first: {fixes.label}, {fixes.passed} of {fixes.of} attempts pass"
    title += f", {fixes.unscored} unscored" if fixes.unscored else ""
    table = Table(title=title, title_justify="left")
    table.add_column("cause")
    for column in ("attempts", "alone", "more"):
        table.add_column(column, justify="right")
    for fix in fixes.fixes[:_ROWS]:
        name = f"{fix.code.split('/')[0]}: {book.title(fix.code)}"
        share = percent(fix.alone / fixes.of)
        table.add_row(Text(name), str(fix.touched), f"{fix.alone} ({share})", str(fix.more))
    left = len(fixes.fixes) - _ROWS
    if left > 0:
        table.caption = f"{left} more causes in the map"
    return table
