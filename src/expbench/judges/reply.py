"""Reading a model's reply, strictly.

A verdict is one JSON object of one shape or it is nothing. No text is ever searched for something
that looks like a grade: lenient readings turn small models' chatter into wrong scores. The single
freedom is one code fence around the JSON, since models without structured output add it.

Where several items were asked at once the reply is a list of such objects, each with its item's id;
an object that is not right says nothing about the others. Where files may be asked for, a reply may be
an object that names them instead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_FENCES = ("```", "```json")
_Shape = TypeVar("_Shape", bound=BaseModel)
MOST_FILES = 8
"""Files that one request may name."""


class Reply(BaseModel):
    """What a model answers about one item."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: Literal["met", "not_met"]
    evidence: str
    reason: str
    alternative: bool


class _ItemReply(Reply):
    """What it answers about one of several."""

    item: str


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    files: list[Annotated[str, Field(min_length=1, max_length=1_000)]] = Field(
        min_length=1, max_length=MOST_FILES
    )


def parse(text: str) -> Reply | None:
    """The reply in ``text``, or ``None`` when it is anything but exactly one well-formed object."""
    return parse_as(Reply, text)


def parse_as(shape: type[_Shape], text: str) -> _Shape | None:
    """The object of another ``shape`` in ``text``, as strictly."""
    try:
        return shape.model_validate(_json(text))
    except (ValueError, ValidationError, RecursionError):
        return None


def parse_request(text: str) -> tuple[str, ...] | None:
    """The files that ``text`` asks for, or ``None`` when it is no well-formed request."""
    request = parse_as(_Request, text)
    return None if request is None else tuple(request.files)


def parse_list(text: str, ids: Collection[str]) -> dict[str, Reply]:
    """The well-formed replies in a list, by item; without those that answer an item twice."""
    try:
        elements = _json(text)
    except (ValueError, RecursionError):
        return {}
    objects = (
        [each for each in elements if isinstance(each, dict)] if isinstance(elements, list) else []
    )
    times = Counter(str(each.get("item")) for each in objects)
    found: dict[str, Reply] = {}
    for each in objects:
        try:
            reply = _ItemReply.model_validate(each)
        except ValidationError:
            continue
        if reply.item in ids and times[reply.item] == 1:
            found[reply.item] = reply
    return found


def _json(text: str) -> object:
    return json.loads(_unfenced(text.strip()), object_pairs_hook=_without_duplicates)


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
