"""A run's folder: its manifest, and a journal that survives a kill at any moment.

What is in the journal (:mod:`expbench.journal`) is never done again. ``outcomes.jsonl`` is made from it,
in the planned order.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import Field, ValidationError

from expbench.durable import cut_torn_line
from expbench.errors import DataError, NotFoundError, PrerequisiteError, UserError
from expbench.journal import Attempt as Attempt
from expbench.journal import Entry as Entry
from expbench.journal import Executed as Executed
from expbench.journal import Finding as Finding
from expbench.journal import Generated as Generated
from expbench.journal import Key as Key
from expbench.journal import append, entries, entry_of
from expbench.paths import RunPaths
from expbench.redaction import without_secrets
from expbench.schema import (
    Hints,
    Judging,
    Limits,
    Outcome,
    Phase,
    Policy,
    Record,
    Reveal,
)
from expbench.shelf import Shelf
from expbench.workspace import BlobStore

_LOCK_PATIENCE = 0.5
"""Seconds; who asks whether a run is held has its lock for less than a thousandth of it."""


class Manifest(Record):
    """What a run was asked to do, and with which versions: the first file of a run's folder."""

    format: Literal[2] = 2
    name: str
    created: str
    suite: str
    suite_version: str
    tasks: tuple[str, ...]
    epochs: int = Field(ge=1)
    agent: str
    model: str
    judging: Judging
    judged_only: tuple[Phase, ...] = ()
    """The phases that this judging of another run's submissions is about; empty for all of them."""
    repeat: int = Field(default=0, ge=0)
    """How often each submission of another run is executed again; 0 where that is not done."""
    hints: Hints = "full"
    reveal: Reveal = "instructions"
    dollars: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """What all calls of models of this run may cost together, the judge's and the monitor's too."""
    call_seconds: float = Field(default=900.0, ge=1.0)
    """After so long a request without an answer is given up; judges have a deadline of their own."""
    monitor_model: str = ""
    """The model that reads trajectories beside the monitor's rules, if any."""
    claims_model: str = ""
    """The model that takes claims from conclusions beside the rules, if any."""
    sandbox: str
    image: str = ""
    policy: Policy
    allow_unenforced: bool = False
    """Whether limits that the sandbox does not hold were accepted."""
    data_version: str = ""
    """Digest of the task files as they were released."""
    errata: str = ""
    """Version of the errata that were applied; ``none`` for the release as it is."""
    mask: Literal["paper", "strict"] = "strict"
    options: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def limits(self) -> Limits:
        return self.policy.limits

    @property
    def judge(self) -> str:
        """The judge and how it is asked, in one line."""
        return self.judging.label


@dataclass
class Run:
    """One run, opened. Made by :func:`create` or :func:`load`."""

    paths: RunPaths
    manifest: Manifest
    generated: dict[Key, Generated] = field(default_factory=dict)
    """Work that is not collected yet."""
    attempts: dict[Key, Attempt] = field(default_factory=dict)
    findings: dict[Key, Finding] = field(default_factory=dict)
    """What is known of submissions without an outcome."""
    outcomes: MutableMapping[Key, Outcome] = field(default_factory=Shelf)
    executions: dict[Key, dict[int, Executed]] = field(default_factory=dict)
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
        return outcome is not None and settled(outcome)

    def found(self, key: Key) -> Finding:
        """What phases of scoring have found about a task's submission; one that failed has found nothing."""
        digest = self.attempts[key].submission.digest
        none = Finding(task_id=key[0], epoch=key[1], submission=digest)
        known = self.findings.get(key, none)
        outcome = self.outcomes.get(key)
        if outcome is not None and outcome.submission == digest:
            known = none.model_copy(update=_worked(outcome)).merged(known)
        return known if known.submission == digest else none

    def add(self, record: Generated | Attempt | Finding | Outcome | Executed) -> None:
        """Keep a record; it is on disk when this returns, and not at all when it raises.

        Raises:
            OSError: it cannot be written.
        """
        entry = entry_of(without_secrets(record))
        with self._write:
            append(self.paths.journal, entry)
            self._remember(entry)

    def _remember(self, entry: Entry) -> None:
        if (begun := entry.generated) is not None:
            self.generated[begun.task_id, begun.epoch] = begun
        if (attempt := entry.attempt) is not None:
            key = (attempt.task_id, attempt.epoch)
            self.attempts[key] = attempt
            self.generated.pop(key, None)
        if (found := entry.finding) is not None:
            key = (found.task_id, found.epoch)
            before = self.findings.get(key)
            same = before is not None and before.submission == found.submission
            self.findings[key] = before.merged(found) if before and same else found
        if (outcome := entry.outcome) is not None:
            key = (outcome.task_id, outcome.epoch)
            self.outcomes[key] = outcome
            if outcome.scores:
                self.findings.pop(key, None)
        if (done := entry.executed) is not None:
            self.executions.setdefault((done.task_id, done.epoch), {})[done.number] = done

    def ordered(self) -> tuple[Outcome, ...]:
        """One outcome for every planned task and epoch; what was never reached is ``missing``."""
        return tuple(self._each())

    def _each(self) -> Iterator[Outcome]:
        """Those outcomes one by one: as objects they are large."""
        return (self.outcomes.get(key) or self._missing(key) for key in self.planned)

    def write_outcomes(self) -> None:
        """Write ``outcomes.jsonl`` anew, in the planned order."""
        lines = "".join(outcome.model_dump_json() + "\n" for outcome in self._each())
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


