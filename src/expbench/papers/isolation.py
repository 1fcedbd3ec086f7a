"""The parser's process: bounded in memory and time, and started again behind a page that it dies of."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from expbench.errors import DataError, PrerequisiteError
from expbench.papers.raw import is_done

SECONDS_PER_PAGE = 200.0
"""For which the parser may be silent; a page that is recognised on a busy machine takes 50."""
BYTES_OF_MEMORY = 4 << 30
MOST_LOST = 5
"""Pages that may be lost before the file counts as unreadable."""


@dataclass
class Parsed:
    """What the parser said of a file: its pages, what is to be noted, and the pages that it died of."""

    pages: int = 0
    notes: tuple[str, ...] = ()
    lost: dict[int, str] = field(default_factory=dict)


def parse(
    pdf: Path,
    folder: Path,
    ocr: str,
    progress: Callable[[int, int], None] | None = None,
    seconds_per_page: float = SECONDS_PER_PAGE,
) -> Parsed:
    """Have all pages of a file that are not in the folder yet written there.

    Args:
        pdf: a file that may be hostile.
        folder: with ``raw`` and ``pages``; what is there already is not made again.
        ocr: ``auto``, ``never`` or ``always``.
        progress: is told how many pages of how many are done.
        seconds_per_page: after which a page is given up.

    Raises:
        DataError: the file is encrypted, broken, has no or too many pages, or the parser dies of it.
        PrerequisiteError: the parser does not start.
    """
    parsed = Parsed()
    while True:
        wanted = _missing(parsed, folder)
        if parsed.pages and not wanted:
            return parsed
        at = _run(pdf, folder, ocr, wanted, parsed, progress, seconds_per_page)
        if not parsed.pages:
            raise DataError(
                f"{pdf} cannot be read, since the PDF parser died of it: print it to a new PDF and give that."
            )
        if at:
            parsed.lost[at] = (
                f"Page {at} could not be read: the PDF parser died of it or took too long."
            )
        elif _missing(parsed, folder):
            raise DataError(f"{pdf} cannot be read: the PDF parser ended early; try again.")
        if len(parsed.lost) > MOST_LOST or len(parsed.lost) == parsed.pages:
            raise DataError(
                f"{pdf} cannot be read, since the PDF parser died of {len(parsed.lost)} of its "
                f"{parsed.pages} pages or took too long: print it to a new PDF and give that."
            )


def _missing(parsed: Parsed, folder: Path) -> tuple[int, ...]:
    return tuple(
        number
        for number in range(1, parsed.pages + 1)
        if number not in parsed.lost and not is_done(folder, number)
    )


def _run(
    pdf: Path,
    folder: Path,
    ocr: str,
    pages: tuple[int, ...],
    parsed: Parsed,
    progress: Callable[[int, int], None] | None,
    seconds: float,
) -> int:
    """One process of the parser; returns the page that it was at when it died, or 0."""
    at = 0
    left = len(pages)
    ready = False
    for said in _said(_job(pdf, folder, ocr, pages), seconds):
        ready = ready or "ready" in said
        if "refused" in said:
            raise DataError(_refusal(pdf, said["refused"]))
        if "pages" in said:
            parsed.pages, parsed.notes = int(said["pages"]), tuple(said["notes"])
            if not parsed.pages:
                raise DataError(f"{pdf} has no pages: give the paper's PDF.")
            if said["most"] < parsed.pages:
                raise DataError(
                    f"{pdf} has {parsed.pages} pages, more than the {said['most']} that are read of a paper: "
                    "give the paper's part."
                )
            left = len(_missing(parsed, folder))
        at = int(said.get("begun", at))
        if "done" in said:
            at = 0
            left -= 1
            if progress is not None:
                progress(parsed.pages - left, parsed.pages)
    if not ready:
        raise PrerequisiteError(
            "The PDF parser does not start: install it again with `pip install --force-reinstall pypdfium2`."
        )
    return at


def _refusal(pdf: Path, reason: str) -> str:
    if reason == "encrypted":
        return f"{pdf} is encrypted: give a copy that opens without a password."
    return f"{pdf} is no PDF that can be opened: give the paper's PDF, downloaded again if it is cut off."


def _job(pdf: Path, folder: Path, ocr: str, pages: tuple[int, ...]) -> dict[str, Any]:
    return {
        "pdf": str(pdf.resolve()),
        "folder": str(folder.resolve()),
        "pages": pages,
        "ocr": ocr,
        "bytes_of_memory": BYTES_OF_MEMORY,
        "seconds": 24 * 3600,
    }


def _said(job: dict[str, Any], seconds: float) -> Iterator[dict[str, Any]]:
    """What the parser says until it ends, is silent for too long, or says nonsense."""
    with tempfile.TemporaryFile() as errors, _process(errors) as process:
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job).encode())
            process.stdin.close()
        for line in _lines(process.stdout, seconds):
            try:
                said = json.loads(line)
            except ValueError:
                return
            if isinstance(said, dict):
                yield said


@contextlib.contextmanager
def _process(errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "expbench.papers.parser"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "LC_ALL": "C.UTF-8",
            "OMP_NUM_THREADS": "2",
            "OPENBLAS_NUM_THREADS": "1",
        },
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _lines(stream: IO[bytes], seconds: float) -> Iterator[bytes]:
    """Lines as they come; it ends when none has come for so long."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        rest = b""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and selector.select(left):
            piece = os.read(stream.fileno(), 65536)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > 1 << 20:
                return
            yield from lines
            until = time.monotonic() + seconds
