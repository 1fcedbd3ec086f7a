"""Many sandboxes at once: started as fast as the host lets them, used, and closed."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from measuring import Part, Ratio, Table, mib, timed
from sandbox_bench import TRUE, Bench, Times

from expbench.errors import ExpbenchError
from expbench.sandboxes.session import Session
from expbench.workspace import View

_LONG = ("/bin/sleep", "3600")


@dataclass
class Crowd:
    """What sandboxes that ran at the same time did. ``walls`` are seconds of all together."""

    times: Times = field(default_factory=Times)
    walls: Times = field(default_factory=Times)
    failures: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)

    def attempt(self, name: str, action: Callable[[], object]) -> None:
        """Do and time one thing, and note when it fails."""
        try:
            seconds, result = timed(action)
        except (ExpbenchError, OSError) as error:
            self.failures.append(f"{name}: {error}")
            return
        if result is False:
            self.failures.append(f"{name}: a command failed")
        self.times.took(name, seconds)
        if isinstance(result, Session):
            self.sessions.append(result)


def measure(bench: Bench) -> Part:
    """``at_once`` sandboxes: all started, one command in each at once, all closed."""
    crowd, number = Crowd(), bench.at_once
    bench.host.python()
    before = _harness()
    with ExitStack() as stack:
        views = [stack.enter_context(bench.folder()) for _ in range(number)]
        _all(crowd, "start", [partial(bench.host.start, view) for view in views])
        try:
            _all(crowd, "command", [partial(_runs, each) for each in crowd.sessions])
            _together(crowd, bench)
            _facts(crowd, before)
        finally:
            _all(crowd, "close", [each.close for each in crowd.sessions])
    with ExitStack() as stack:
        views = [stack.enter_context(bench.folder()) for _ in range(number)]
        bare = _bare(bench, views)
    return _report(crowd, bench, bare)


def _all(crowd: Crowd, name: str, actions: Iterable[Callable[[], object]]) -> None:
    """Do one thing in all sandboxes at once, each from a thread of its own."""
    each = list(actions)
    barrier = threading.Barrier(max(1, len(each)))

    def one(action: Callable[[], object]) -> None:
        barrier.wait()
        crowd.attempt(name, action)

    with ThreadPoolExecutor(max(1, len(each))) as pool:
        seconds, _ = timed(lambda: list(pool.map(one, each)))
    crowd.walls.took(name, seconds)


def _runs(session: Session) -> bool:
    return session.run(TRUE).exit_code == 0


def _together(crowd: Crowd, bench: Bench) -> None:
    """Single commands while all sandboxes are there: each as an agent would, the others idle."""
    for session in crowd.sessions[: max(10, bench.runs)]:
        crowd.attempt("command, others idle", partial(_runs, session))
        seconds, _ = timed(_plain)
        crowd.times.took("plain process", seconds)


def _plain() -> None:
    subprocess.run(TRUE, capture_output=True, check=True)


def _bare(bench: Bench, views: list[View]) -> float:
    """Seconds for as many bare sandboxes, started by as many threads as ours may start at once."""
    with ThreadPoolExecutor(bench.host.starts) as pool:
        return timed(lambda: list(pool.map(lambda view: bench.bare(view, TRUE), views)))[0]


def _harness() -> dict[str, int]:
    """Of this process: threads, open files, and bytes of memory (Pss)."""
    status = Path("/proc/self/status").read_text()
    threads = next(line.split()[1] for line in status.splitlines() if line.startswith("Threads:"))
    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    return {"threads": int(threads), "open files": files, "memory": _pss(os.getpid())}


def _pss(pid: int) -> int:
    """A process's memory in bytes, shared pages divided among those who share; 0 when not to be seen."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _facts(crowd: Crowd, before: dict[str, int]) -> None:
    alive = sum(each.alive for each in crowd.sessions)
    if not alive:
        return
    now = _harness()
    inside = [pid for each in crowd.sessions for pid in each.processes()]
    memory = sum(map(_pss, inside))
    crowd.facts = {
        "sandboxes alive together": str(alive),
        "processes of a sandbox": f"{len(inside) / alive:.1f}",
        "MiB of a sandbox (Pss)": mib(memory / alive) if memory else "not to be seen",
        "threads of the harness": f"{before['threads']} → {now['threads']}",
        "open files of the harness": f"{before['open files']} → {now['open files']}",
        "MiB of the harness (Pss)": f"{mib(before['memory'])} → {mib(now['memory'])}",
        "processor time of the harness in 2 s, all idle, %": f"{_idle():.1f}",
    }


def _idle() -> float:
    """Per cent of one processor that this process uses while nothing is asked of it."""
    used, started = time.process_time(), time.monotonic()
    time.sleep(2)
    return 100 * (time.process_time() - used) / (time.monotonic() - started)


def _report(crowd: Crowd, bench: Bench, bare: float) -> Part:
    part = Part(f"{bench.at_once} sandboxes at once")
    part.ratios.append(Ratio("sandboxes or commands failed", len(crowd.failures), 0, "failed"))
    walls = {name: sum(seconds) for name, seconds in crowd.walls.seconds.items()}
    lives = walls["start"] + walls["command"] + walls["close"]
    part.ratios.append(
        Ratio("all started, used and closed / bare bwrap", lives / bare, None, "of bare")
    )
    if "command, others idle" in crowd.times.seconds:
        part.ratios.append(crowd.times.ratio("command, others idle", "plain process"))
    if crowd.times.seconds.get("start"):
        part.tables.append(crowd.times.table("Each, waiting included", "step"))
    rows = [(f"all: {name}", f"{seconds:.2f} s") for name, seconds in walls.items()]
    last = max(crowd.times.seconds.get("start", [0.0]))
    rows.append(("until the last was started", f"{last:.2f} s"))
    rows.append((f"all: bare bwrap, {bench.host.starts} at once", f"{bare:.2f} s"))
    rows.extend(crowd.facts.items())
    part.tables.append(Table("All together", ("fact", "value"), tuple(rows)))
    part.notes.append(
        f"At most {bench.host.starts} sandboxes start at the same time; each of {bench.at_once} "
        "threads waits for its turn, uses its sandbox at once with all others, and closes it."
    )
    part.notes.extend(f"Failed: {text}" for text in sorted(set(crowd.failures))[:5])
    return part
