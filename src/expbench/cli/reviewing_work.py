"""The work of ``expbench review``: what is reviewed, and what is done with it."""

from __future__ import annotations

import getpass
import re
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.cli.run_reports import places_of
from expbench.construct.decisions import decisions
from expbench.dataset import load_version
from expbench.errors import ExpbenchError, NotFoundError, RepositoryError, UserError
from expbench.judges.rubric import CodeReader
from expbench.paths import RunPaths
from expbench.review.agreeing import ReviewAgreement, agree
from expbench.review.attempts import RunSubject
from expbench.review.book import Book
from expbench.review.project import MANIFEST, ProjectSubject
from expbench.review.serving import listen, serve
from expbench.review.showing import agreement_rows, alpha_text
from expbench.review.views import Subject, progress
from expbench.review.web import Desk
from expbench.runs import load
from expbench.schema import ResearchTask
from expbench.workspace import SourceFinder, code_reader, shipped_documents

if TYPE_CHECKING:
    from expbench.review.labelled import Labelled


@dataclass(frozen=True)
class Wanted:
    """What the command was asked."""

    folder: Path
    reviewer: str
    port: int | None
    browser: bool
    blind: bool
    agreement: bool
    export: Path | None
    export_findings: Path | None
    json: bool
    cache: Path
    data: Path | None
    repos: Path | None
    variables: Mapping[str, str]


def run_review(wanted: Wanted) -> int:
    """Serve the page until it is interrupted, or only print or write something. Raises UserError."""
    subject = open_subject(wanted)
    console = Console()
    if wanted.export or wanted.export_findings:
        _export(subject, wanted, console)
        return 0
    if wanted.agreement:
        _show_agreement(agree(subject.tasks(), decisions(wanted.folder)), wanted.json, console)
        return 0
    if wanted.json:
        raise UserError("--json goes with --agreement: the page prints nothing else.")
    subject.tasks()  # what cannot be read is said before anything is opened
    book = Book(wanted.folder, wanted.reviewer or _user())
    desk = Desk(subject, book, wanted.folder)
    console.print(_standing(desk), highlight=False, soft_wrap=True, markup=False)

    def ready(address: str) -> None:
        console.print(f"Review: {address}", highlight=False, soft_wrap=True, markup=False)
        console.print("Ctrl-C ends it; every decision is kept as it is made.", highlight=False)
        sys.stdout.flush()
        if wanted.browser and _has_desktop(wanted.variables):
            webbrowser.open(address)

    serve(desk, listen(wanted.port), ready)
    console.print(_standing(desk), highlight=False, soft_wrap=True, markup=False)
    return 0


def open_subject(wanted: Wanted) -> Subject:
    """The project or run in the folder.

    Raises:
        NotFoundError: there is neither.
        UserError: the run's suite is not at hand.
    """
    if (wanted.folder / MANIFEST).is_file():
        return ProjectSubject(wanted.folder)
    if not RunPaths(wanted.folder).manifest.is_file():
        raise NotFoundError(
            f"{wanted.folder} holds neither a project nor a run: give a folder that `expbench construct new` "
            "or `expbench run` made."
        )
    run = load(wanted.folder)
    manifest, places = run.manifest, places_of(run.manifest, wanted.cache, wanted.data)
    suite = load_version(manifest.suite, manifest.suite_version, places.data, places.errata)
    tasks = {task.id: task for task in suite.tasks}
    return RunSubject(run, tasks, wanted.blind, _Codes(_finder(wanted), wanted.repos is not None))


def _finder(wanted: Wanted) -> SourceFinder:
    return SourceFinder(wanted.cache / "repos", clones=wanted.repos)


@dataclass(frozen=True)
class _Codes:
    """The authors' code of each task: shipped with the package, or in the user's clones."""

    finder: SourceFinder
    clones: bool

    def __call__(self, task: ResearchTask) -> CodeReader | None:
        if task.venue != "mini" and not self.clones:
            return None
        try:
            return code_reader(self.finder.source(task))
        except ExpbenchError:
            return None


def _standing(desk: Desk) -> str:
    tasks = progress(desk.subject, desk.book.all())
    done, fields = sum(each.decided for each in tasks), sum(each.total for each in tasks)
    minutes = sum(each.seconds for each in tasks) / 60
    by = f"by {desk.book.reviewer} in {minutes:.0f} minutes"
    return f"{done} of {fields} fields of {len(tasks)} tasks are decided {by}: {desk.book.path}"


def _user() -> str:
    """The user's name as far as it can name a file."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = ""
    return re.sub(r"[^\w.-]|^[\W_]+", "", name)[:60] or "reviewer"


def _has_desktop(variables: Mapping[str, str]) -> bool:
    """Whether a browser would open beside the terminal and not in it."""
    shown = variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY")
    return bool(shown) or sys.platform == "darwin"


def _export(subject: Subject, wanted: Wanted, console: Console) -> None:
    if not isinstance(subject, RunSubject):
        raise UserError(
            f"{wanted.folder} is a project, and labels are of runs: give a run's folder."
        )
    from expbench.review.labelled import judge_set, monitor_set  # takes seconds to load

    made = decisions(wanted.folder)
    if wanted.export is not None:
        found = judge_set(subject, made)
        _write(found, wanted.export, "item", console)
    if wanted.export_findings is not None:
        finder = _finder(wanted)

        def documents(task: ResearchTask) -> Mapping[str, str]:
            try:
                return shipped_documents(finder.prepared(task)) if wanted.repos else {}
            except RepositoryError:
                return {}

        found = monitor_set(subject, made, documents)
        _write(found, wanted.export_findings, "trajectory", console)


def _write(found: Labelled, file: Path, what: str, console: Console) -> None:
    left = f"{found.open} open or skipped, {found.tied} tied"
    if not found.lines:
        raise UserError(f"No {what} is labelled ({left}): label some with the page first.")
    try:
        with file.open("x", encoding="utf-8", newline="") as out:
            out.write(found.text)
    except FileExistsError:
        raise UserError(f"{file} is there: name another file.") from None
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}.") from None
    said = f"{found.labels} labels ({what}), {left}: {file}"
    console.print(said, highlight=False, soft_wrap=True, markup=False)


def _show_agreement(found: ReviewAgreement, as_json: bool, console: Console) -> None:
    if as_json:
        console.print_json(data=found.model_dump(mode="json"))
        return
    for who in found.reviewers:
        words = ", ".join(f"{word} {count}" for word, count in who.words.items())
        line = f"{who.name}: {who.decided} of {found.fields} decided in {who.minutes:.1f} minutes ({words})"
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    rows = agreement_rows(found)
    if not rows:
        few = "Nobody has reviewed it" if not found.reviewers else "One reviewer agrees with nobody"
        console.print(f"{few}: have two people review, each with a --reviewer name.")
        return
    table = Table(title="Agreement (95 % intervals over tasks)", title_justify="left")
    for column in ("reviewers", "fields"):
        table.add_column(column)
    for column in ("the same", "95 %", "kappa", "95 %", "fixed alike"):
        table.add_column(column, justify="right")
    for row in rows:
        cells = (row.same, row.interval, row.kappa, row.kappa_interval, row.fixes)
        table.add_row(Text(row.reviewers), Text(row.kind), *cells)
    console.print(table)
    console.print(f"Krippendorff's alpha of all: {alpha_text(found)}", highlight=False)
