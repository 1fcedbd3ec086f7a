"""How a workspace's files lie on the host: as an overlay over shared layers, or as a copy of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

ViewKind = Literal["overlay", "reflink", "copy"]
"""Copy-on-write over read-only layers, a copy that shares its extents, or a plain copy."""

UPPER, WORK = "upper", "work"


@dataclass(frozen=True)
class Stat:
    """What tells that a file was not touched: an agent can set a modification time, not a change time.

    Times are in nanoseconds, ``size`` in bytes, ``mode`` as ``lstat`` gives it.
    """

    inode: int
    changed_ns: int
    modified_ns: int
    size: int
    mode: int


@dataclass(frozen=True)
class View:
    """One workspace on the host.

    ``folder`` is private to it and removed with it. ``lower`` are the read-only layers of an overlay,
    topmost first. ``stats`` are the facts of a copy's files when it was made, by path; without them
    every file is read again at collection. ``lease`` keeps the layers in the store while the view lives.
    """

    kind: ViewKind
    folder: Path
    lower: tuple[Path, ...] = ()
    stats: Mapping[bytes, Stat] = field(default_factory=dict, repr=False)
    lease: BinaryIO | None = field(default=None, repr=False, compare=False)

    @property
    def files(self) -> Path:
        """Where the files lie: of an overlay only those that were made or changed."""
        return self.folder / UPPER if self.kind == "overlay" else self.folder

    @property
    def work(self) -> Path:
        """The overlay's own scratch folder."""
        return self.folder / WORK
