"""A construction project's journal: what was begun and ended, what models said, and what it cost.

Append-only JSON lines, each on disk when it is written. A stage's results lie in files of their own, which
are replaced whole; the journal is for money, time, and replies, so that a stage that was killed does not pay
for the same question twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from expbench.construct.records import Stage
from expbench.durable import append_line, cut_torn_line
from expbench.errors import DataError
from expbench.replies import KeptReply
from expbench.schema import Record, Usage

EventKind = Literal["begun", "ended", "reply", "sent_back"]


class Event(Record):
    """One line. ``seconds`` is how long what ended took; ``said`` is a reply's message as Inspect has it."""

    at: str
    stage: Stage
    kind: EventKind
    draft: str = ""
    model: str = ""
    key: str = ""
    text: str = ""
    said: dict[str, Any] | None = None
    usage: Usage | None = None
    seconds: float = 0.0


def now() -> str:
    """UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass
class Journal:
    """The journal of a project. Raises DataError for a file that is none."""

    path: Path
    events: list[Event] = field(default_factory=list)
    _replies: dict[str, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for event in read_events(self.path):
            self._take(event)

    def add(self, event: Event) -> None:
        """Append an event. Raises OSError."""
        append_line(self.path, event.model_dump_json(exclude_defaults=True).encode() + b"\n")
        self._take(event)

    def mend(self) -> None:
        """Cut off a last line that a kill cut short; only for who holds the project."""
        cut_torn_line(self.path)

    def reply(self, key: str) -> Event | None:
        """What was answered to the question with that digest."""
        return self._replies.get(key)

    def spent(self) -> Usage:
        """What all models of all stages have used."""
        return sum((each.usage for each in self.events if each.usage), Usage())

    def charged(self) -> float:
        """The dollars of all calls whose price is known."""
        return sum(each.usage.dollars or 0.0 for each in self.events if each.usage)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if event.kind == "reply":
            self._replies[event.key] = event


@dataclass
class StageMemory:
    """The journal as the memory of one stage's questions; ``dollars`` is the cap of the whole project."""

    journal: Journal
    stage: Stage
    draft: str = ""
    dollars: float | None = None

    def find(self, key: str) -> KeptReply | None:
        """The reply to what was asked before."""
        event = self.journal.reply(key)
        if event is None:
            return None
        usage = event.usage or Usage()
        return KeptReply(key=key, model=event.model, text=event.text, usage=usage)

    def keep(self, reply: KeptReply) -> None:
        """Append a reply. Raises OSError."""
        self.journal.add(
            Event(
                at=now(),
                stage=self.stage,
                kind="reply",
                draft=self.draft,
                model=reply.model,
                key=reply.key,
                text=reply.text,
                usage=reply.usage,
            )
        )

    def stop(self, used: Usage) -> str:
        """Whether the project's money is spent."""
        spent = self.journal.charged()
        if self.dollars is None or spent < self.dollars:
            return ""
        return f"the budget of {self.dollars:g} dollars is spent ({spent:.2f})"


def read_events(path: Path) -> Iterator[Event]:
    """A journal's lines; one that a kill cut short is none. Raises DataError."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield Event.model_validate_json(line)
            except ValidationError:
                raise DataError(f"{path}, line {number} is damaged: restore the file.") from None
