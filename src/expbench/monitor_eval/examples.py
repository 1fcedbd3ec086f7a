"""Labelled trajectories: their format, how they are read, and the set that is shipped.

One example is a line of JSON. The published schema is ``set.schema.json``; reading is more lenient than
it, so that users' own sets need little work: labels may be objects with a ``kind`` or the word ``clean``,
and unknown fields are skipped with a warning.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from expbench.dataset import load_suite
from expbench.errors import DataError
from expbench.schema import Record, Repository, ResearchTask, SubmissionText, ViolationKind

SCHEMA_NAME = "set.schema.json"
SPLITS = ("dev", "test")
CLEAN = frozenset({"clean", "honest"})
"""Words that stand for no label."""

KINDS: tuple[ViolationKind, ...] = get_args(ViolationKind)

_HERE = resources.files("expbench.monitor_eval")


class _Open(BaseModel):
    """A part of a message: what it does not name is kept, since tools of others add fields."""

    model_config = ConfigDict(extra="allow", frozen=True)


class ToolFunction(_Open):
    """The tool and its arguments, as JSON."""

    name: str
    arguments: str | dict[str, Any] = ""


class ToolCall(_Open):
    id: str = ""
    function: ToolFunction


class Message(_Open):
    """A chat message as model interfaces have it. A tool's answer names its call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[Any] | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tool_call_id: str | None = None


class TaskLine(Record):
    """A task that no suite has; of its repository only the address counts."""

    id: str
    question: str = ""
    method: str = ""
    title: str = ""
    instructions: str = ""
    repository: str = ""
    masked: tuple[str, ...] = ()

    def research_task(self) -> ResearchTask:
        """The task as the monitor takes it, without a reference."""
        return ResearchTask(
            id=self.id,
            paper=self.id.rpartition("/")[0] or self.id,
            venue=self.id.partition("/")[0],
            title=self.title,
            category="",
            type=1,
            repository=Repository(url=self.repository),
            question=self.question,
            method=self.method,
            instructions=self.instructions,
            mask=self.masked,
        )


class Example(Record):
    """One trajectory with what was handed in, and what it is.

    ``labels`` are the classes of violations in it, none for an honest one. A finding of an ``allowed``
    class counts neither as right nor as wrong. ``shipped`` are the documents and results that the
    workspace had, by path; where it is left out and the task is of suite ``mini``, those of the task.
    """

    id: str
    task: str | TaskLine
    messages: tuple[Message, ...]
    design: str = ""
    conclusion: str = ""
    patch: str = ""
    script: str = ""
    shipped: dict[str, str] | None = None
    labels: tuple[ViolationKind, ...]
    allowed: tuple[ViolationKind, ...] = ()
    kind: str = ""
    disguise: str = ""
    note: str = ""
    split: str = ""

    @field_validator("labels", mode="before")
    @classmethod
    def _read_labels(cls, value: object) -> object:
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list | tuple):
            names = [v.get("kind") if isinstance(v, Mapping) else v for v in value]
            return tuple(dict.fromkeys(name for name in names if name not in CLEAN))
        return value

    @field_validator("id", mode="before")
    @classmethod
    def _number_as_id(cls, value: object) -> object:
        return str(value) if isinstance(value, int) else value

    @property
    def honest(self) -> bool:
        return not self.labels

    @property
    def cluster(self) -> str:
        """What examples are not independent draws of: the scenario, else the task."""
        return self.kind or (self.task if isinstance(self.task, str) else self.task.id)

    def research_task(self) -> ResearchTask:
        """The task. Raises NotFoundError, when it is named and suite ``mini`` has it not."""
        if isinstance(self.task, TaskLine):
            return self.task.research_task()
        return load_suite("mini").task(self.task)

    def submission(self) -> SubmissionText:
        """What was handed in, as the monitor reads it."""
        return SubmissionText(
            design=self.design, conclusion=self.conclusion, diff=self.patch, script=self.script
        )

    def chat(self) -> list[dict[str, Any]]:
        """The messages as plain objects."""
        return [message.model_dump(mode="json", exclude_none=True) for message in self.messages]

    def line(self) -> str:
        """The example as one line of JSON, without what is empty."""
        given = self.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        given |= {"labels": list(self.labels)}
        return json.dumps(given, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class ExampleSet:
    """Examples with the set's name, a digest of them and what was skipped in reading them."""

    name: str
    examples: tuple[Example, ...]
    warnings: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        lines = "".join(each.line() for each in self.examples)
        return hashlib.sha256(lines.encode()).hexdigest()[:16]


def arguments(given: Mapping[str, str]) -> str:
    """Arguments of a call, as models write them."""
    return json.dumps(dict(given), ensure_ascii=False)


def split_of(kind: str, disguise: str) -> str:
    """The half that a scenario belongs to, by hash: variants of one are never in both."""
    return SPLITS[hashlib.sha256(f"{kind}/{disguise}".encode()).digest()[0] % 2]


def shipped_set() -> ExampleSet:
    """The set of this package."""
    files = [p for p in (_HERE / "data").iterdir() if p.name.endswith(".jsonl")]
    found: list[Example] = []
    for file in sorted(files, key=lambda each: each.name):
        found += _parse(file.read_text("utf-8").splitlines(), file.name)[0]
    return ExampleSet("expbench", tuple(found))


def load_set(path: Path) -> ExampleSet:
    """A user's own set.

    Raises:
        DataError: it cannot be read, has no example, has an id twice, or a line is wrong; file, line and
            field are named.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DataError(f"The set {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DataError(
            f"The set {path} is not UTF-8 text: save it as JSON lines in UTF-8."
        ) from None
    examples, skipped = _parse(text.splitlines(), str(path))
    if not examples:
        raise DataError(f"The set {path} has no example: give one JSON object a line.")
    warnings = tuple(f"{path}: the field {name!r} is not known and was skipped" for name in skipped)
    return ExampleSet(path.name, tuple(examples), warnings)


def schema_text() -> str:
    """The JSON Schema of a line."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema"
    } | Example.model_json_schema()
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def _parse(lines: Iterable[str], name: str) -> tuple[list[Example], list[str]]:
    examples: list[Example] = []
    skipped: dict[str, None] = {}
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        example, unknown = _read(line, f"{name}, line {number}")
        if example.id in seen:
            raise DataError(
                f"{name}, line {number}: the id {example.id!r} is already that of line {seen[example.id]}; "
                "give each example its own."
            )
        seen[example.id] = number
        examples.append(example)
        skipped |= dict.fromkeys(unknown)
    return examples, list(skipped)


def _read(line: str, place: str) -> tuple[Example, list[str]]:
    """One example and the names of its unknown fields."""
    try:
        given = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place}: no valid JSON ({error}).") from None
    if not isinstance(given, dict):
        raise DataError(f"{place}: this is no JSON object with the fields of an example.")
    known = {key: value for key, value in given.items() if key in Example.model_fields}
    try:
        return Example.model_validate(known), [key for key in given if key not in known]
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        wanted = (
            f" Known labels are {', '.join(KINDS)} and clean." if field.startswith("labels") else ""
        )
        raise DataError(f"{place}: {field or 'the example'}: {first['msg']}.{wanted}") from None
