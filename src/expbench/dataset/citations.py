"""Requirements of the release, taken apart.

A requirement reads ``Step 3: train for 10 epochs (/workspace/train.py:12-40, /workspace/run.sh:3)``.
Nearly all end in such a parenthesis; what does not parse keeps its whole text and has no citations.
"""

from __future__ import annotations

import re

from expbench.schema import Citation, Requirement

_TAIL = re.compile(r"\(([^()]*[\w*]\.\w+[^()]*)\)\.?\s*$")
_STEP = re.compile(r"^\s*(?:final\s+)?step(?:\s+\d+)?\s*[:.]\s*", re.IGNORECASE)
_PATH = re.compile(r"[^\s:]*[\w*-]\.[A-Za-z]\w*")
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")


def repository_path(path: str) -> str:
    """A path of the release (``/workspace/a/b.py``) relative to the repository's root."""
    cleaned = path.strip().strip("`'\"")
    for prefix in ("/workspace/", "workspace/", "./"):
        cleaned = cleaned.removeprefix(prefix)
    return cleaned.lstrip("/") if not path.startswith("/tmp/") else path


def parse_requirement(text: str) -> Requirement:
    """Split one requirement string into its step and its citations."""
    match = _TAIL.search(text)
    citations = _citations(match.group(1)) if match else ()
    body = text[: match.start()] if match and citations else text
    return Requirement(text=_STEP.sub("", body).strip(), citations=citations)


def _citations(inside: str) -> tuple[Citation, ...]:
    """``/workspace/a.py:1-3, 7; /workspace/b.sh:2`` to one citation for each file."""
    found: dict[str, list[tuple[int, int]]] = {}
    current = ""
    for part in re.split(r"[,;]\s*|\s+and\s+", inside):
        path, colon, lines = part.strip().rpartition(":")
        if not colon:
            path, lines = (lines, "") if _PATH.fullmatch(lines) else ("", lines)
        if _PATH.fullmatch(path):
            current = repository_path(path)
            found.setdefault(current, [])
        if current and (match := _RANGE.fullmatch(lines.strip())):
            first = int(match.group(1))
            found[current].append((first, max(first, int(match.group(2) or first))))
    return tuple(Citation(path=path, ranges=tuple(ranges)) for path, ranges in found.items())
