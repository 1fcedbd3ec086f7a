"""A draft as an entry of a task file, and as the task that everything else reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from expbench.construct.records import Draft, DraftField, Stage
from expbench.dataset.citations import repository_path
from expbench.dataset.release import Paper, task_of_entry
from expbench.dataset.taskfile import OWN_VENUE
from expbench.schema import Repository, ResearchTask

COMMANDS = "commands"
_LISTS = ("requirements", "claims")
_FIELDS = (
    "question",
    "method",
    "expected_outcome",
    "source",
    "usage_instructions",
    "requirements",
    "agent_instructions",
    "masked_source",
    "design_complexity",
    "claims",
)
"""The order in which the release has them."""


def workspace_path(path: str) -> str:
    """A file of the repository as task files name it."""
    return f"/workspace/{path}"


def value(draft: Draft, name: str, default: Any = "") -> Any:
    """A field's value."""
    found = draft.fields.get(name)
    return default if found is None else found.value


def listed(draft: Draft, name: str) -> Iterator[DraftField]:
    """The fields ``name/0``, ``name/1`` … in order."""
    number = 0
    while (found := draft.fields.get(f"{name}/{number}")) is not None:
        yield found
        number += 1


def entry_of(draft: Draft) -> dict[str, Any]:
    """The draft as an entry of ``questions``; a task without an answer has no fields of one."""
    entry: dict[str, Any] = {}
    for name in _FIELDS:
        if name in _LISTS:
            if values := [each.value for each in listed(draft, name)]:
                entry[name] = values
        elif name in draft.fields:
            entry[name] = draft.fields[name].value
    if draft.no_answer:
        entry["no_answer"] = draft.no_answer
    return entry


def paper_of(name: str, title: str, repository: Repository) -> Paper:
    """What a task's paper is known by."""
    return Paper(
        id=name,
        venue=OWN_VENUE,
        title=title,
        category="",
        url=repository.url,
        commit=repository.commit,
    )


def research_task(draft: Draft, paper: Paper, index: int = 0) -> ResearchTask:
    """The task that the draft would be now. Raises DataError."""
    entry = entry_of(draft)
    return task_of_entry({"masked_source": [], **entry}, paper, index)


def source_paths(draft: Draft) -> tuple[str, ...]:
    """The chain's files, relative to the repository's root."""
    return tuple(repository_path(path) for path in value(draft, "source", ()))


def without_stages(draft: Draft, stages: tuple[Stage, ...]) -> Draft:
    """The draft without what those stages made."""
    kept = {name: each for name, each in draft.fields.items() if each.stage not in stages}
    return draft.model_copy(update={"fields": kept, "verified": False, "no_answer": ""})


def with_fields(draft: Draft, fields: Mapping[str, DraftField], **changes: Any) -> Draft:
    """The draft with further fields, which are as a rule one stage's."""
    return draft.model_copy(update={"fields": {**draft.fields, **fields}, **changes})
