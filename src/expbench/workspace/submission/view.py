"""The text view of a submission: what a judge needs to read of a patch, and no more.

Most of a real agent's patch is output. Source files are shown as a unified diff, notebooks as their
code cells; results, logs, data, the response itself, binary files and very long ones by name and size.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from expbench.schema import RESPONSE_NAME, SCRIPT_NAME
from expbench.workspace.submission.ignored import suffix
from expbench.workspace.submission.names import printable
from expbench.workspace.submission.outputs import (
    OUTPUT_SUFFIXES,
    OUTPUT_WORDS,
    SETTING_WORDS,
    TEXTS,
    words_of,
)

SHOWN_CAP = 1024**2
"""Bytes of the largest file that is shown."""
TEXT_CAP = 64 * 1024
"""The same for texts that may as well be data: JSON, plain text, markup."""

_OUTPUT_NAMES = frozenset(
    b"package-lock.json npm-shrinkwrap.json pnpm-lock.yaml conda-lock.yml".split()
)
_DELIVERABLES = frozenset((RESPONSE_NAME.encode(), SCRIPT_NAME.encode()))


def by_name_only(path: bytes) -> bool:
    """Whether a changed file is output, data or a deliverable that is shown elsewhere.

    Texts are output by a word in their name or a folder's name (``run_log.txt``,
    ``test_results/solver.json``); code in such a folder is code.
    """
    if path in _DELIVERABLES:
        return True
    name = path.lower().rpartition(b"/")[2]
    ending = suffix(name)
    if ending in OUTPUT_SUFFIXES or name in _OUTPUT_NAMES or b".tfevents." in name:
        return True
    if ending not in TEXTS:
        return False
    words, folders = words_of(path)
    return not words & SETTING_WORDS and not OUTPUT_WORDS.isdisjoint(words | folders)


def too_long(path: bytes, size: int) -> bool:
    """Whether a file is too long to be read by a judge."""
    return size > (TEXT_CAP if suffix(path) in TEXTS else SHOWN_CAP)


def is_notebook(path: bytes) -> bool:
    return path.lower().endswith(b".ipynb")


def code_cells(notebook: bytes) -> bytes | None:
    """A notebook's code cells as text; a text that is no notebook as it is, other bytes as None.

    What is longer than ``SHOWN_CAP`` bytes is None as well.
    """
    try:
        cells = list(_cells(json.loads(notebook.decode("utf-8", errors="replace"))))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None if b"\0" in notebook or len(notebook) > SHOWN_CAP else notebook
    lines = (line for cell in cells for line in [*cell.splitlines(), ""])
    text = "".join(f"{line}\n" for line in lines).replace("\0", "\ufffd")
    code = text.encode("utf-8", errors="backslashreplace")
    return None if len(code) > SHOWN_CAP else code


def outline(files: Iterable[tuple[bytes, str]]) -> str:
    """One line for each file that is only named, with what is said of it."""
    return "".join(
        f"# {printable(path)}: {said}, not shown\n"
        for path, said in sorted(files)
        if path not in _DELIVERABLES
    )


def _cells(notebook: object) -> Iterator[str]:
    if not isinstance(notebook, dict):
        raise TypeError("a notebook is an object")
    for cell in notebook.get("cells", []):
        if cell.get("cell_type") == "code":
            source = cell.get("source", "")
            yield "".join(source) if isinstance(source, list) else str(source)
