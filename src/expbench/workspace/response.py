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
    for encoding in ("utf-8-sig", "utf-16") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
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
    for _ in range(1000):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            if any(name.lower() in ("design", "conclusion") for name in value):
                return value
            first = first or value
        start = text.find("{", end)
    return first


def _field(found: dict[str, Any], name: str) -> str | None:
    for key, value in found.items():
        if key.lower() == name and value not in (None, "", [], {}):
            text = _text(value).strip()
            return text[:TEXT_CAP] or None
    return None


def _text(value: Any, depth: int = 0) -> str:
    if depth > 20:
        return str(value)[:TEXT_CAP]
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text(part, depth + 1)}" for key, part in value.items())
    if isinstance(value, list):
        return "\n".join(_text(part, depth + 1) for part in value)
    return value if isinstance(value, str) else json.dumps(value)
