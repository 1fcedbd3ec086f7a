"""How much lies below folders that a hostile program goes on changing while we look.

A walk goes by folders' descriptors, so that no exchanged link leads it elsewhere, it stays on its file
system, and it is a generator that pauses again and again: who drives it decides what it may cost.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_STEP = 256
_FLOOR = 1024**3
_OPEN_LEVELS = 32
_LOOK = stat.S_IRUSR | stat.S_IXUSR
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass
class Tally:
    """What was counted: ``size`` in bytes of allocated blocks, ``files`` with folders and all else."""

    size: int = 0
    files: int = 0
    _linked: set[tuple[int, int]] = field(default_factory=set)

    def add(self, found: os.stat_result) -> None:
        """Count a file. Bytes of one with several names are counted once, what hides one is not."""
        if stat.S_ISCHR(found.st_mode) and found.st_rdev == 0:
            return
        self.files += 1
        self.occupy(found)

    def occupy(self, found: os.stat_result) -> None:
        """Count a file's blocks only."""
        if found.st_nlink != 1 and not stat.S_ISDIR(found.st_mode):
            key = (found.st_dev, found.st_ino)
            if key in self._linked:
                return
            self._linked.add(key)
        self.size += found.st_blocks * 512


@dataclass(frozen=True)
class Space:
    """What is free on a file system, in bytes and inodes; ``low`` is below the floor.

    The floor is 1 GiB, or 2 % of a smaller file system.
    """

    size: int
    files: int
    low: bool

    @classmethod
    def of(cls, folder: Path) -> Space:
        """Raises OSError."""
        found = os.statvfs(folder)
        free = found.f_bavail * found.f_frsize
        return cls(free, found.f_favail, free < min(_FLOOR, found.f_blocks * found.f_frsize // 50))


class Growth:
    """What some folders grew by since this was made. ``size`` (bytes) and ``files`` are as last measured.

    Raises:
        OSError: the first folder is not there.
    """

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.size = 0
        self.files = 0
        self.device = os.stat(folders[0]).st_dev
        self.space = Space.of(folders[0])
        self._before = self.space
        self._base = Tally()
        for _ in count(folders, self._base):
            pass

    def urgent(self, size: int | None, files: int | None) -> bool:
        """Look at what is free: whether half of the room below the limits may be used up meanwhile."""
        self.space = Space.of(self.folders[0])
        lost = self._before.size - self.space.size
        lost_files = self._before.files - self.space.files
        return (
            self.space.low
            or (size is not None and 2 * lost > size - self.size)
            or (files is not None and 2 * lost_files > files - self.files)
        )

    def measure(self, processes: Callable[[], Iterable[int]]) -> Generator[None]:
        """Walk, bringing ``size`` and ``files`` up to date; they only grow while it goes on."""
        self._before = Space.of(self.folders[0])
        tally = Tally()
        for _ in count(self.folders, tally):
            self.size = max(self.size, tally.size - self._base.size)
            self.files = max(self.files, tally.files - self._base.files)
            yield
        for _ in count_unlinked(self.folders, processes(), tally):
            yield
        self.size = max(0, tally.size - self._base.size)
        self.files = max(0, tally.files - self._base.files)


@dataclass
class _Level:
    """A folder on the way down: its descriptor, or -1 while it is closed, and what is to be walked.

    ``mode`` is what a folder that was shut to us had, and has again when it is closed.
    """

    fd: int
    mode: int | None = None
    pending: list[str] = field(default_factory=list)
    identity: tuple[int, int] = (-1, -1)

    def __post_init__(self) -> None:
        if self.fd >= 0:
            found = os.fstat(self.fd)
            self.identity = (found.st_dev, found.st_ino)

    def close(self) -> None:
        if self.fd >= 0:
            if self.mode is not None:
                with contextlib.suppress(OSError):
                    os.fchmod(self.fd, self.mode)
            os.close(self.fd)
            self.fd = -1


def count(folders: Iterable[Path], tally: Tally) -> Iterator[None]:
    """Count all that lies below folders, which are not counted themselves, pausing at each ``yield``."""
    for folder in folders:
        with contextlib.suppress(OSError):
            yield from _walk(_Level(os.open(folder, _FLAGS & ~os.O_NOFOLLOW)), tally)


def count_unlinked(
    folders: Iterable[Path], processes: Iterable[int], tally: Tally
) -> Iterator[None]:
    """Count the blocks of files that have no name any more and that processes hold open.

    Only those on the folders' file systems and on overlays are; in memory they are not on a disk.
    """
    devices = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            devices.add(os.stat(folder).st_dev)
    pids = list(processes)
    # The last of them is the furthest inside, and sees what is mounted there.
    devices |= _overlays(pids[-1]) if pids else set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for number, fd in enumerate(os.listdir(f"/proc/{pid}/fd"), 1):
                with contextlib.suppress(OSError):
                    found = os.stat(f"/proc/{pid}/fd/{fd}")
                    gone = found.st_nlink == 0 and stat.S_ISREG(found.st_mode)
                    if gone and found.st_dev in devices:
                        tally.occupy(found)
                if number % _STEP == 0:
                    yield
        yield


def _overlays(pid: int) -> set[int]:
    """The devices of the overlays that a process sees."""
    found = set()
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mountinfo", "rb") as file:
        for line in file:
            mount, _, kind = line.partition(b" - ")
            if kind.startswith(b"overlay "):
                major, minor = mount.split()[2].split(b":")
                found.add(os.makedev(int(major), int(minor)))
    return found


def _walk(root: _Level, tally: Tally) -> Iterator[None]:
    """Depth first, with few descriptors open however deep it goes. Closes the root, too."""
    stack = [root]
    device = root.identity[0]
    try:
        yield from _list(root, device, tally)
        while stack:
            level = stack[-1]
            if not level.pending:
                _leave(stack)
            elif (below := _enter(level.fd, level.pending.pop())) is not None:
                if len(stack) > _OPEN_LEVELS:
                    level.close()
                stack.append(below)
                if below.identity[0] == device:
                    yield from _list(below, device, tally)
    finally:
        for level in stack:
            level.close()


def _list(level: _Level, device: int, tally: Tally) -> Iterator[None]:
    """Count a folder's entries and note the folders among them."""
    with contextlib.suppress(OSError), os.scandir(level.fd) as entries:
        for number, entry in enumerate(entries, 1):
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                tally.add(found)
                if stat.S_ISDIR(found.st_mode) and found.st_dev == device:
                    level.pending.append(entry.name)
            if number % _STEP == 0:
                yield
    yield


def _leave(stack: list[_Level]) -> None:
    """Go up from the last level; levels that were moved away meanwhile are given up."""
    last = stack.pop()
    if stack and stack[-1].fd < 0:
        with contextlib.suppress(OSError):
            above = _Level(os.open("..", _FLAGS, dir_fd=last.fd))
            if above.identity == stack[-1].identity:
                stack[-1].fd = above.fd
            else:
                above.close()
        while stack[-1].fd < 0:
            stack.pop()
    last.close()


def _enter(parent: int, name: str) -> _Level | None:
    """A folder; ``None`` where it is gone, or shut to us.

    One of our own without permissions is opened all the same, or it would be a place to hide in.
    """
    try:
        handle = os.open(name, os.O_PATH | _FLAGS, dir_fd=parent)
    except OSError:
        return None
    mode = None
    try:
        found = os.fstat(handle)
        itself = f"/proc/self/fd/{handle}"
        if os.geteuid() == found.st_uid != 0 and found.st_mode & _LOOK != _LOOK:
            mode = stat.S_IMODE(found.st_mode)
            os.chmod(itself, mode | _LOOK)
        return _Level(os.open(itself, _FLAGS & ~os.O_NOFOLLOW), mode)
    except OSError:
        return None
    finally:
        os.close(handle)
