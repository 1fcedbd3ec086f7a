"""What control groups do not hold: one thread looks after the memory and disk of all sandboxes.

The processes of all sandboxes are found by one look at ``/proc``. Where one sandbox's memory is above its
limit, its largest processes are killed, as the kernel would. What its folders grew by is measured by
walks that take turns; free space tells at next to no cost whose turn has come. Looks and walks each take
about 2.5 % of one processor over time and become rarer where they cost more; walks may save up a little
for the moment when a disk fills fast.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from expbench.sandboxes import processes
from expbench.sandboxes.growth import Growth
from expbench.sandboxes.processes import Process, Table
from expbench.schema import Limits

_MIB = 1024**2
_SMALL = 16 * _MIB
_SHARE = 0.025
"""Of one processor's time, for looks and again for walks."""
_PERIOD = 0.25
_NEAR, _NEAR_SHARE = 0.05, 0.7
"""Seconds between looks where a sandbox uses more than this share of its memory."""
_WALK_PERIOD = 2.0
_SAVED = 3.0
_KEPT_BACK = 1.0
"""Seconds of a processor's time that walks may save up, and what of it only urgent ones may use."""
_PATIENCE = 5.0
"""Seconds in which the end of one sandbox should have made room on a full disk."""

_log = logging.getLogger(__name__)
_looked = threading.local()
"""``table``: what the watch's own thread saw when it last looked, for all that it asks till then."""


@dataclass(frozen=True, eq=False)
class Watched:
    """One sandbox to be watched.

    Args:
        processes: gives the ids of all its processes.
        folders: where everything that it adds to its workspace lies.
        hold: those of ``memory_mib``, ``processes``, ``disk_mib`` and ``files`` to be watched.
        exceeded: called with a limit's name, or ``disk_free``, and a sentence, in a thread of its own;
            once for each kill where it is memory, and once where it is anything else.
    """

    processes: Callable[[], Iterable[int]]
    folders: tuple[Path, ...]
    limits: Limits
    hold: frozenset[str]
    exceeded: Callable[[str, str], None]


