"""``response.json`` in all the shapes that agents write.

Fenced, with text around it, not UTF-8, the design as a string, a list or an object: what can be read is
read, what cannot is a named problem. The raw bytes are kept by the caller.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from expbench.schema import RESPONSE_NAME

TEXT_CAP = 200_000
"""Characters kept of a design or conclusion."""

_TRIES = 1000
_WORK_CAP = 20_000_000
"""Places tried, and characters parsed in vain, before the search for an object is given up."""


@dataclass(frozen=True)
class Response:
    """Design and conclusion as text, or ``None`` with the reason in ``problems``."""

    design: str | None
    conclusion: str | None
    problems: tuple[str, ...] = ()


def parse_response(raw: bytes | None) -> Response:
    """Read the deliverable; never raises."""
    if raw is None:
        return Response(None, None, (f"no {RESPONSE_NAME}",))
    text = _decode(raw)
    found = _first_object(text)
    if found is None:
        return Response(None, None, (f"{RESPONSE_NAME} holds no JSON object",))
    design, conclusion = _field(found, "design"), _field(found, "conclusion")
    problems = [
        f"{RESPONSE_NAME} has no {name}"
        for name, value in (("design", design), ("conclusion", conclusion))
        if value is None
    ]
    return Response(design, conclusion, tuple(problems))


def _decode(raw: bytes) -> str:
    for encoding in (
        ("utf-8-sig", "utf-16") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",)
    ):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


def _first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object that has one of the two fields, or else the first one at all."""
    decoder = json.JSONDecoder(strict=False)
    first: dict[str, Any] | None = None
    start = text.find("{")
    work = 0
    for _ in range(_TRIES):
        if start < 0 or work > _WORK_CAP:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            stopped = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            work += stopped - start
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            if (holder := _holder(value)) is not None:
                return holder
            first = first or value
        start = text.find("{", end)
    return first


def _holder(value: Any, depth: int = 0) -> dict[str, Any] | None:
    """The outermost object in ``value`` that has one of the two fields; agents wrap answers."""
    if not isinstance(value, dict) or depth > 5:
        return None
    if any(name.lower() in ("design", "conclusion") for name in value):
        return value
    inner = (_holder(part, depth + 1) for part in value.values())
    return next((found for found in inner if found is not None), None)


def _field(found: dict[str, Any], name: str) -> str | None:
    for key, value in found.items():
        if key.lower() == name and value not in (None, "", [], {}):
            # Lone surrogates, which JSON can escape, fit into no file.
            text = _text(value)[:TEXT_CAP].encode("utf-8", "backslashreplace").decode()
            return text.strip() or None
    return None


def _text(value: Any, depth: int = 0) -> str:
    if depth > 20:
        return "…"
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text(part, depth + 1)}" for key, part in value.items())
    if isinstance(value, list):
        return "\n".join(_text(part, depth + 1) for part in value)
    return value if isinstance(value, str) else json.dumps(value)
