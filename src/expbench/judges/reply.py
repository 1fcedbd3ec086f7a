"""Reading a model's reply, strictly.

A verdict is one JSON object of one shape or it is nothing. No text is ever searched for something
that looks like a grade: lenient readings turn small models' chatter into wrong scores. The single
freedom is one code fence around the object, since models without structured output add it.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

_FENCES = ("```", "```json")


class Reply(BaseModel):
    """What a model answers about one item."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: Literal["met", "not_met"]
    evidence: str
    reason: str
    alternative: bool


def parse(text: str) -> Reply | None:
    """The reply in ``text``, or ``None`` when it is anything but exactly one well-formed object."""
    try:
        return Reply.model_validate(
            json.loads(_unfenced(text.strip()), object_pairs_hook=_without_duplicates)
        )
    except (ValueError, ValidationError, RecursionError):
        return None


def _unfenced(text: str) -> str:
    first, newline, rest = text.partition("\n")
    if newline and first.rstrip() in _FENCES and rest.endswith("\n```"):
        return rest.removesuffix("\n```")
    return text


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
