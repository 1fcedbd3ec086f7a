"""What ``expbench construct read`` does."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from expbench.construct.project import Project
from expbench.construct.stages import timed
from expbench.errors import DataError, UserError
from expbench.papers.document import Document, Element
from expbench.papers.index import PaperIndex
from expbench.papers.reading import load_document, read_paper
from expbench.paths import CachePaths

_NOTES = 12
_QUOTE = 160


@dataclass(frozen=True)
class Asked:
    """What the command was asked for."""

    folder: Path | None
    pdf: Path | None
    out: Path | None
    ocr: Literal["auto", "never", "always"]
    find: str
    top: int
    cache: Path


def read_and_show(asked: Asked, as_json: bool) -> int:
    """Read a paper and say what was read, or find places in it.

    Raises:
        UserError: both a project and a PDF are given, or neither; or the PDF cannot be read.
    """
    if (asked.folder is None) == (asked.pdf is None):
        raise UserError("Give a project's folder, or a PDF with --pdf: one of them.")
    console = Console(stderr=as_json)
    document = _document(asked, console)
    if asked.find:
        return _find(document, asked, console, as_json)
    if as_json:
        print(document.model_dump_json())  # noqa: T201
    else:
        _show(document, console)
    return 0


def _document(asked: Asked, console: Console) -> Document:
    if asked.folder is not None:
        project = Project(asked.folder, CachePaths(asked.cache))
        out = project.root / "paper"
        if asked.find and (known := _known(out, project.pdf)):
            return known
        with project.held(), timed(project, "read"), _progress(console) as tell:
            return read_paper(project.pdf, out, ocr=asked.ocr, progress=tell)
    assert asked.pdf is not None
    out = asked.out or Path(asked.pdf.stem)
    if asked.find and (known := _known(out, asked.pdf)):
        return known
    with _progress(console) as tell:
        return read_paper(asked.pdf, out, ocr=asked.ocr, progress=tell)


def _known(out: Path, pdf: Path) -> Document | None:
    """What was read of the same file before."""
    try:
        document = load_document(out)
        with pdf.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == document.digest
    except (DataError, OSError):
        return None
    return document if same else None


@contextmanager
def _progress(console: Console) -> Iterator[Callable[[int, int], None] | None]:
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("pages"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(document: Document, console: Console) -> None:
    console.print(Text(document.title or "(no title found)", style="bold"))
    table = Table("section", "page", "text", "tables", "figures", "formulas", header_style="bold")
    for section, elements in _sections(document):
        kinds = Counter(each.kind for each in elements)
        letters = sum(len(each.text) for each in elements if each.kind in ("paragraph", "list"))
        name = section.rpartition(" / ")[2] or "(before the first heading)"
        counts = (kinds["table"], kinds["figure"], kinds["formula"])
        table.add_row(
            Text("  " * section.count(" / ") + name),
            str(min(each.page for each in elements)),
            f"{letters:,}",
            *(str(each or "") for each in counts),
        )
    console.print(table)
    _show_quality(document, console)


def _sections(document: Document) -> list[tuple[str, list[Element]]]:
    """The sections in the order of reading, each with its elements."""
    found: dict[str, list[Element]] = {}
    for each in document.elements:
        if each.kind == "heading":
            found.setdefault(each.section, [])
    for each in document.elements:
        found.setdefault(each.section, []).append(each)
    return sorted(found.items(), key=lambda item: bool(item[0]))


def _show_quality(document: Document, console: Console) -> None:
    quality = document.quality
    kinds = Counter(each.kind for each in document.elements)
    appendix = sum(each.appendix for each in document.elements)
    lines = (
        f"{quality.pages} pages, {quality.recognised} of them recognised from their pictures, "
        f"{quality.empty} without text; {100 * quality.doubtful_words:.1f} % of the words are doubtful.",
        f"{quality.tables} tables, {quality.tables_without_cells} of them without cells; "
        f"{quality.figures} figures, {quality.figures_without_caption} of them without a caption.",
        f"{kinds['reference']} references, {kinds['footnote']} footnotes, {appendix} elements of appendices.",
    )
    for line in (*lines, *quality.notes[:_NOTES]):
        console.print(Text(line))
    if (more := len(quality.notes) - _NOTES) > 0:
        console.print(f"and {more} more notes (--json has all).")


def _find(document: Document, asked: Asked, console: Console, as_json: bool) -> int:
    index = PaperIndex(document)
    found = index.search(asked.find, asked.top)
    if as_json:
        shown = [{"element": each.model_dump(mode="json"), "score": score} for each, score in found]
        print(json.dumps({"found": shown, "meaning": index.uses_meaning}))  # noqa: T201
        return 0 if found else 1
    table = Table("page", "section", "kind", "text", "score", header_style="bold")
    for each, score in found:
        text = " ".join(each.text.split())
        quote = text if len(text) <= _QUOTE else f"{text[: _QUOTE - 1]}…"
        kind = each.label if each.kind in ("table", "figure") and each.label else each.kind
        table.add_row(str(each.page), Text(each.section), Text(kind), Text(quote), f"{score:.3g}")
    console.print(table if found else Text("Nothing of the paper is about this: use other words."))
    return 0 if found else 1
