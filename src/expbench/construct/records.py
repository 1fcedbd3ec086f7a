"""What a construction project holds: drafts of tasks, each field with the places that it rests on.

A project is a folder::

    project.json                the paper, the repository, when it was begun
    journal.jsonl               every event: stages, model calls with their cost, a person's minutes
    paper/paper.pdf             and paper/document.json, paper/pages/*.png, paper/crops/*.png
    repo/                       the repository at its commit
    drafts/ID.json              one :class:`Draft` for each task
    traces/ID.json              its :class:`~expbench.tracer.graph.Trace`
    reviews/NAME.jsonl          one reviewer's decisions, only ever appended to
    out/                        task files and stage files
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from expbench.papers.document import Passage
from expbench.schema import Record
from expbench.tracer.graph import Span

Stage = Literal["new", "read", "extract", "locate", "trace", "write", "verify", "review"]
STAGES: tuple[Stage, ...] = (
    "new",
    "read",
    "extract",
    "locate",
    "trace",
    "write",
    "verify",
    "review",
)


class DraftField(Record):
    """One field of a task with its evidence: passages of the paper, lines of the repository.

    ``value`` is what the task file holds: text, a list of texts, or design variables.
    """

    value: Any
    passages: tuple[Passage, ...] = ()
    spans: tuple[Span, ...] = ()
    stage: Stage


class Draft(Record):
    """A task that is being made.

    ``fields`` are by the task file's names: ``question``, ``method``, ``expected_outcome``,
    ``design_complexity``, ``source``, ``usage_instructions``, ``agent_instructions``,
    ``masked_source``; and of what is a list of separate statements one field each, in order:
    ``requirements/0``, ``requirements/1`` …, ``claims/0`` …; and ``commands``, the shell commands that run
    the authors' programs from the repository's root, which no task file has. ``no_answer`` says why no
    program of the repository answers the question; ``refused`` why the task is not to be had, and empties
    nothing. ``back`` is the stage that it was sent back to, and ``why`` the reason, until that is done.
    """

    id: str
    fields: dict[str, DraftField]
    no_answer: str = ""
    refused: str = ""
    rounds: int = 0
    """How often it went back to an earlier stage."""
    back: Stage | Literal[""] = ""
    why: str = ""
    verified: bool = False
    accepted: tuple[str, ...] = ()
    """Fields that reviewers accepted as they are now, fixed ones too."""
    rejected: dict[str, str] = Field(default_factory=dict)
    """Fields that a reviewer rejected, with the reason."""


class Decision(Record):
    """A reviewer's word on one field; a later one on the same field replaces it.

    ``value`` is the field's new value where it was fixed, or the label; ``seconds`` the time spent on the
    task since the last decision; ``kind`` ``undo`` takes the last decision on the field back, and
    ``label`` is a word on what a judge or the monitor said of an attempt.
    """

    draft: str
    field: str
    kind: Literal["accept", "fix", "reject", "undo", "label"]
    value: Any = None
    reason: str = ""
    seconds: float = 0.0
    at: str
    """UTC, ISO 8601."""
    tab: str = ""
    number: int
    """Counts the reviewer's decisions from 1."""
    of: str = ""
    """Digest of the value that was decided on; the decision says nothing about another one."""
    seen: bool = False
    """Whether the judge's own verdict had been shown before."""
