"""The text view of a submission: what a judge needs to read of a patch, and no more.

Most of a real agent's patch is output. Source files are shown as a unified diff, notebooks as their
code cells, and results, logs, data and the response itself by name and size.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from expbench.schema import RESPONSE_NAME, SCRIPT_NAME

_OUTPUT_SUFFIXES = frozenset(
    [
        ".log",
        ".csv",
        ".tsv",
        ".out",
        ".npy",
        ".npz",
        ".pkl",
        ".pickle",
        ".pt",
        ".pth",
        ".ckpt",
        ".h5",
        ".parquet",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".pdf",
        ".svg",
        ".zip",
        ".gz",
        ".tar",
        ".bin",
        ".so",
        ".o",
        ".whl",
        ".jsonl",
        ".lock",
    ]
)
_OUTPUT_FOLDERS = frozenset(
    ("results", "result", "outputs", "output", "logs", "log", "figures", "plots")
)
_OUTPUT_NAME = re.compile(
    r"(results?|metrics?|outputs?|logs?|summary|measured)([._-].*)?", re.IGNORECASE
)
_TEXT_OUTPUTS = frozenset((".json", ".txt", ".md"))


def by_name_only(path: bytes) -> bool:
    """Whether a changed file is output, data or a deliverable that is shown elsewhere."""
    name = PurePosixPath(path.decode("utf-8", "replace"))
    if str(name) in (RESPONSE_NAME, SCRIPT_NAME) or name.suffix.lower() in _OUTPUT_SUFFIXES:
        return True
    if name.suffix.lower() not in _TEXT_OUTPUTS:
        return False
    inside = any(part.lower() in _OUTPUT_FOLDERS for part in name.parts[:-1])
    return inside or _OUTPUT_NAME.fullmatch(name.stem) is not None


def is_notebook(path: bytes) -> bool:
    return path.lower().endswith(b".ipynb")


def notebook_diff(path: bytes, old: bytes, new: bytes) -> str:
    """A unified diff of a notebook's code cells."""
    name = path.decode("utf-8", "backslashreplace")
    lines = difflib.unified_diff(
        _code(old), _code(new), f"a/{name} (code cells)", f"b/{name} (code cells)", lineterm=""
    )
    text = "\n".join(lines)
    return f"diff --git a/{name} b/{name}\n{text}\n" if text else ""


def outline(files: Iterable[tuple[bytes, int]]) -> str:
    """One line for each file that is only named, with its size in bytes."""
    return "".join(
        f"# {path.decode('utf-8', 'backslashreplace')}: {size} bytes, not shown\n"
        for path, size in files
        if path.decode("utf-8", "replace") not in (RESPONSE_NAME, SCRIPT_NAME)
    )


def _code(notebook: bytes) -> list[str]:
    try:
        cells = (
            list(_cells(json.loads(notebook.decode("utf-8", errors="replace")))) if notebook else []
        )
    except (ValueError, TypeError, AttributeError):
        return notebook.decode("utf-8", errors="replace").splitlines()
    return [line for cell in cells for line in [*cell.splitlines(), ""]]


def _cells(notebook: object) -> Iterator[str]:
    for cell in notebook.get("cells", []) if isinstance(notebook, dict) else []:
        if cell.get("cell_type") == "code":
            source = cell.get("source", "")
            yield "".join(source) if isinstance(source, list) else str(source)
