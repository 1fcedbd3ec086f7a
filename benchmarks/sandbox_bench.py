"""What all parts of the sandbox benchmark share: workspaces, and measuring things in turn."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from measuring import SUMMARY_COLUMNS, Ratio, Summary, Table, timed

from expbench.dataset import load_suite
from expbench.paths import CachePaths
from expbench.sandboxes import bubblewrap, seccomp
from expbench.sandboxes.host import SandboxHost, other_owner, remove
from expbench.sandboxes.mounts import Inside, arguments
from expbench.sandboxes.session import Session
from expbench.sandboxes.spawning import memory_file
from expbench.schema import Policy
from expbench.workspace import Prepared, SourceFinder, View

TRUE = ("/bin/true",)
IDLE_PYTHON = ("-I", "-S", "-c", "pass")


@dataclass
class Bench:
    """What is to be measured, and where. What ``stack`` holds is closed at the end of the run."""

    scratch: Path
    runs: int
    at_once: int
    output_mib: int
    engine: str | None
    image: str
    stack: ExitStack

    @property
    def cache(self) -> CachePaths:
        return CachePaths(self.scratch / "cache")

    @cached_property
    def host(self) -> SandboxHost:
        """Makes bubblewrap sandboxes with the default policy. Raises PrerequisiteError."""
        bubblewrap.check()
        return SandboxHost(self.cache)

    @cached_property
    def prepared(self) -> Prepared:
        """A task of the embedded suite."""
        task = load_suite("mini").tasks[0]
        return SourceFinder(self.cache.repos, owner=other_owner()).prepared(task)

    @contextmanager
    def folder(self) -> Iterator[View]:
        """An empty workspace that is a plain folder."""
        made = Path(tempfile.mkdtemp(dir=self.scratch))
        if (owner := other_owner()) is not None:
            os.chown(made, owner, owner)
        try:
            yield View("copy", made)
        finally:
            remove(made)

    @contextmanager
    def overlay(self) -> Iterator[View]:
        """A task's workspace as an attempt gets it: an overlay where this machine mounts one."""
        view = self.host.open(self.prepared)
        try:
            yield view
        finally:
            remove(view.folder)

    def session(self, policy: Policy | None = None) -> Session:
        """A sandbox that runs until the benchmark ends."""
        view = self.stack.enter_context(self.folder())
        return self.stack.enter_context(self.host.start(view, policy))

    def bare(self, view: View, argv: Sequence[str], filtered: bool = True) -> None:
        """Run a command in bubblewrap with the mounts, flags and stage of a sandbox, and nothing of ours.

        Args:
            filtered: whether system calls are filtered.
        """
        inside = Inside(self.host.python(), (self.cache.root,))
        program = memory_file("seccomp", seccomp.program())
        try:
            whole = arguments(view, inside, 0, program)
            ours = len(whole) - whole[::-1].index("--")
            bwrap = [*whole[:ours], *argv]
            if not filtered:
                place = bwrap.index("--seccomp")
                del bwrap[place : place + 2]
            process = subprocess.Popen(
                bwrap,
                pass_fds=[program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={},
                cwd="/",
                start_new_session=True,
            )
            _, said = process.communicate()
        finally:
            os.close(program)
        if process.returncode != 0:
            raise RuntimeError(f"bare bwrap failed: {said.decode(errors='replace')}")

    @cached_property
    def interpreter(self) -> str:
        """The Python that sandboxes have."""
        return str(self.host.python().interpreter)


@dataclass
class Times:
    """Seconds by what took them."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def took(self, name: str, seconds: float) -> None:
        self.seconds.setdefault(name, []).append(seconds)

    def median(self, name: str) -> float:
        return Summary.of(self.seconds[name]).median

    def ratio(
        self, name: str, base: str, wanted: float | None = None, unit: str = "of bare"
    ) -> Ratio:
        """The ratio of two medians."""
        return Ratio(f"{name} / {base}", self.median(name) / self.median(base), wanted, unit)

    def table(self, title: str, first: str, base: str | None = None) -> Table:
        """All medians; with ``base``, the last column is their ratio to that one's."""
        rows = []
        for name, seconds in self.seconds.items():
            ratio = (f"{self.median(name) / self.median(base):.2f}",) if base else ()
            rows.append((name, *cells(Summary.of(seconds)), *ratio))
        columns = (first, *SUMMARY_COLUMNS, *(("ratio",) if base else ()))
        return Table(title, columns, tuple(rows))


def cells(summary: Summary) -> tuple[str, ...]:
    """A summary's cells with hundredths of milliseconds, for what takes few of them."""
    count, total, *_ = summary.cells()
    return (count, total, f"{summary.median * 1000:.2f}", f"{summary.p95 * 1000:.2f}")


def in_turn(rounds: int, actions: Mapping[str, Callable[[], object]]) -> Times:
    """Time actions ``rounds`` times, forwards and backwards in turn, after a round that is not counted.

    An action that gives a number has timed itself, in seconds.
    """
    times = Times()
    for number in range(-1, rounds):
        for name in actions if number % 2 else reversed(list(actions)):
            seconds, own = timed(actions[name])
            if number >= 0:
                times.took(name, own if isinstance(own, float) else seconds)
    times.seconds = {name: times.seconds[name] for name in actions}
    return times


def cycle(
    host: SandboxHost,
    view: View,
    times: Times | None = None,
    argv: Sequence[str] = TRUE,
    **options: object,
) -> float:
    """Seconds of a whole sandbox's life: started, one command, closed."""
    started, session = timed(lambda: host.start(view, **options))  # type: ignore[arg-type]
    ran, done = timed(lambda: session.run(argv))
    closed, _ = timed(session.close)
    if done.exit_code != 0:
        raise RuntimeError(f"the command failed in a sandbox: {done}")
    for name, seconds in (("start", started), ("first command", ran), ("close", closed)):
        if times is not None:
            times.took(name, seconds)
    return started + ran + closed
