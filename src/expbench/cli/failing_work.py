"""What ``expbench failures`` does: reads runs, codes their errors, writes and prints the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.cli.run_reports import places_of
from expbench.dataset import load_version
from expbench.errors import UserError
from expbench.failure_map import write_map
from expbench.failures import (
    Codebook,
    Coded,
    Coder,
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
    metrics: tuple[str, ...]
    out: Path | None
    sample: int | None
    labels: Path | None
    cache: Path
    data: Path | None


def map_runs(wanted: Wanted, as_json: bool) -> int:
    """Make the map of runs, or a sample of their errors. Raises UserError."""
    if wrong := [key for key in wanted.metrics if key not in CONJUNCTIONS]:
        raise UserError(
            f"There is no conjunctive metric {wrong[0]!r}: choose of {', '.join(CONJUNCTIONS)}."
        )
    book = load_codebook(wanted.codebook)
    labels = read_labels(wanted.labels, book) if wanted.labels else None
    runs = _named([run for folder in wanted.folders for run in _runs(folder)])
    outcomes = {name: run.ordered() for name, run in runs.items()}
    insights = [
        each for name, run in runs.items() for each in _insights(name, run, outcomes[name], wanted)
    ]
    coded = Coder(book).code(insights)
    if wanted.sample is not None:
        _write_sample(draw(coded, wanted.sample), wanted.out or Path("sample.csv"))
        return 0
    found = map_failures(outcomes, coded, book, metrics=wanted.metrics or _DEFAULT)
    agreed = compare_with_person(coded, labels) if labels is not None else None
    single = next(iter(runs.values())) if len(runs) == 1 else None
    dest = wanted.out or (single.paths.root / "failures" if single else Path("failures"))
    roots = {name: run.paths.root for name, run in runs.items()}
    files = write_map(found, book, outcomes, roots, dest)
    console = Console()
    if as_json:
        shown = found.model_dump(mode="json")
        shown["person"] = agreed.model_dump(mode="json") if agreed else None
        console.print_json(data=shown)
        return 0
    _show(console, found, book, agreed)
    console.print(f"Map: {files.html}", soft_wrap=True, highlight=False, markup=False)
    return 0


def _write_sample(sample: Sequence[Coded], file: Path) -> None:
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


def _insights(
    name: str, run: Run, outcomes: Sequence[Outcome], wanted: Wanted
) -> Iterator[Insight]:
    places = places_of(run.manifest, wanted.cache, wanted.data)
    suite = load_version(run.manifest.suite, run.manifest.suite_version, places.data, places.errata)
    items: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        if outcome.task_id not in items:
            task = suite.task(outcome.task_id)
            items[outcome.task_id] = {item.id: item.text for item in rubric(task)}
        yield from insights_of(outcome, name, items[outcome.task_id])


def _show(
    console: Console, found: FailureMap, book: Codebook, agreed: PersonsCoding | None
) -> None:
    how = ", ".join(f"{count} by {by}" for by, count in found.by.items())
    console.print(
        f"{len(found.coded)} errors in {found.attempts} attempts ({how or 'nothing to code'}).",
        highlight=False,
    )
    for each in found.fixes:
        if each.fixes:
            console.print(_fixes(each, book))
        else:
            console.print(
                f"{each.label}: {each.passed} of {each.of} attempts pass.", highlight=False
            )
    if agreed is not None:
        for row in agreed.agreement:
            kappa = "–" if row.kappa is None else f"{row.kappa:.2f}"
            share = f"{row.right} of {row.of} ({interval_text(row.interval)})"
            console.print(
                f"As a person coded, {row.phase}: {share}, kappa {kappa}",
                highlight=False,
                soft_wrap=True,
            )


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
