"""Reading a paper: its PDF in, a document with pictures of its pages, tables and figures out."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from PIL import Image
from pydantic import ValidationError

from expbench.durable import sync_folder
from expbench.errors import DataError, PrerequisiteError
from expbench.papers.assembly import elements_of, title_of
from expbench.papers.document import Document, Element, Page
from expbench.papers.isolation import Parsed, parse
from expbench.papers.quality import quality_of
from expbench.papers.raw import RawPage, page_from_json

Ocr = Literal["auto", "never", "always"]
Progress = Callable[[int, int], None]
DOCUMENT = "document.json"
_PARTS = ("pages", "crops")
_WORK = ".reading"
_MARGIN = 3.0
"""Points around a table or figure on its crop."""
_VERSION = "1"
"""Of what the parser writes: pages of another version are made again."""
_MEND = "install it with `pip install expbench[construct]`"


def read_paper(
    pdf: Path, out: Path, *, ocr: Ocr = "auto", progress: Progress | None = None
) -> Document:
    """Read a paper's PDF, which may be hostile, and write what was read below a folder.

    The folder gets ``document.json``, ``pages/N.png`` and ``crops/ID.png``. ``document.json`` comes last, so
    that a killed reading leaves no half of one; pages that were read before are not read again.

    Args:
        pdf: the paper.
        out: the folder, made if it is not there.
        ocr: ``auto`` recognises the pages that have no usable text layer, ``never`` none, ``always`` all.
        progress: is told how many pages of how many are done.

    Returns:
        The document. What could not be read is said in its quality's notes.

    Raises:
        DataError: there is no such file, or it is not a PDF that can be read.
        PrerequisiteError: the extra ``construct`` is not installed.
    """
    _check_extra(ocr)
    digest = _digest(pdf)
    work = _work_folder(out, digest, ocr)
    parsed = parse(pdf, work, ocr, progress)
    pages = _pages(work, parsed)
    document = _document(pages, parsed, digest)
    for element in document.elements:
        if element.crop:
            _crop(element, document, work)
    _deliver(document, work, out)
    return document


def load_document(folder: Path) -> Document:
    """What was read into a folder. Raises DataError."""
    path = folder / DOCUMENT
    try:
        return Document.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise DataError(
            f"{folder} holds no paper that was read: read it with `expbench construct read`."
        ) from None
    except (OSError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path} cannot be read ({reason}): read the paper again.") from None


def _check_extra(ocr: Ocr) -> None:
    wanted = ["pypdfium2", "PIL"] + ([] if ocr == "never" else ["rapidocr", "onnxruntime"])
    missing = [name for name in wanted if find_spec(name) is None]
    if missing:
        raise PrerequisiteError(
            f"Reading a PDF needs the extra of which {missing[0]} is not installed: {_MEND}."
        )


def _digest(pdf: Path) -> str:
    try:
        with pdf.open("rb") as file:
            start = file.read(1024)
            digest = hashlib.file_digest(file, "sha256") if not file.seek(0) else None
    except OSError as error:
        reason = (error.strerror or "unknown").lower()
        raise DataError(
            f"{pdf} cannot be opened ({reason}): give the path of the paper's PDF."
        ) from None
    if b"%PDF-" not in start or digest is None:
        what = "is empty" if not start else "is no PDF"
        raise DataError(f"{pdf} {what}: give the path of the paper's PDF.")
    return digest.hexdigest()


def _work_folder(out: Path, digest: str, ocr: Ocr) -> Path:
    """Where the pages of this file are gathered; those of another one are thrown away."""
    work = out / _WORK / f"{digest[:16]}-{ocr}-{_VERSION}"
    try:
        for other in (out / _WORK).glob("*"):
            if other != work:
                shutil.rmtree(other, ignore_errors=True)
        for name in ("raw", "pages", "crops"):
            (work / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "unknown").lower()
        raise DataError(f"{out} cannot be written ({reason}): choose another folder.") from None
    return work


def _pages(work: Path, parsed: Parsed) -> list[RawPage]:
    found = []
    for number in range(1, parsed.pages + 1):
        path = work / "raw" / f"{number}.json"
        if number in parsed.lost:
            found.append(_lost(number, parsed.lost[number]))
            continue
        try:
            found.append(page_from_json(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError):
            path.unlink(missing_ok=True)
            raise DataError(f"Page {number} was not read whole: read the paper again.") from None
    return found


def _lost(number: int, note: str) -> RawPage:
    return RawPage(number, 612.0, 792.0, 0, "none", notes=(note,))


def _document(pages: Sequence[RawPage], parsed: Parsed, digest: str) -> Document:
    elements = tuple(
        each.model_copy(update={"crop": f"crops/{each.id}.png"})
        if each.kind in ("table", "figure")
        else each
        for each in elements_of(pages)
    )
    return Document(
        title=title_of(elements),
        digest=digest,
        pages=tuple(_page(each, elements, parsed) for each in pages),
        elements=elements,
        quality=quality_of(pages, elements, parsed.notes),
    )


def _page(page: RawPage, elements: Sequence[Element], parsed: Parsed) -> Page:
    return Page(
        number=page.number,
        width=page.width,
        height=page.height,
        source=page.source,
        image="" if page.number in parsed.lost else f"pages/{page.number}.png",
        rotation=page.rotation,
        columns=_columns(page, elements),
    )


def _columns(page: RawPage, elements: Sequence[Element]) -> int:
    """Two, where paragraphs stand beside each other."""
    boxes = [
        each.box
        for each in elements
        if each.page == page.number
        and each.kind in ("paragraph", "reference")
        and 0.25 * page.width < each.box.x1 - each.box.x0 < 0.5 * page.width
    ]
    beside = any(
        one.x1 < other.x0 and one.y0 < other.y1 and other.y0 < one.y1
        for one in boxes
        for other in boxes
    )
    return 2 if beside else 1


def _crop(element: Element, document: Document, work: Path) -> None:
    page = document.pages[element.page - 1]
    with Image.open(work / page.image) as picture:
        across, down = picture.width / page.width, picture.height / page.height
        box = element.box
        part = picture.crop(
            (
                max(round((box.x0 - _MARGIN) * across), 0),
                max(round((box.y0 - _MARGIN) * down), 0),
                min(round((box.x1 + _MARGIN) * across) + 1, picture.width),
                min(round((box.y1 + _MARGIN) * down) + 1, picture.height),
            )
        )
        part.save(work / element.crop, format="PNG")


def _deliver(document: Document, work: Path, out: Path) -> None:
    """Put what was read in its place; the document comes last and says that all is there."""
    (out / DOCUMENT).unlink(missing_ok=True)
    for name in _PARTS:
        if (out / name).exists():
            shutil.rmtree(out / name)
        (work / name).replace(out / name)
    half = work / DOCUMENT
    half.write_text(document.model_dump_json(indent=1), encoding="utf-8")
    half.replace(out / DOCUMENT)
    sync_folder(out)
    shutil.rmtree(out / _WORK, ignore_errors=True)
