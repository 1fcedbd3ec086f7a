"""What all processes of a sandbox use together, looked at from outside while a script runs.

The keeper of a command tells what has ended below it; what was killed with its sandbox, and the most
memory that several processes used at once, only looking shows. Short peaks between two looks are missed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from expbench.sandboxes.processes import unshared
from expbench.sandboxes.session import Session

_PERIOD = 0.25
_TICKS = os.sysconf("SC_CLK_TCK")
_MIB = 1024**2


class Meter:
    """Looks every quarter of a second. A context manager.

    ``cpu_seconds`` is the processor time used since it began, ``peak_mib`` the most memory seen at once, of
    processes that were not there before (anonymous, shared and swapped; files' pages are not counted).
    Both are ``None`` where this machine does not see the processes.
    """

    def __init__(self, session: Session) -> None:
        self.cpu_seconds: float | None = None
        self.peak_mib: float | None = None
        self._session = session
        self._before = frozenset(session.processes())
        self._used_before = _ticks(self._before)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="expbench-meter", daemon=True)

    def __enter__(self) -> Meter:
        if self._before:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._before:
            self._thread.join()
            self._look()

    def _run(self) -> None:
        while not self._ended.wait(_PERIOD):
            self._look()

    def _look(self) -> None:
        pids = self._session.processes()
        if not pids:
            return
        used = (_ticks(pids) - self._used_before) / _TICKS
        memory = sum(unshared(pid) for pid in pids if pid not in self._before) / _MIB
        self.cpu_seconds = max(self.cpu_seconds or 0.0, used)
        self.peak_mib = max(self.peak_mib or 0.0, memory)


def _ticks(pids: Iterable[int]) -> int:
    """Clock ticks that processes used, with those of children that they have waited for."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total