class Handle:
    """A sandbox that is being watched. ``peak`` has the most that was seen of each limit's kind.

    Raises:
        OSError: its first folder is not there.
    """

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.peak: dict[str, int] = {}
        self.growth = Growth(watched.folders) if watched.folders else None
        self.walked = time.monotonic()
        self.urgent = False
        self._told: set[str] = set()
        self._dying: set[tuple[int, int]] = set()
        self.closed = False

    def close(self) -> None:
        """Stop watching. May be called twice."""
        self.closed = True
        _WATCHER.forget(self)

    def told(self, limit: str) -> bool:
        """Whether an excess of the limit was reported already."""
        return limit in self._told

    def tell(self, limit: str, sentence: str, again: bool = False) -> None:
        """Report an excess, in a thread of its own; a second one of the same limit only ``again``."""
        if self.closed or (self.told(limit) and not again):
            return
        self._told.add(limit)
        report = self.watched.exceeded
        threading.Thread(target=report, args=(limit, sentence), daemon=True).start()

    def look(self, table: Table, small: int) -> bool:
        """Check processes and memory; whether memory comes near its limit.

        Args:
            small: bytes of memory up to which a process is not worth a closer look.
        """
        hold, limits = self.watched.hold, self.watched.limits
        if not hold & {"memory_mib", "processes"}:
            return False
        found = [table[pid] for pid in self.watched.processes() if pid in table]
        if "processes" in hold and limits.processes:
            threads = sum(each.threads for each in found)
            self._note("processes", threads)
            if threads > limits.processes:
                sentence = f"The sandbox had more than {limits.processes} processes and threads."
                self.tell("processes", sentence)
        if "memory_mib" in hold and limits.memory_mib:
            return self._memory(found, limits.memory_mib * _MIB, small)
        return False

    def feel(self) -> None:
        """Look at the free space: whether it is urgent to measure what the folders grew by."""
        limits = self.watched.limits
        if self.growth is not None:
            size = limits.disk_mib * _MIB if limits.disk_mib else None
            self.urgent = self.growth.urgent(size, limits.files)

    def check_growth(self) -> bool:
        """Compare the last measures with the limits; whether one is exceeded."""
        hold, limits = self.watched.hold, self.watched.limits
        if self.growth is None:
            return False
        size, files = -(-self.growth.size // _MIB), self.growth.files
        self._note("disk_mib", size)
        self._note("files", files)
        excess = False
        if "disk_mib" in hold and limits.disk_mib and size > limits.disk_mib:
            self.tell("disk_mib", f"The workspace grew by more than {limits.disk_mib} MiB.")
            excess = True
        if "files" in hold and limits.files and files > limits.files:
            sentence = f"More than {limits.files} files and folders were added to the workspace."
            self.tell("files", sentence)
            excess = True
        return excess

    def _note(self, limit: str, value: int) -> None:
        self.peak[limit] = max(value, self.peak.get(limit, 0))

    def _memory(self, found: list[Process], limit: int, small: int) -> bool:
        self._dying &= {(each.pid, each.start) for each in found}
        living = [each for each in found if (each.pid, each.start) not in self._dying]
        sizes = {
            each: processes.unshared(each.pid) if each.resident > small else each.resident
            for each in living
        }
        if sum(sizes.values()) > limit:
            sizes = {each: processes.proportional(each.pid) for each in living}
        used = sum(sizes.values())
        self._note("memory_mib", used // _MIB)
        if used > limit:
            self._free_memory(sizes, used, limit)
        return used > _NEAR_SHARE * limit

    def _free_memory(self, sizes: dict[Process, int], used: int, limit: int) -> None:
        """Kill the largest processes until the others are below the limit."""
        ranks = {each: processes.badness(each.pid, size, limit) for each, size in sizes.items()}
        killed = []
        left = used
        for each in sorted(ranks, key=ranks.__getitem__, reverse=True):
            if left <= limit:
                break
            if processes.kill(each):
                self._dying.add((each.pid, each.start))
                killed.append(f"{each.name} ({sizes[each] // _MIB} MiB)")
            left -= sizes[each]
        if killed:
            more = f" and {len(killed) - 1} more were" if len(killed) > 1 else " was"
            sentence = f"All processes together used {used // _MIB} MiB of memory, more than "
            sentence += f"{limit // _MIB} MiB: {killed[0]}{more} killed."
            self.tell("memory_mib", sentence, again=True)


def watch(watched: Watched) -> Handle:
    """Begin to watch a sandbox; what its folders hold now is not growth.

    Raises:
        OSError: its first folder is not there.
    """
    handle = Handle(watched)
    _WATCHER.add(handle)
    return handle


def processes_below(roots: Iterable[int]) -> dict[int, list[int]]:
    """Processes with all their descendants, by one look at ``/proc``; empty for one that is gone.

    Descendants in process namespaces of their own are among them, by their ids outside.
    """
    table: Table | None = getattr(_looked, "table", None)
    if table is None:
        table = Table.read()
    return {root: table.below(root) for root in roots}


class _Watcher:
    """The thread and what it looks after. It ends when there is nothing left, and starts again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handles: list[Handle] = []
        self._thread: threading.Thread | None = None
        self._walk: Iterator[None] | None = None
        self._credit = _KEPT_BACK
        self._since = 0.0
        self._low: dict[int, float] = {}

    def add(self, handle: Handle) -> None:
        with self._lock:
            self._handles.append(handle)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="expbench-watch", daemon=True
                )
                self._thread.start()

    def forget(self, handle: Handle) -> None:
        with self._lock:
            if handle in self._handles:
                self._handles.remove(handle)

    def _run(self) -> None:
        self._since = time.monotonic()
        while True:
            with self._lock:
                handles = list(self._handles)
                if not handles:
                    self._thread = None
                    return
            started = time.thread_time()
            near = self._look(handles)
            cost = (time.thread_time() - started) / _SHARE
            rest = max(_NEAR, cost / 2) if near else max(_PERIOD, cost)
            until = time.monotonic() + rest
            self._walks(handles, until)

    def _look(self, handles: Sequence[Handle]) -> bool:
        """Check all processes and all free space; whether some sandbox's memory is near its limit."""
        near = False
        small = 0 if processes.swaps() else _SMALL
        _looked.table = Table.read()
        for handle in handles:
            with _guarded(handle):
                near |= handle.look(_looked.table, small)
                handle.feel()
        self._check_floors(handles)
        return near

    def _check_floors(self, handles: Sequence[Handle]) -> None:
        """Where a file system is nearly full, the sandbox that grew most is told, one at a time."""
        now = time.monotonic()
        low: dict[int, list[tuple[Handle, Growth]]] = {}
        for handle in handles:
            if handle.growth is not None and handle.growth.space.low:
                low.setdefault(handle.growth.device, []).append((handle, handle.growth))
        self._low = {device: self._low.get(device, now + 1) for device in low}
        for device, group in low.items():
            untold = [pair for pair in group if not pair[0].told("disk_free")]
            if untold and now > self._low[device]:
                handle, growth = max(untold, key=lambda pair: pair[1].size)
                if growth.size > 0:
                    free = growth.space.size // _MIB
                    text = f"Only {free} MiB are free on the disk, and this sandbox grew most."
                    handle.tell("disk_free", text)
                    self._low[device] = now + _PATIENCE

    def _walks(self, handles: Sequence[Handle], until: float) -> None:
        """Measure folders, as far as there is credit, until it is time for the next look."""
        while (now := time.monotonic()) < until:
            self._credit = min(_SAVED, self._credit + (now - self._since) * _SHARE)
            self._since = now
            if self._walk is None:
                handle = self._next(handles, now)
                if handle is None:
                    time.sleep(until - now)
                    continue
                self._walk = _measured(handle)
            started = time.thread_time()
            if next(self._walk, self) is self:
                self._walk = None
            self._credit -= time.thread_time() - started

    def _next(self, handles: Sequence[Handle], now: float) -> Handle | None:
        """Whose folders are to be measured: urgent ones first, then those that waited longest."""
        waiting = [
            each
            for each in handles
            if each.growth is not None
            and self._credit > (0 if each.urgent else _KEPT_BACK)
            and now - each.walked > (_PERIOD if each.urgent else _WALK_PERIOD)
        ]
        return min(waiting, key=lambda each: (not each.urgent, each.walked), default=None)


def _measured(handle: Handle) -> Iterator[None]:
    """Measure a sandbox's folders step by step, until they are known or a limit is exceeded."""
    assert handle.growth is not None
    try:
        with (
            _guarded(handle),
            contextlib.closing(handle.growth.measure(handle.watched.processes)) as steps,
        ):
            for _ in steps:
                if handle.closed or handle.check_growth():
                    return
                yield
            handle.check_growth()
    finally:
        handle.urgent = False
        handle.walked = time.monotonic()


@contextlib.contextmanager
def _guarded(handle: Handle) -> Iterator[None]:
    """One sandbox's trouble is not the others': what it asks of its provider may fail in any way."""
    try:
        yield
    except Exception as error:
        if not handle.closed:
            _log.warning("a sandbox could not be watched: %s", error)


_WATCHER = _Watcher()