def settled(outcome: Outcome) -> bool:
    """Whether an outcome says what there is to say: no part of it failed for want of infrastructure."""
    if outcome.status not in ("finished", "agent_error"):
        return False
    if outcome.judgement is not None and outcome.judgement.unanswered:
        return False
    if outcome.claims is not None and outcome.claims.reason:
        return False
    return outcome.execution is None or outcome.execution.state != "infrastructure"


def _worked(outcome: Outcome) -> dict[str, Record | None]:
    """What the phases found that did not fail."""
    found: dict[str, Record | None] = {"monitor": outcome.monitor}
    if outcome.judgement is not None and not outcome.judgement.unanswered:
        found["judgement"] = outcome.judgement
    if outcome.execution is not None and outcome.execution.state != "infrastructure":
        found["execution"] = outcome.execution
    if outcome.claims is not None and not outcome.claims.reason:
        found["claims"] = outcome.claims
    return found


def create(root: Path, manifest: Manifest) -> Run:
    """Make a new run's folder.

    Raises:
        UserError: the folder holds something already.
        PrerequisiteError: it cannot be written.
    """
    paths = RunPaths(root)
    try:
        if root.exists() and (not root.is_dir() or set(root.iterdir()) - {_new(paths.manifest)}):
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


def read_manifest(root: Path) -> Manifest:
    """The manifest of the run in a folder.

    Raises:
        NotFoundError: there is no run.
        DataError: it is damaged.
    """
    paths = RunPaths(root)
    try:
        return Manifest.model_validate_json(paths.manifest.read_bytes())
    except FileNotFoundError:
        raise NotFoundError(
            f"{root} holds no run: give a folder that `expbench run` made."
        ) from None
    except NotADirectoryError:
        raise NotFoundError(
            f"{root} is a file: give a run's folder, which `expbench runs unpack` makes of a packed run."
        ) from None
    except OSError as error:
        raise DataError(f"{paths.manifest} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise DataError(f"{paths.manifest} is damaged at {where or 'top'}.") from None


def load(root: Path) -> Run:
    """Open a run's folder.

    Raises:
        NotFoundError: there is no run.
        DataError: its files are not what they should be.
    """
    paths = RunPaths(root)
    run = Run(paths, read_manifest(root))
    if paths.base != paths.root:
        for entry in entries(RunPaths(paths.base).journal):
            if entry.attempt:
                run._remember(Entry(attempt=entry.attempt))
    for entry in entries(paths.journal):
        run._remember(entry)
    return run


@contextmanager
def locked(run: Run) -> Iterator[None]:
    """Hold the run for this process, and mend a journal that a kill cut short.

    Raises:
        UserError: another process works on it.
    """
    with _lock_of(run.paths) as lock:
        try:
            cut_torn_line(run.paths.journal)
            yield
        finally:
            # While it is held: whoever waits for this very file sees that it is not the lock any more.
            run.paths.lock.unlink(missing_ok=True)
            lock.close()


def held(paths: RunPaths) -> bool:
    """Whether a process works on a run."""
    try:
        with paths.lock.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock_of(paths: RunPaths) -> BinaryIO:
    """The run's lock, held; who only asks (:func:`held`) has it for a moment. Raises UserError."""
    deadline = time.monotonic() + _LOCK_PATIENCE
    while True:
        lock = paths.lock.open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock.fileno()).st_nlink:
                return lock
        except OSError:
            if time.monotonic() > deadline:
                lock.close()
                raise UserError(
                    f"{paths.root} is being run by another process: wait for it."
                ) from None
            time.sleep(0.02)
        lock.close()


def write_atomically(path: Path, content: bytes, sync: bool = True) -> None:
    """Replace a file; a kill leaves the old one or the new one, and with ``sync`` a power cut too."""
    temporary = _new(path)
    with temporary.open("wb") as file:
        file.write(content)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    temporary.replace(path)


def _new(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")
