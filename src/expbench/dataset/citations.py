"""Requirements of the release, taken apart.

A requirement reads ``Step 3: train for 10 epochs (/workspace/train.py:12-40, /workspace/run.sh:3)``.
Nearly all end in such a parenthesis; what does not parse keeps its whole text and has no citations.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from expbench.schema import Requirement

_CITES = re.compile(r"[\w*]\.\w")
_STEP = re.compile(r"^\s*(?:final\s+)?step(?:\s+\d+)?\s*[:.]\s*", re.IGNORECASE)
_PATH = re.compile(r"[^\s:]*[\w*-]\.[A-Za-z]\w*")
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
_ONE = re.compile(r"\s*([^\s:,;]*[\w*-]\.[A-Za-z]\w*):(\d+)(?:[-–](\d+))?\s*")


@functools.lru_cache(maxsize=16_384)
def repository_path(path: str) -> str:
    """A path of the release (``/workspace/a/b.py``) relative to the repository's root."""
    cleaned = path.strip().strip("`'\"")
    for prefix in ("/workspace/", "workspace/", "./"):
        cleaned = cleaned.removeprefix(prefix)
    return cleaned.lstrip("/") if not path.startswith("/tmp/") else path


def parse_requirement(text: str) -> Requirement:
    """Split one requirement string into its step and its citations."""
    return Requirement.model_validate(requirement_fields(text))


def requirement_fields(text: str) -> dict[str, Any]:
    """The fields of a :class:`Requirement`, for a parser that validates a whole task at once."""
    start = text.rfind("(")
    inside, closed, rest = text[start + 1 :].rpartition(")") if start >= 0 else ("", "", "")
    cites = closed and ")" not in inside and rest.strip() in ("", ".") and _CITES.search(inside)
    citations = _citations(inside) if cites else ()
    body = text[:start] if citations else text
    step = _STEP.match(body)
    return {"text": body[step.end() if step else 0 :].strip(), "citations": citations}


def _citations(inside: str) -> tuple[dict[str, Any], ...]:
    """``/workspace/a.py:1-3, 7; /workspace/b.sh:2`` to one citation for each file."""
    if one := _ONE.fullmatch(inside):  # nearly all are of this form, and it is several times faster
        return ({"path": repository_path(one[1]), "ranges": (_lines(one[2], one[3]),)},)
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
            found[current].append(_lines(match[1], match[2]))
    return tuple({"path": path, "ranges": tuple(ranges)} for path, ranges in found.items())


def _lines(first: str, last: str | None) -> tuple[int, int]:
    return int(first), max(int(first), int(last or first))
