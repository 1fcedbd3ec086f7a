"""A notebook's code cells as one Python source whose lines know where they stand in the file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_MAGIC = re.compile(r"^(\s*)([%!?].*|\w+\?+)$")
_ASSIGNED = re.compile(r"^(\s*\w+\s*=\s*)([%!].*)$")


@dataclass(frozen=True)
class Notebook:
    """``source`` is Python; line ``n`` of it stands in line ``lines[n - 1]`` of the file.

    ``shell`` are the lines that a cell hands to the shell, each with its line in the file; ``cells`` are
    the first and last line in the file of each code cell.
    """

    source: str
    lines: tuple[int, ...]
    shell: tuple[tuple[int, str], ...]
    cells: tuple[tuple[int, int], ...]


def read_notebook(text: str) -> Notebook:
    """Take a notebook's code out.

    Raises:
        ValueError: it is no notebook.
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if cells is None and isinstance(content, dict):
        sheets = content.get("worksheets")
        cells = (
            sheets[0].get("cells")
            if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict)
            else None
        )
    if not isinstance(cells, list):
        raise ValueError("it has no list of cells")
    raw = text.split("\n")
    source: list[str] = []
    lines: list[int] = []
    shell: list[tuple[int, str]] = []
    bounds: list[tuple[int, int]] = []
    place = 0
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        written = cell.get("source", cell.get("input", ""))
        texts = written if isinstance(written, list) else [written]
        rows = [
            row
            for part in texts
            if isinstance(part, str)
            for row in part.split("\n")[: part.count("\n") or 1]
        ]
        if isinstance(written, str):
            rows = written.split("\n")
        whole = "".join(part for part in texts if isinstance(part, str)).lstrip()
        first = len(lines)
        for row in rows:
            place = _find(raw, row, place)
            if cell.get("cell_type") == "code":
                lines.append(place + 1)
                source.append(_python(row, whole, place + 1, shell))
        if cell.get("cell_type") == "code" and len(lines) > first:
            bounds.append((lines[first], lines[-1]))
            source.append("")
            lines.append(lines[-1])
    return Notebook("\n".join(source) + "\n", tuple(lines), tuple(shell), tuple(bounds))


def _find(raw: list[str], row: str, place: int) -> int:
    """The next line of the file, from ``place``, in which a row of a cell is written."""
    for written in (json.dumps(row)[1:-1], json.dumps(row, ensure_ascii=False)[1:-1]):
        if not written.strip():
            return min(place + 1, len(raw) - 1)
        for number in range(place, min(len(raw), place + 4_000)):
            if written in raw[number]:
                return number
    return place


def _python(row: str, cell: str, line: int, shell: list[tuple[int, str]]) -> str:
    """The row as Python reads it: what goes to the shell becomes ``pass``."""
    if cell.startswith("%%") and not cell.startswith(("%%time", "%%capture", "%%prun")):
        if cell.startswith(("%%bash", "%%sh", "%%script")) and not row.startswith("%%"):
            shell.append((line, row))
        return ""
    if match := _MAGIC.match(row):
        if match[2].startswith(("!", "%run", "%cd")):
            shell.append(
                (
                    line,
                    match[2].lstrip("!%").removeprefix("run ")
                    if not match[2].startswith("%run")
                    else "python " + match[2][4:],
                )
            )
        return match[1] + "pass"
    if match := _ASSIGNED.match(row):
        return match[1] + "None"
    return row
