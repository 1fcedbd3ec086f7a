"""The programs that were installed: found, listed, and seen by sandboxes.

::

    <cache>/agents/
    ├── DIGEST/
    │   ├── root/           what sandboxes see at the mount point
    │   └── record.json     what was asked, and what is there    (ProgramRecord)
    ├── DIGEST.lock         shared by who uses it
    └── DIGEST.making       held by who installs it
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from expbench.environments import Interpreter, Shelf
from expbench.errors import NotFoundError, PrerequisiteError
from expbench.sandboxes.environment import PROGRAM
from expbench.schema import Record
from expbench.workspace.repository import leases

MOUNT = PROGRAM
"""Where a sandbox sees its agent's program."""

_DIGEST = re.compile(r"[0-9a-f]{16}")


class Part(Record):
    """One installed package; ``digest`` is its file's, where the registry told it."""

    name: str
    version: str
    digest: str = ""


class ProgramRecord(Record):
    """What was installed: ``made`` is when, ``node`` the program of Node.js that it runs on.

    ``said`` is what its check printed in a sandbox; empty where no sandbox could be had to try it in.
    """

    name: str
    version: str
    kind: Literal["python", "npm"]
    parts: tuple[Part, ...]
    interpreter: Interpreter | None = None
    node: str = ""
    made: str
    tried: bool = False
    said: str = ""
    bytes: int = 0
    seconds: float = 0.0

    def folders(self, root: Path) -> dict[str, Path]:
        """What a sandbox shows besides, by its path inside, where the program lies in ``root``."""
        found = {MOUNT: root}
        if self.interpreter is not None:
            found[self.interpreter.prefix] = Path(self.interpreter.prefix)
        if self.node:
            prefix = Path(self.node).parents[1]
            found[str(prefix)] = prefix
        return found


@dataclass(frozen=True)
class InstalledProgram:
    """A program in use, which is not freed before it is closed."""

    folder: Path
    record: ProgramRecord
    lease: BinaryIO = field(repr=False)

    @property
    def digest(self) -> str:
        return self.folder.name

    @property
    def label(self) -> str:
        """Its name, version and digest, and what runs it."""
        inside = self.record.interpreter
        runs = f", Python {inside.version}" if inside else ""
        return f"{self.record.name} {self.record.version} ({self.digest}{runs})"

    def folders(self) -> dict[str, Path]:
        """What a sandbox shows besides, by its path inside."""
        return self.record.folders(self.folder / "root")

    def check_shown(self, kind: str, own_system: bool) -> None:
        """Raise PrerequisiteError where such a sandbox cannot show it.

        Args:
            own_system: whether sandboxes show this machine's ``/usr``.
        """
        name = self.record.name
        if kind == "local":
            raise PrerequisiteError(
                f"Agent {name!r} needs its program at {MOUNT}, which sandbox local does not show: "
                "choose --sandbox bwrap."
            )
        inside = [path for path in self.folders().values() if path.is_relative_to("/usr")]
        if inside and not own_system:
            raise PrerequisiteError(
                f"Agent {name!r} was installed for {inside[0]} of this machine, which these sandboxes do "
                "not show: install it with an interpreter outside of /usr (pyenv or uv), or use bwrap "
                "without --rootfs."
            )

    def close(self) -> None:
        """Let go of it. May be called twice."""
        self.lease.close()


@dataclass(frozen=True)
class ProgramShelf:
    """The folder of installed programs, ``<cache>/agents``."""

    folder: Path

    def find(self, digest: str) -> InstalledProgram | None:
        """A program that was installed, in use from now on; None where it is not there.

        Raises:
            PrerequisiteError: the folder cannot be written.
        """
        folder = self.folder / digest
        if not _DIGEST.fullmatch(digest) or not folder.is_dir():
            return None
        lease = leases.hold(folder)
        record = _record(folder)
        if record is None:
            lease.close()
            return None
        return InstalledProgram(folder, record, lease)

    def of_agent(self, name: str, digest: str = "") -> InstalledProgram:
        """The program of an agent that was installed last, or the one of a digest, in use from now on.

        Raises:
            NotFoundError: it is not installed; the sentence says how it is.
        """
        made = [each for each in self.installed() if each[1].name == name]
        wanted = [each for each in made if digest in ("", each[0])]
        for found, _ in wanted:
            if (installed := self.find(found)) is not None:
                return installed
        if digest:
            raise NotFoundError(
                f"This run's program of agent {name!r} ({digest}) is not installed any more: install "
                f"the same version again (`expbench agents install {name} --version V`)."
            )
        raise NotFoundError(
            f"Agent {name!r} needs its program, which is not installed: "
            f"run `expbench agents install {name}` first."
        )

    def installed(self) -> tuple[tuple[str, ProgramRecord], ...]:
        """The digests and records of all programs, the last installed first."""
        try:
            folders = [path for path in self.folder.iterdir() if _DIGEST.fullmatch(path.name)]
        except OSError:
            return ()
        found = [(path.name, record) for path in folders if (record := _record(path)) is not None]
        return tuple(sorted(found, key=lambda each: each[1].made, reverse=True))

    def making(self, digest: str, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Be the only process that installs one. Raises PrerequisiteError."""
        return Shelf(self.folder).making(digest, waiting)

    def replaced(self) -> frozenset[str]:
        """The digests of programs in whose place another was installed later: no new run takes them."""
        latest: dict[str, str] = {}
        return frozenset(
            digest
            for digest, record in self.installed()
            if latest.setdefault(record.name, digest) != digest
        )


def _record(folder: Path) -> ProgramRecord | None:
    try:
        return ProgramRecord.model_validate_json((folder / "record.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
