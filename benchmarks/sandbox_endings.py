"""How long anything lives on: from a time-out, or from the close of a sandbox, to the last process gone."""

from __future__ import annotations

import os
import random
import selectors
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from measuring import Part, Ratio
from sandbox_bench import Bench, in_turn

from expbench.sandboxes.session import Session

_LEAST, _LONGER = 0.35, 0.1
"""Seconds that a command has at least before its end, and what is added by chance: who only looks now
and then at the clock is found out."""
_STARTED = 0.2
_WAIT = 20.0
_MARK = "98765.25"
_ONE = f"exec sleep {_MARK}"
_TREE = f"""\
trap '' TERM HUP INT
for n in 1 2 3 4; do (setsid sh -c 'trap "" TERM; sleep {_MARK}' &) ; sleep {_MARK} & done
sleep {_MARK}
"""


class Ends:
    """Waits until every process that bears the mark, of those that run now, is gone."""

    def __init__(self, session: Session) -> None:
        self._handles = []
        for pid in session.processes():
            with suppress(OSError):
                if _MARK.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    self._handles.append(os.pidfd_open(pid))
        self.count = len(self._handles)

    def wait(self) -> float:
        """The moment, of ``time.monotonic``, when the last was gone."""
        with selectors.DefaultSelector() as selector:
            for handle in self._handles:
                selector.register(handle, selectors.EVENT_READ)
            deadline = time.monotonic() + _WAIT
            while selector.get_map():
                if time.monotonic() > deadline:
                    raise RuntimeError(f"processes of a sandbox live on after {_WAIT:g} s")
                for key, _ in selector.select(1.0):
                    selector.unregister(key.fileobj)
                    os.close(key.fd)
            return time.monotonic()


def measure(bench: Bench) -> Part:
    """Time-outs in a running sandbox, sandboxes that are closed, and a plain process for comparison."""
    part = Part("From the end to the last process gone")
    session = bench.session()
    counts: dict[str, int] = {}
    scripts = {"one process": _ONE, "a tree with daemons that ignore signals": _TREE}
    actions: dict[str, Callable[[], float]] = {}
    for name, script in scripts.items():
        actions[f"time-out, {name}"] = partial(_timed_out, session, name, script, counts)
        actions[f"close, {name}"] = partial(_closed, bench, name, script, counts)
    actions["plain process killed and waited for"] = _plain
    times = in_turn(bench.runs, actions)
    for name in list(actions)[:-1]:
        part.ratios.append(Ratio(name, times.median(name) * 1000, None, "ms"))
    part.tables.append(times.table("What a command was given is not counted", "end"))
    listed = ", ".join(f"{name}: {count}" for name, count in counts.items())
    part.notes.append(f"Processes that had to go, besides ours: {listed}.")
    return part


def _timed_out(session: Session, name: str, script: str, counts: dict[str, int]) -> float:
    """Seconds from the time-out of a command to the end of the last process that it started."""
    found: list[float] = []

    def watch() -> None:
        time.sleep(_STARTED)
        ends = Ends(session)
        counts[name] = max(ends.count, counts.get(name, 0))
        found.append(ends.wait())

    watcher = threading.Thread(target=watch)
    timeout = random.uniform(_LEAST, _LEAST + _LONGER)
    due = time.monotonic() + timeout
    watcher.start()
    done = session.run(["/bin/sh", "-c", script], timeout=timeout)
    watcher.join()
    if not done.timed_out or not counts[name] or not found:
        raise RuntimeError(f"the command was to be ended by its time-out: {done}")
    return max(0.0, found[0] - due)


def _closed(bench: Bench, name: str, script: str, counts: dict[str, int]) -> float:
    """Seconds from ``close`` to the end of the last process of a sandbox."""
    with bench.folder() as view, bench.host.start(view) as session:
        session.run(["/bin/sh", "-c", f"({script}) >/dev/null 2>&1 &"])
        time.sleep(_STARTED)
        ends = Ends(session)
        counts[name] = max(ends.count, counts.get(name, 0))
        started = time.monotonic()
        closing = threading.Thread(target=session.close)
        closing.start()
        gone = ends.wait()
        closing.join()
        return gone - started


def _plain() -> float:
    process = subprocess.Popen(["/bin/sleep", _MARK])
    started = time.monotonic()
    process.kill()
    process.wait()
    return time.monotonic() - started
