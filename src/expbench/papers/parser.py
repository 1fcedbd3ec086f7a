"""The program that opens a PDF: it runs in a process of its own, since what it reads may be hostile.

``python -m expbench.papers.parser`` reads one JSON object from its standard input and writes one line for
each page that is done. A page's words lie in ``raw/N.json`` and its picture in ``pages/N.png`` below the
folder; both are whole or not there.
"""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from expbench.papers.glyphs import MOST_CHARACTERS, text_angle, words_of
from expbench.papers.raw import Area, RawPage, Word, is_done
from expbench.papers.strokes import MOST_OBJECTS, strokes_of
from expbench.papers.turning import Turn

MOST_PIXELS = 4_000_000
"""Of a page's picture; a page of A4 has 2.2 million."""
MOST_PAGES = 1000
MOST_WORDS = 12_000
"""Of a page; a page of a newspaper has 6,000."""
_DPI = 150
_LARGEST = 2200.0
"""Points; a larger page is a poster or an attack."""
_COMPRESSION = 3
"""Of a picture's file: half the time of the usual 6 for pages of text, and no more bytes."""
_LEAST_LETTERS = 16
_MOST_BROKEN = 0.15


@dataclass(frozen=True)
class Job:
    """What is to be read, and where it goes."""

    pdf: str
    folder: str
    pages: tuple[int, ...]
    ocr: Literal["auto", "never", "always"]
    bytes_of_memory: int
    seconds: int


def main() -> int:
    """Read the pages that standard input names."""
    found = json.loads(sys.stdin.read())
    job = Job(**{**found, "pages": tuple(found["pages"])})
    resource.setrlimit(resource.RLIMIT_AS, (job.bytes_of_memory, job.bytes_of_memory))
    resource.setrlimit(resource.RLIMIT_CPU, (job.seconds, job.seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _read(job)


def _say(**said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def _read(job: Job) -> int:
    import pypdfium2

    _say(ready=True)
    try:
        document = pypdfium2.PdfDocument(job.pdf)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        _say(refused="encrypted" if "assword" in str(error) else "broken")
        return 0
    _say(pages=count, notes=_notes(document), most=MOST_PAGES)
    if count > MOST_PAGES:
        return 0
    folder = Path(job.folder)
    for number in job.pages or range(1, count + 1):
        if not is_done(folder, number):
            _say(begun=number)
            _write(_page(document, number, job), folder)
            _say(done=number)
    return 0


def _notes(document: Any) -> list[str]:
    """What the file holds beside its pages, and what was made of it: nothing."""
    from pypdfium2 import raw

    notes = []
    if count := document.count_attachments():
        notes.append(f"The file has {count} attached files, which were not opened.")
    if raw.FPDFDoc_GetJavaScriptActionCount(document) > 0:
        notes.append("The file has programs (JavaScript), which were not run.")
    if document.get_formtype():
        notes.append("The file has a form, of which what is filled in was not read.")
    return notes


def _page(document: Any, number: int, job: Job) -> tuple[RawPage, Any]:
    """A page and its picture."""
    page = document[number - 1]
    text = page.get_textpage()
    count = max(text.count_chars(), 0)
    rotation = -text_angle(text, count) % 360 if count else page.get_rotation()
    left, bottom, right, top = page.get_bbox()
    turn = Turn(left, bottom, right, top, rotation)
    width, height = turn.size
    notes = []
    if max(width, height) > _LARGEST:
        notes.append(f"Page {number} is unusually large ({width:.0f} x {height:.0f} points).")
    if count > MOST_CHARACTERS:
        notes.append(f"Page {number} has {count:,} characters, of which the first were read.")
    words = [] if job.ocr == "always" else words_of(text, count, turn)
    if len(words) > MOST_WORDS:
        notes.append(f"Page {number} has {len(words):,} words, of which the first were read.")
        words = words[:MOST_WORDS]
    across, down, drawings, whole = strokes_of(page, turn)
    if not whole:
        notes.append(f"Page {number} has more than {MOST_OBJECTS:,} drawings; not all were read.")
    found = RawPage(
        number=number,
        width=round(width, 2),
        height=round(height, 2),
        rotation=rotation,
        source="text",
        words=tuple(words),
        across=tuple(across),
        down=tuple(down),
        drawings=tuple(drawings),
        notes=tuple(notes),
    )
    picture = _picture(page, turn)
    if _usable(words):
        return found, picture
    return (
        _recognised(found, picture, job)
        if _inked(picture)
        else (
            replace(found, source="text" if words else "none"),
            picture,
        )
    )


def _usable(words: list[Word]) -> bool:
    """Whether a text layer holds text: fonts without a key to their letters give signs at best."""
    letters = "".join(each.text for each in words)
    broken = sum(each == "\ufffd" or "\ue000" <= each <= "\uf8ff" or each < " " for each in letters)
    known = sum(each.isalnum() for each in letters)
    return known >= _LEAST_LETTERS and broken <= _MOST_BROKEN * len(letters)


def _picture(page: Any, turn: Turn) -> Any:
    width, height = turn.size
    scale = min(_DPI / 72, (MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    extra = (turn.rotation - page.get_rotation()) % 360
    return page.render(scale=scale, rotation=extra, may_draw_forms=False).to_pil()


def _inked(picture: Any) -> bool:
    darkest, brightest = picture.convert("L").getextrema()
    return bool(brightest - darkest > 60)


def _recognised(found: RawPage, picture: Any, job: Job) -> tuple[RawPage, Any]:
    if job.ocr == "never" or max(found.width, found.height) > _LARGEST:
        return replace(found, source="text" if found.words else "none"), picture
    from expbench.papers.recognition import recognise

    _say(recognising=found.number)
    seen = recognise(picture.convert("L"))
    lies = seen.turned % 180 != 0
    page = replace(
        found,
        width=found.height if lies else found.width,
        height=found.width if lies else found.height,
        rotation=(found.rotation + seen.turned) % 360,
        source="ocr" if seen.words else "none",
        words=tuple(seen.words),
        across=tuple(seen.across),
        down=tuple(seen.down),
    )
    drawings = tuple(each for each in seen.drawings if not _covers(each, page))
    return replace(page, drawings=drawings), seen.picture


def _covers(area: Area, page: RawPage) -> bool:
    return area.width > 0.9 * page.width and area.height > 0.9 * page.height


def _write(read: tuple[RawPage, Any], folder: Path) -> None:
    page, picture = read
    image, text = folder / "pages" / f"{page.number}.png", folder / "raw" / f"{page.number}.json"
    half = image.with_suffix(".half")
    picture.save(half, format="PNG", compress_level=_COMPRESSION)
    half.replace(image)
    half = text.with_suffix(".half")
    half.write_text(page.to_json(), encoding="utf-8")
    half.replace(text)


if __name__ == "__main__":
    sys.exit(main())
