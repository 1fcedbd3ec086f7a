"""The lines that a unified diff adds, file by file."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


@dataclass(frozen=True)
class Added:
    """What a diff adds to one file; ``whole``: the file is new, so that this is all of it."""

    path: str
    text: str
    whole: bool


def added(diff: str) -> list[Added]:
    """Added text by file. Hunks are counted, so that a line ``+++ x`` inside one is content."""
    found: list[Added] = []
    path, whole, lines = "", False, list[str]()
    old = new = 0
    for line in diff.split("\n"):
        if old > 0 or new > 0:
            mark = line[:1]
            old -= mark not in {"+", "\\"}
            new -= mark not in {"-", "\\"}
            if mark == "+":
                lines.append(line[1:])
            continue
        match = _HUNK.match(line)
        if match is not None:
            old, new = int(match[1] or 1), int(match[2] or 1)
        elif line.startswith("--- "):
            if path:
                found.append(Added(path, "\n".join(lines), whole))
            path, lines, whole = "", [], line.startswith("--- /dev/null")
        elif line.startswith("+++ "):
            path = line[4:].split("\t")[0].strip('"').removeprefix("b/")
    if path:
        found.append(Added(path, "\n".join(lines), whole))
    return found
