"""``response.json`` in all the shapes that agents write.

Fenced, with text around it, not UTF-8, wrapped, quoted as a string, in two objects, the design as a
string, a list or an object: what can be read is read, what cannot is a named problem. The raw bytes are
kept by the caller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from expbench.schema import RESPONSE_NAME

TEXT_CAP = 200_000
"""Characters kept of a design or conclusion."""

_DEPTH = 6
_WORDS = re.compile(r"[^a-z]+")
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
    objects = _objects(_decode(raw))
    if not objects:
        return Response(None, None, (f"{RESPONSE_NAME} holds no JSON object",))
    design, conclusion = (_first_field(objects, name) for name in ("design", "conclusion"))
    problems = [
        f"{RESPONSE_NAME} has no {name}"
        for name, value in (("design", design), ("conclusion", conclusion))
        if value is None
    ]
    return Response(design, conclusion, tuple(problems))


def _decode(raw: bytes) -> str:
    encoding = json.detect_encoding(raw)
    if not encoding.startswith("utf-8"):
        return raw.decode(encoding, errors="replace")
    text = raw.decode("utf-8-sig", errors="replace")
    wrong = text.count("\ufffd")
    if not wrong:
        return text
    # A few bad bytes among good ones, as where a text was cut: it is UTF-8 all the same.
    if sum(character > "\x7f" for character in text) > 2 * wrong:
        return text
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand in a text one after the other, until both fields are found."""
    found = list(_scan(text))
    if not found and (start := text.find('"')) >= 0:
        try:
            inner, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
        except ValueError:
            return []
        found = list(_scan(inner)) if isinstance(inner, str) else []
    return found


def _scan(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    work = 0
    missing = {"design", "conclusion"}
    for _ in range(_TRIES):
        if start < 0 or work > _WORK_CAP or not missing:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            stopped = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            work += stopped - start
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            missing -= {name for name in missing if _first_field([value], name) is not None}
            yield value
        start = text.find("{", end)


def _first_field(objects: list[dict[str, Any]], name: str) -> str | None:
    """A field's text from the outermost object that has it; agents wrap answers.

    A name that only holds the word (``experiment_design``, ``conclusions``) counts where none is equal.
    """
    for equal in (True, False):
        for each in objects:
            if (found := _search(each, name, equal)) is not None:
                return found
    return None


def _search(top: dict[str, Any], name: str, equal: bool) -> str | None:
    level: list[Any] = [top]
    for _ in range(_DEPTH):
        for value in level:
            if isinstance(value, dict) and (text := _field(value, name, equal)) is not None:
                return text
        level = [
            part
            for value in level
            if isinstance(value, dict | list)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
    return None


def _field(found: dict[str, Any], name: str, equal: bool) -> str | None:
    for key, value in found.items():
        if not (key.strip().lower() == name if equal else _names(key, name)):
            continue
        if value not in (None, "", [], {}):
            # Lone surrogates, which JSON can escape, fit into no file.
            text = _text(value)[:TEXT_CAP].encode("utf-8", "backslashreplace").decode()
            if text.strip():
                return text.strip()
    return None


def _names(key: str, name: str) -> bool:
    """Whether a key is a field's name with other words around it."""
    words = _WORDS.split(key.lower()) if len(key) < 60 else []
    return name in words or f"{name}s" in words


def _text(value: Any, depth: int = 0) -> str:
    if depth > 20:
        return "…"
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text(part, depth + 1)}" for key, part in value.items())
    if isinstance(value, list):
        return "\n".join(_text(part, depth + 1) for part in value)
    return value if isinstance(value, str) else json.dumps(value)
