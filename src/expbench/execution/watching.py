"""The processes of a sandbox as this machine sees them: what a script cannot hide by ending a tracer.

They are looked at several times a second, so what lives shorter than that is not seen; nothing inside
is touched. A container on another machine shows nothing.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from expbench.execution.sightings import Sighted, Sightings
from expbench.sandboxes.session import Session

_TICKS = os.sysconf("SC_CLK_TCK")
_SHARE = 0.03
"""Of one processor's time."""
_SHORTEST, _LONGEST = 0.03, 0.5
_MOST = 5000
_WORDS, _LONG = 40, 400


class Watching:
    """Looks at a session's processes from :meth:`begin` to :meth:`end`, or until it is closed.

    ``skip`` are words of which a command line is ours and not the script's.
    """

    def __init__(self, session: Session, skip: tuple[str, ...] = ()) -> None:
        self._session = session
        self._skip = skip
        self._seen: dict[tuple[int, int], Sighted] = {}
        self._parents: dict[tuple[int, int], int] = {}
        self._inner: dict[int, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="expbench-trace", daemon=True)
        self._others = {_command(pid) for pid in session.processes()}
        """Command lines of what runs the sandbox itself."""

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """May be called twice."""
        if not self._ended.is_set() and self._thread.is_alive():
            self._ended.set()
            self._thread.join()
            self._look()

    def add_to(self, sightings: Sightings, only_known: bool = False) -> None:
        """Tell what was seen, or only the processor time of processes that are known already."""
        for key, each in self._seen.items():
            if only_known:
                if (known := sightings.processes.get(each.pid)) is not None:
                    known.cpu_seconds = max(known.cpu_seconds or 0.0, each.cpu_seconds or 0.0)
                continue
            process = sightings.process(each.pid)
            process.words = each.words
            process.folder = each.folder
            process.cpu_seconds = each.cpu_seconds
            process.first, process.last = each.first, each.last
            process.parent = self._inner.get(self._parents[key], 0)

    def _run(self) -> None:
        rest = _SHORTEST
        while not self._ended.wait(rest) and self._session.alive:
            started = time.thread_time()
            self._look()
            cost = (time.thread_time() - started) / _SHARE
            rest = min(_LONGEST, max(_SHORTEST, cost))

    def _look(self) -> None:
        with suppress(OSError):
            now = time.time()
            for pid in self._session.processes():
                self._look_at(pid, now)

    def _look_at(self, pid: int, now: float) -> None:
        words = _command(pid)
        if not words or words in self._others or any(self._skip_word(word) for word in words):
            return
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
        except OSError:
            return
        key = (pid, int(stat[19]))
        if key not in self._seen:
            if len(self._seen) >= _MOST:
                return
            self._inner[pid] = _inner_pid(pid)
            self._seen[key] = Sighted(self._inner[pid])
        self._parents[key] = int(stat[1])
        seen = self._seen[key]
        seen.words = words
        seen.seen_at(now)
        seen.cpu_seconds = (int(stat[11]) + int(stat[12])) / _TICKS
        with suppress(OSError):
            seen.folder = str(Path(f"/proc/{pid}/cwd").readlink())

    def _skip_word(self, word: str) -> bool:
        return any(each in word for each in self._skip)


def _command(pid: int) -> tuple[str, ...]:
    try:
        with Path(f"/proc/{pid}/cmdline").open("rb") as file:
            words = file.read(1 << 14).split(b"\0")[:-1]
    except OSError:
        return ()
    return tuple(word.decode("utf-8", "replace")[:_LONG] for word in words[:_WORDS])


def _inner_pid(pid: int) -> int:
    """The process's id in its own namespace."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return pid
    for line in status.splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return pid
