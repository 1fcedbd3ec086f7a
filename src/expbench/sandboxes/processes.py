"""The processes of this machine in one look at ``/proc``, and what memory they really use."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process; ``start`` is its start time in clock ticks, ``resident`` bytes of any kind."""

    pid: int
    parent: int
    threads: int
    start: int
    resident: int
    name: str


class Table(dict[int, Process]):
    """Processes by id, as they were at one moment. Zombies are not among them."""

    @classmethod
    def read(cls, pids: Iterable[int] | None = None) -> Table:
        """Those ids, or every process that this one sees."""
        wanted = map(int, filter(str.isdigit, os.listdir("/proc"))) if pids is None else pids
        found = map(_process, wanted)
        return cls((each.pid, each) for each in found if each is not None)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Ids by their parent's."""
        found: dict[int, list[int]] = {}
        for each in self.values():
            found.setdefault(each.parent, []).append(each.pid)
        return found

    def below(self, root: int) -> list[int]:
        """A process and all its descendants, also those in namespaces of their own."""
        found = [root] if root in self else []
        for pid in found:
            found += self.children.get(pid, ())
        return found


def _process(pid: int) -> Process | None:
    if not (content := _read(f"/proc/{pid}/stat")):
        return None
    head, _, rest = content.rpartition(b") ")
    fields = rest.split()
    if fields[0] in b"ZX":
        return None
    name = head.partition(b"(")[2].decode(errors="replace")
    return Process(
        pid, int(fields[1]), int(fields[17]), int(fields[19]), int(fields[21]) * PAGE, name
    )


def unshared(pid: int) -> int:
    """Bytes of a process's anonymous and shared memory, swapped ones too; files' pages are not."""
    return _sum(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:", b"VmSwap:"))


def proportional(pid: int) -> int:
    """The same, where memory of several processes is divided among them; costs more to find out."""
    found = _sum(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:"))
    return found or unshared(pid)


def swaps() -> bool:
    """Whether this machine has swap space."""
    return _read("/proc/swaps").count(b"\n") > 1


def badness(pid: int, size: int, limit: int) -> int:
    """How much a process is the one to be killed: its size, and what it is marked with for that."""
    mark = _read(f"/proc/{pid}/oom_score_adj").strip()
    return size + (int(mark) * limit // 1000 if mark else 0)


def kill(process: Process) -> bool:
    """SIGKILL a process if it is still the same one; whether it was."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        handle = -1
    try:
        now = _process(process.pid)
        if now is None or now.start != process.start:
            return False
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if handle < 0:
                os.kill(process.pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
        return False
    finally:
        if handle >= 0:
            os.close(handle)


def _sum(path: str, names: tuple[bytes, ...]) -> int:
    """The sum in bytes of a file's lines ``name   N kB``."""
    total = 0
    for line in _read(path).splitlines():
        if line.startswith(names):
            total += int(line.split()[1])
    return total * 1024


def _read(path: str) -> bytes:
    """A small file of ``/proc``; empty when the process is gone or not ours to see."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 1 << 14)
    except OSError:
        return b""
    finally:
        os.close(fd)
