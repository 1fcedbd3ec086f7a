"""The environments that were made: found by digest, listed, and freed when nobody uses them.

::

    <cache>/envs/tasks/
    ├── DIGEST/
    │   ├── python/         what sandboxes see at the mount point
    │   ├── record.json     what was asked, and what is there    (EnvironmentRecord)
    │   └── tasks.json      the tasks that it was made for
    ├── DIGEST.lock         shared by who uses it; its time is that of the last use
    └── DIGEST.making       held by who makes it
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal

from expbench.dataset.recipe import Problem
from expbench.environments.installing import Locked
from expbench.environments.plans import EnvironmentPlan
from expbench.errors import PrerequisiteError
from expbench.sandboxes.environment import PythonEnvironment
from expbench.schema import Record
from expbench.workspace.repository import leases
from expbench.workspace.repository.making import put_aside, remove, sweep

_DIGEST = re.compile(r"[0-9a-f]{16}")
_DAY = 24 * 3600.0
_GIB = 1024**3


class EnvironmentRecord(Record):
    """What was made: ``packages`` are all that are installed, ``bytes`` of the disk all that it takes."""

    plan: EnvironmentPlan
    packages: tuple[Locked, ...] = ()
    problems: tuple[Problem, ...] = ()
    bytes: int = 0
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether everything that the plan requires is there as it asks for it."""
        return all(problem.kind == "installer" for problem in self.problems)


class Installed(Record):
    """An environment as it is listed. ``used`` is when it was last taken into use, in Unix seconds."""

    digest: str
    python: str
    packages: int
    bytes: int
    used: float
    complete: bool
    tasks: tuple[str, ...] = ()


class Freed(Record):
    """An environment and what became of it."""

    digest: str
    state: Literal["freed", "in use", "kept", "failed"]
    bytes: int = 0


