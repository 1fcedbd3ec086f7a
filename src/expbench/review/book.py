"""One reviewer's decisions, kept as they are made: nothing is lost to a crash, another tab or another server.

Every decision is on disk before it is answered. It names the last decision on its field that its maker had
seen; where there is a newer one by now it is refused, and whoever made it is shown that one. The file is
locked while it is written, so that two servers for one reviewer count on together.
"""

from __future__ import annotations

import fcntl
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from expbench.construct.decisions import FOLDER, parse_decisions
from expbench.construct.records import Decision
from expbench.durable import append_line, cut_torn_line
from expbench.errors import PrerequisiteError, UserError
from expbench.schema import Record

_NAME = re.compile(r"[^\W_][\w.-]{0,59}")
_LONGEST = 20_000
"""Characters of a reason."""


class Asked(Record):
    """A decision as a page sends it; ``last`` is the newest on the field that the page knows, 0 for none."""

    draft: str
    field: str
    kind: Literal["accept", "fix", "reject", "undo", "label"]
    value: Any = None
    reason: str = Field(default="", max_length=_LONGEST)
    seconds: float = Field(default=0.0, ge=0.0, le=86_400.0, allow_inf_nan=False)
    tab: str = Field(default="", max_length=64)
    last: int = Field(ge=0)
    of: str


class StaleError(Exception):
    """There is a newer decision on the field than its maker had seen."""

    def __init__(self, newest: Decision) -> None:
        super().__init__("another tab or server has decided on this field since")
        self.newest = newest


class Book:
    """The decisions of one reviewer of a project or run."""

    def __init__(self, root: Path, reviewer: str) -> None:
        """Open it, and mend a line that a kill cut short.

        Raises:
            UserError: the name cannot be that of a file.
            PrerequisiteError: the folder cannot be written.
            DataError: what was decided before is damaged.
        """
        if not _NAME.fullmatch(reviewer):
            raise UserError(
                f"--reviewer {reviewer!r} cannot name a file: use letters, digits, dots and dashes."
            )
        self.reviewer = reviewer
        self.path = root / FOLDER / f"{reviewer}.jsonl"
        self._made: list[Decision] = []
        self._read = 0
        self._thread = threading.Lock()
        try:
            self.path.parent.mkdir(exist_ok=True)
            self.path.touch()
        except OSError as error:
            raise PrerequisiteError(
                f"{self.path} cannot be written ({error.strerror}): make its folder writable."
            ) from None
        with self._held():
            self._refresh()

    def all(self) -> tuple[Decision, ...]:
        """Everything so far, by other servers too. Raises DataError."""
        with self._thread:
            self._refresh()
            return tuple(self._made)

    def add(self, asked: Asked, seen: bool = False) -> Decision:
        """Keep a decision; it is on disk when this returns.

        What was sent twice, since its answer got lost, is kept once.

        Args:
            seen: whether the judge's own verdict is shown in any case.

        Raises:
            StaleError: there is a newer one on its field.
            OSError: it cannot be written.
            DataError: what was decided before is damaged.
        """
        with self._held():
            self._refresh()
            before = [d for d in self._made if (d.draft, d.field) == (asked.draft, asked.field)]
            newest = before[-1] if before else None
            if newest is not None and newest.number > asked.last:
                if _same(newest, asked):
                    return newest
                raise StaleError(newest)
            made = Decision(
                **asked.model_dump(exclude={"last"}),
                at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                number=len(self._made) + 1,
                seen=seen or any(d.kind == "label" for d in before),
            )
            append_line(self.path, made.model_dump_json().encode() + b"\n")
            self._refresh()
            return made

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The file for this thread alone, its last line whole."""
        with self._thread, self.path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            cut_torn_line(self.path)
            yield

    def _refresh(self) -> None:
        """Read what was written since; a line that is being written is none yet."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._made += parse_decisions(whole, self.path, len(self._made))
        self._read += len(whole)


def _same(newest: Decision, asked: Asked) -> bool:
    """Whether it is the very one, sent again; times differ."""
    given = asked.model_dump(exclude={"last", "seconds"})
    return bool(asked.tab) and all(getattr(newest, name) == given[name] for name in given)
