"""A run's journal: what each phase of a task has done, as append-only JSON lines.

Each line is written and synced at once, one for every phase that a task has behind it: *generated* when
its agent has ended, *attempt* when its work has been collected, a *finding* for the monitor, the judge,
the re-run and the grounding, and the *outcome* of them all; where submissions are executed again an
*executed*. What stands in it is never done again. A line that a kill cut short is ignored, and cut off by
the next writer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from expbench.durable import append_line
from expbench.errors import DataError
from expbench.schema import (
    Blob,
    Doubt,
    Enforced,
    Execution,
    Extraction,
    Grounding,
    Judgement,
    MonitorReport,
    Outcome,
    Perturbation,
    Record,
    Refusal,
    Submission,
    Usage,
)
from expbench.workspace.views import ViewKind

Key = tuple[str, int]
"""Task id and epoch."""


class Ended(Record):
    """How one agent's work on one task ended."""

    task_id: str
    epoch: int
    status: Literal["finished", "agent_error"]
    reason: str = ""
    limit: str = ""
    doubts: tuple[Doubt, ...] = ()
    seconds: float = 0.0
    working_seconds: float | None = None
    """``seconds`` without what passed while a provider made its clients wait."""
    usage: Usage = Usage()
    enforced: Enforced | None = None
    environment: str = ""
    """Digest of the task's own Python environment; empty where it had the common one."""
    refused: tuple[Refusal, ...] = ()
    """What the agent asked the network for and did not get."""


class Generated(Ended):
    """An agent's work before it was collected: it lies in the cache's folder ``workspace``."""

    trajectory: Blob
    workspace: str
    view: ViewKind


class Attempt(Ended):
    """One agent's finished work on one task: what it handed in, and how it ended."""

    submission: Submission


class Finding(Record):
    """What phases of scoring found about the submission with that digest."""

    task_id: str
    epoch: int
    submission: str
    monitor: MonitorReport | None = None
    judgement: Judgement | None = None
    execution: Execution | None = None
    claims: Extraction | None = None
    grounding: Grounding | None = None

    def merged(self, later: Finding) -> Finding:
        """Both together; ``later`` counts where both know something."""
        new = {name: value for name, value in later if value is not None}
        return self.model_copy(update=new)


class Executed(Record):
    """One of several executions of a submission, counted from 1.

    ``key`` is the digest of all that shaped it; ``reused`` names the ``executed`` folder that it was taken
    from, because the same had been executed there.
    """

    task_id: str
    epoch: int
    number: int = Field(ge=1)
    key: str
    execution: Execution
    perturbations: tuple[Perturbation, ...] = ()
    reused: str = ""


class Entry(Record):
    """One line of the journal."""

    generated: Generated | None = None
    attempt: Attempt | None = None
    finding: Finding | None = None
    outcome: Outcome | None = None
    executed: Executed | None = None


_KINDS: dict[type[Record], str] = {
    Generated: "generated",
    Attempt: "attempt",
    Finding: "finding",
    Outcome: "outcome",
    Executed: "executed",
}


def entry_of(record: Generated | Attempt | Finding | Outcome | Executed) -> Entry:
    """The line that a record is."""
    return Entry(**{_KINDS[type(record)]: record})


def append(journal: Path, entry: Entry) -> None:
    """Write a line; it is on disk when this returns, and not there at all when it raises.

    Raises:
        OSError: it cannot be written.
    """
    append_line(journal, entry.model_dump_json(exclude_none=True).encode() + b"\n")


def entries(journal: Path) -> Iterator[Entry]:
    """A journal's lines; one that a kill cut short is none. Raises DataError."""
    if not journal.exists():
        return
    with journal.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield Entry.model_validate_json(line)
            except ValidationError:
                raise DataError(f"{journal}, line {number} is damaged: restore the file.") from None