@dataclass(frozen=True)
class Environment:
    """An environment that is in use, and is not freed before it is closed. A context manager."""

    folder: Path
    record: EnvironmentRecord
    lease: BinaryIO = field(repr=False)

    def __enter__(self) -> Environment:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def digest(self) -> str:
        return self.folder.name

    @property
    def complete(self) -> bool:
        return self.record.complete

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was found while it was made; ``record.plan.cannot`` is what was known before."""
        return self.record.problems

    def python(self) -> PythonEnvironment:
        """What a sandbox starts on."""
        interpreter = self.record.plan.python
        return PythonEnvironment(
            self.folder / "python", Path(interpreter.prefix), version=interpreter.name
        )

    def close(self) -> None:
        """Let go of it. May be called twice."""
        self.lease.close()


@dataclass(frozen=True)
class Shelf:
    """The folder of environments, ``<cache>/envs/tasks``."""

    folder: Path

    def find(self, digest: str) -> Environment | None:
        """An environment that was made, in use from now on; None when it is not there.

        Raises:
            PrerequisiteError: the folder cannot be written.
        """
        folder = self.folder / digest
        if not folder.is_dir():
            return None
        lease = leases.hold(folder)
        record = _record(folder)
        if record is None:
            lease.close()
            return None
        return Environment(folder, record, lease)

    def of_task(self, task_id: str) -> Environment | None:
        """The environment that was made last for a task, in use from now on.

        Raises:
            PrerequisiteError: the folder cannot be written.
        """
        made = (each for each in self.installed() if task_id in each.tasks)
        return next(filter(None, (self.find(each.digest) for each in made)), None)

    def installed(self) -> tuple[Installed, ...]:
        """All environments, the last used first. Raises PrerequisiteError."""
        found = [
            Installed(
                digest=folder.name,
                python=record.plan.python.version,
                packages=len(record.packages),
                bytes=record.bytes,
                used=_used(folder),
                complete=record.complete,
                tasks=_tasks(folder),
            )
            for folder in self._folders()
            if (record := _record(folder)) is not None
        ]
        return tuple(sorted(found, key=lambda each: each.used, reverse=True))

    def gc(
        self,
        older_than: float | None = None,
        max_gib: float | None = None,
        dry_run: bool = False,
    ) -> tuple[Freed, ...]:
        """Free what no process uses.

        Args:
            older_than: only what was last used so many days ago.
            max_gib: what was used longest ago, until all together is not larger; with ``older_than``
                what either of the two says.
            dry_run: only tell.

        Raises:
            PrerequisiteError: the folder cannot be read.
        """
        if not dry_run:
            sweep(self.folder)
        folders = sorted(self._folders(), key=_used)
        sizes = {folder: _size(folder) for folder in folders}
        total = sum(sizes.values())
        freed = []
        for folder in folders:
            old = older_than is not None and time.time() - _used(folder) > older_than * _DAY
            over = max_gib is not None and total > max_gib * _GIB
            wanted = old or over or (older_than is None and max_gib is None)
            state = self._free(folder, dry_run) if wanted else "kept"
            size = sizes[folder] if state == "freed" else 0
            total -= size
            freed.append(Freed(digest=folder.name, state=state, bytes=size))
        if not dry_run:
            self._sweep_locks()
        return tuple(freed)

    @contextlib.contextmanager
    def making(self, digest: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Be the only process that makes an environment; ``waiting`` is called when another does.

        Raises:
            PrerequisiteError: the folder cannot be written.
        """
        lock = self.folder / f"{digest}.making"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = lock.open("a+b")
        except (PermissionError, FileExistsError, NotADirectoryError) as error:
            raise PrerequisiteError(
                f"{self.folder} cannot be written ({error.strerror}): "
                "give another cache folder with XDG_CACHE_HOME."
            ) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def note_tasks(self, environment: Environment, tasks: Iterable[str]) -> None:
        """Add to the tasks that an environment was made for; to be called by who makes it."""
        known = _tasks(environment.folder)
        if new := [task for task in dict.fromkeys(tasks) if task not in known]:
            handle, name = tempfile.mkstemp(dir=environment.folder, prefix=".tasks-")
            with os.fdopen(handle, "w") as file:
                json.dump([*known, *new], file)
            Path(name).replace(environment.folder / "tasks.json")

    def _free(self, folder: Path, dry_run: bool) -> Literal["freed", "in use", "failed"]:
        lock = leases.lock_file(folder)
        try:
            if not dry_run:
                lock.touch()
            elif not lock.exists():
                return "freed"
            file = leases.try_alone(lock)
            if file is None:
                return "in use"
            with file:
                if dry_run:
                    return "freed"
                aside = put_aside(folder)
                lock.unlink(missing_ok=True)
            return "freed" if remove(aside) else "failed"
        except OSError:
            return "failed"

    def _sweep_locks(self) -> None:
        """Remove the locks of what is no more."""
        for path in self._paths():
            if path.suffix in (".lock", ".making") and not path.with_suffix("").is_dir():
                with contextlib.suppress(OSError):
                    file = leases.try_alone(path)
                    if file is not None:
                        with file:
                            path.unlink(missing_ok=True)

    def _folders(self) -> list[Path]:
        return [path for path in self._paths() if _DIGEST.fullmatch(path.name) and path.is_dir()]

    def _paths(self) -> list[Path]:
        try:
            return sorted(self.folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise PrerequisiteError(
                f"{self.folder} cannot be read ({error.strerror}): "
                "give another cache folder with XDG_CACHE_HOME."
            ) from None


def bytes_of(folder: Path) -> int:
    """Bytes of the disk that a folder takes."""
    total = 0
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            with contextlib.suppress(OSError):
                total += os.lstat(f"{parent}/{name}").st_blocks * 512
    return total


def _size(folder: Path) -> int:
    record = _record(folder)
    return record.bytes if record else bytes_of(folder)


def _record(folder: Path) -> EnvironmentRecord | None:
    try:
        text = (folder / "record.json").read_text("utf-8")
        return EnvironmentRecord.model_validate_json(text)
    except (OSError, ValueError):
        return None


def _tasks(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads((folder / "tasks.json").read_text("utf-8"))))
    except (OSError, ValueError, TypeError):
        return ()


def _used(folder: Path) -> float:
    for path in (leases.lock_file(folder), folder):
        with contextlib.suppress(OSError):
            return path.stat().st_mtime
    return 0.0
