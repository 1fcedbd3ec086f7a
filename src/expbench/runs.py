"""A run's folder: its manifest, and a journal that survives a kill at any moment.

The journal is append-only JSON lines, each written and synced at once: an *attempt* when an agent's
work has been collected, an *outcome* when it has been scored. A line that a kill cut short is ignored
and cut off by the next writer. ``outcomes.jsonl`` is made from the journal, in the planned order.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from expbench.errors import DataError, NotFoundError, PrerequisiteError, UserError
from expbench.paths import RunPaths
from expbench.schema import Enforced, Limits, Outcome, Record, Submission, Usage
from expbench.workspace import BlobStore

Key = tuple[str, int]
"""Task id and epoch."""


class Manifest(Record):
    """What a run was asked to do, and with which versions: the first file of a run's folder."""

    format: Literal[1] = 1
    name: str
    created: str
    suite: str
    suite_version: str
    tasks: tuple[str, ...]
    epochs: int = Field(ge=1)
    agent: str
    model: str
    judge: str
    sandbox: str
    limits: Limits
    data_version: str = ""
    """Digest of the task files as they were released."""
    errata: str = ""
    """Version of the errata that were applied; ``none`` for the release as it is."""
    mask: Literal["paper", "strict"] = "strict"
    options: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)


class Attempt(Record):
    """One agent's finished work on one task: what it handed in, and how it ended."""

    task_id: str
    epoch: int
    submission: Submission
    status: Literal["finished", "agent_error"]
    reason: str = ""
    limit: str = ""
    seconds: float = 0.0
    usage: Usage = Usage()
    enforced: Enforced | None = None


class Entry(Record):
    """One line of the journal."""

    attempt: Attempt | None = None
    outcome: Outcome | None = None


@dataclass
class Run:
    """One run, opened. Made by :func:`create` or :func:`load`."""

    paths: RunPaths
    manifest: Manifest
    attempts: dict[Key, Attempt] = field(default_factory=dict)
    outcomes: dict[Key, Outcome] = field(default_factory=dict)
    _write: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def store(self) -> BlobStore:
        return BlobStore(self.paths.store)

    @property
    def planned(self) -> tuple[Key, ...]:
        """Every task and epoch that the run is to have, in order."""
        epochs = range(1, self.manifest.epochs + 1)
        return tuple((task, epoch) for task in self.manifest.tasks for epoch in epochs)

    def final(self, key: Key) -> bool:
        """Whether a task is done for good: infrastructure failures are tried again (R43)."""
        outcome = self.outcomes.get(key)
        if outcome is None or outcome.status not in ("finished", "agent_error"):
            return False
        return outcome.execution is None or outcome.execution.state != "infrastructure"

    def add(self, record: Attempt | Outcome) -> None:
        """Keep a record; it is on disk when this returns."""
        key = (record.task_id, record.epoch)
        if isinstance(record, Attempt):
            entry = Entry(attempt=record)
            self.attempts[key] = record
        else:
            entry = Entry(outcome=record)
            self.outcomes[key] = record
        line = entry.model_dump_json(exclude_none=True).encode() + b"\n"
        with self._write, self.paths.journal.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def ordered(self) -> tuple[Outcome, ...]:
        """One outcome for every planned task and epoch; what was never reached is ``missing``."""
        return tuple(self.outcomes.get(key) or self._missing(key) for key in self.planned)

    def write_outcomes(self) -> None:
        """Write ``outcomes.jsonl`` anew, in the planned order."""
        lines = "".join(outcome.model_dump_json() + "\n" for outcome in self.ordered())
        write_atomically(self.paths.outcomes, lines.encode())

    def unfinished(
        self, key: Key, status: Literal["infrastructure", "missing"], why: str
    ) -> Outcome:
        """An outcome without scores."""
        task, epoch = key
        return Outcome(
            task_id=task,
            paper=task.rpartition("/")[0],
            epoch=epoch,
            agent=self.manifest.agent,
            model=self.manifest.model,
            status=status,
            reason=why,
        )

    def _missing(self, key: Key) -> Outcome:
        return self.unfinished(key, "missing", "the run ended before this task was done")


def create(root: Path, manifest: Manifest) -> Run:
    """Make a new run's folder.

    Raises:
        UserError: the folder holds something already.
        PrerequisiteError: it cannot be written.
    """
    paths = RunPaths(root)
    try:
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            hint = (
                f"continue it with `expbench resume {root}` or " if paths.manifest.exists() else ""
            )
            raise UserError(f"{root} is not empty: {hint}choose another folder with --out.")
        root.mkdir(parents=True, exist_ok=True)
        write_atomically(paths.manifest, manifest.model_dump_json(indent=1).encode() + b"\n")
    except OSError as error:
        raise PrerequisiteError(
            f"{root} cannot be written ({error.strerror}): choose another folder with --out."
        ) from None
    return Run(paths, manifest)


def load(root: Path) -> Run:
    """Open a run's folder.

    Raises:
        NotFoundError: there is no run.
        DataError: its files are not what they should be.
    """
    paths = RunPaths(root)
    try:
        manifest = Manifest.model_validate_json(paths.manifest.read_bytes())
    except FileNotFoundError:
        raise NotFoundError(
            f"{root} holds no run: give a folder that `expbench run` made."
        ) from None
    except OSError as error:
        raise DataError(f"{paths.manifest} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise DataError(f"{paths.manifest} is damaged at {where or 'top'}.") from None
    run = Run(paths, manifest)
    for entry in _entries(paths.journal):
        if entry.attempt:
            run.attempts[entry.attempt.task_id, entry.attempt.epoch] = entry.attempt
        if entry.outcome:
            run.outcomes[entry.outcome.task_id, entry.outcome.epoch] = entry.outcome
    return run


@contextmanager
def locked(run: Run) -> Iterator[None]:
    """Hold the run for this process, and mend a journal that a kill cut short.

    Raises:
        UserError: another process works on it.
    """
    with run.paths.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"{run.paths.root} is being run by another process: wait for it."
            ) from None
        _cut_torn_line(run.paths.journal)
        yield


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file; a kill leaves the old one or the new one."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _entries(journal: Path) -> Iterator[Entry]:
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


def _cut_torn_line(journal: Path) -> None:
    if not journal.exists():
        return
    content = journal.read_bytes()
    if content and not content.endswith(b"\n"):
        with journal.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)
