"""The format of a labelled set: JSON lines, one submission with its labelled items in each.

:func:`schema_text` is the published JSON Schema. Reading is more lenient than the schema: labels may be
written in other ways, a missing deliverable is an empty one, and unknown fields are ignored (the
loader counts them).
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from expbench.schema import Phase

Label = Literal["met", "not_met"]
SCHEMA_NAME = "set.schema.json"

_LABELS: dict[str, Label] = {
    **dict.fromkeys(("met", "true", "1", "1.0", "yes", "y", "pass", "passed"), "met"),
    **dict.fromkeys(
        ("not met", "unmet", "false", "0", "0.0", "no", "n", "fail", "failed"), "not_met"
    ),
}
_PHASES = {"setup": "implementation", "code": "implementation"}


def label_of(value: object) -> object:
    """The label that a person's way of writing it means; what means none comes back as it is."""
    text = " ".join(str(value).lower().replace("_", " ").replace("-", " ").split())
    return _LABELS.get(text, value)


def phase_of(value: object) -> object:
    """A phase's name; the release calls the implementation "setup"."""
    if not isinstance(value, str):
        return value
    name = value.strip().lower()
    return _PHASES.get(name, name)


def _text(value: object) -> object:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class LabelledItem(_Lenient):
    """One thing to decide about the submission, and the right decision.

    ``kind`` names the variant (``dropped``, ``value_flipped``, …) and is never shown to a judge;
    ``rubric_kind`` is the kind of ground truth, which is shown. ``id`` is for the user's own tables.
    """

    phase: Annotated[Phase, BeforeValidator(phase_of)]
    text: str = Field(pattern=r"\S")
    label: Annotated[Label | None, BeforeValidator(label_of)] = None
    kind: Text = ""
    id: Text = ""
    rubric_kind: Text = ""
    code: Text = ""
    """The authors' code for it."""
    essential: bool = True
    """For claims: whether the conclusion is wrong without it."""


class InlineTask(_Lenient):
    """A task that is in no suite: what a judge is told of it."""

    id: str = Field(pattern=r"\S")
    paper: Text = ""
    question: Text = ""
    method: Text = ""
    type: Literal[1, 2, 3] = 1
    masked: tuple[str, ...] = ()
    """Files that the agent was not given."""
    files: tuple[str, ...] = ()
    """Files of the workspace before the agent's work."""


class Case(_Lenient):
    """One submission with labelled items. ``paper`` is what intervals are clustered by.

    ``task`` is a task's id or a whole task; ``patch`` is a unified diff of the agent's work.
    """

    id: Text = ""
    task: str | InlineTask
    paper: Text = ""
    design: Text = ""
    conclusion: Text = ""
    patch: Text = ""
    script: Text = ""
    items: tuple[LabelledItem, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, value: Any) -> Any:
        """Accept ``"task": {"inline": {…}}`` too."""
        if isinstance(value, dict) and isinstance(task := value.get("task"), dict):
            inline = task.get("inline")
            if isinstance(inline, dict):
                return {**value, "task": inline}
        return value


def unknown_fields(raw: dict[str, Any]) -> set[str]:
    """The fields of a line that the format does not have."""
    found = raw.keys() - Case.model_fields.keys()
    for item in raw.get("items") or ():
        if isinstance(item, dict):
            found |= {f"items.{name}" for name in item.keys() - LabelledItem.model_fields.keys()}
    if isinstance(task := raw.get("task"), dict):
        inner = task.get("inline", task)
        if isinstance(inner, dict):
            found |= {f"task.{name}" for name in inner.keys() - InlineTask.model_fields.keys()}
    return found


def schema_text() -> str:
    """The JSON Schema of one line, as it is published."""
    schema = Case.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
