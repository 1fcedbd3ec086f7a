"""A running sandbox: namespaces that live as long as the task, and commands that end when told.

Blocking and free of any event loop; the Inspect provider and the re-execution both stand on it, and it
is the same for every kind of box. A command's output is read with flat memory, head and tail kept. A
time-out kills the command and all that it started, and only that; closing the session kills everything.
"""

from __future__ import annotations

import contextlib
import itertools
import marshal
import os
import select
import selectors
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expbench.errors import SandboxError
from expbench.sandboxes.box import Box
from expbench.sandboxes.holding import Hold
from expbench.sandboxes.spawning import memory_file
from expbench.sandboxes.streams import Attached, Pipes, Pump
from expbench.schema import Enforced
from expbench.workspace import View

_STABLE = 2
"""The marshal format that every Python 3 reads."""


@dataclass(frozen=True)
class Completed:
    """A command's result. ``stdout`` and ``stderr`` are bytes, cut in the middle where too long."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    error: str = ""
    """Why the command could not be started (``ENOENT: …``), or that its keeper was killed."""
    cpu_seconds: float | None = None
    """Processor time of its processes that have ended; ``None`` where it was not told."""
    memory_mib: float | None = None
    """The most that one process of it used, resident."""
    killed: bool = False
    """Whether it ended because something inside killed what kept it: it had started."""


class SandboxEndedError(SandboxError):
    """A sandbox that ended while a command ran in it; ``done`` is what the command had given so far."""

    def __init__(self, sentence: str, done: Completed) -> None:
        super().__init__(sentence)
        self.done = done


@dataclass(frozen=True)
class Excess:
    """A limit that the sandbox was ended for: its name, and a sentence."""

    limit: str
    sentence: str


class Session(ABC):
    """One sandbox over a workspace's view. A context manager; ``close`` kills all of it.

    ``excess`` is the limit that it was ended for, if one was.
    """

    view: View
    excess: Excess | None = None

    @property
    def memory_kill(self) -> str:
        """A sentence where a process inside was killed because memory ran out; else empty."""
        return ""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    @abstractmethod
    def alive(self) -> bool: ...

    @property
    @abstractmethod
    def workspace(self) -> str:
        """The workspace's path inside."""

    @property
    @abstractmethod
    def python_path(self) -> str:
        """Where the sandbox's further Python packages are, as ``PYTHONPATH``."""

    @property
    @abstractmethod
    def enforced(self) -> Enforced:
        """How each limit is enforced here; what stands not in it is not."""

    @abstractmethod
    def processes(self) -> list[int]:
        """Ids, on the host, of everything that runs inside; empty where the host does not see it."""

    @abstractmethod
    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_cap: int | None = None,
        cancelled: threading.Event | None = None,
    ) -> Completed:
        """Run a command to its end, to ``timeout`` seconds or until ``cancelled`` is set.

        Args:
            cwd: a path inside, by default the workspace, to which others are relative.

        Raises:
            SandboxError: the sandbox is dead; ``excess`` tells when a limit ended it.
        """

    def attach(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> Attached:
        """Start a command whose streams the caller serves, in the workspace, until it is closed.

        Raises:
            NotImplementedError: this kind of sandbox has no such streams.
            SandboxError: the sandbox is dead.
        """
        raise NotImplementedError("this sandbox cannot be entered from outside")

    @abstractmethod
    def close(self) -> None:
        """Kill every process of the sandbox and wait until they are gone. May be called twice."""


class BoxSession(Session):
    """A session with the supervisor in a box.

    Args:
        hold: how its limits are held; it is let go of at the end.
        environment: the variables of every command.

    Raises:
        SandboxError: it did not start.
    """

    def __init__(
        self, box: Box, view: View, hold: Hold, environment: Mapping[str, str] | None = None
    ) -> None:
        self.view = view
        self._box = box
        self._hold = hold
        self._base = dict(environment or {})
        self._held: list[int] = []
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._memory_kill = ""
        try:
            hold.begin(box.processes, self._exceeded)
            self._greet()
            hold.admit(box.processes, everyone=True)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self._box.alive()

    @property
    def memory_kill(self) -> str:
        return self._memory_kill or self._hold.memory_kill()

    def processes(self) -> list[int]:
        known = self._hold.processes()
        return self._box.processes() if known is None else known

    @property
    def workspace(self) -> str:
        return self._box.workspace

    @property
    def python_path(self) -> str:
        return self._base.get("PYTHONPATH", "")

    @property
    def enforced(self) -> Enforced:
        return self._hold.enforced.model_copy(update={"workspace": self.view.kind})

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_cap: int | None = None,
        cancelled: threading.Event | None = None,
    ) -> Completed:
        cap = output_cap or self._hold.limits.output_mib * 1024**2
        pipes = Pipes.open()
        try:
            number = next(self._numbers)
            self._send(number, argv, os.path.join(self.workspace, cwd or ""), env or {}, pipes)
            return self._pump(number, pipes, stdin, cap, timeout, cancelled)
        finally:
            pipes.close()

    def attach(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> Attached:
        pipes = Pipes.open(joined=True)
        number = next(self._numbers)
        try:
            self._send(number, argv, self.workspace, env or {}, pipes)
        except BaseException:
            pipes.close()
            raise
        return Attached(pipes, lambda: self._end(number, pipes))

    def close(self) -> None:
        with self._lock:
            for control in self._held:
                os.close(control)
            self._held.clear()
        self._box.kill()
        self._hold.end()

    def _exceeded(self, limit: str, sentence: str) -> None:
        """What the watch found; what it could not mend by killing one process ends the sandbox."""
        if limit == "memory_mib":
            self._memory_kill = sentence
        if limit in self._hold.fatal and self.excess is None:
            self.excess = Excess(limit, sentence)
            self._box.kill()

    def _greet(self) -> None:
        """Wait for the supervisor, so that a sandbox that cannot start says why at once."""
        if not self._ping(30):
            said = self._box.said()[-500:]
            raise SandboxError(f"the sandbox did not start: {said or 'no answer'}")

    def _ping(self, timeout: float) -> bool:
        try:
            self._box.channel.settimeout(timeout)
            self._box.channel.send(b"ping")
            return self._box.channel.recv(16) == b"pong"
        except OSError:
            return False

    def _send(
        self, number: int, argv: Sequence[str], cwd: str, env: Mapping[str, str], pipes: Pipes
    ) -> None:
        request = {
            "argv": list(argv),
            "cwd": cwd,
            "env": {**self._base, **env},
            "rlimits": self._hold.rlimits,
        }
        memory = memory_file("request", marshal.dumps(request, _STABLE))
        try:
            socket.send_fds(self._box.channel, [b"run %d" % number], [memory, *pipes.inside])
        except OSError:
            raise SandboxError(self._dead("its first process has ended")) from None
        finally:
            os.close(memory)
        pipes.close_inside()

    def _pump(
        self,
        number: int,
        pipes: Pipes,
        stdin: bytes,
        cap: int,
        timeout: float | None,
        cancelled: threading.Event | None,
    ) -> Completed:
        """Serve the command's pipes until it has ended or must, and say how it ended."""
        started = time.monotonic()
        pump = Pump(pipes, stdin, cap)
        pump.run(None if timeout is None else started + timeout, cancelled)
        return self._completed(number, pipes, pump, time.monotonic() - started)

    def _completed(self, number: int, pipes: Pipes, pump: Pump, seconds: float) -> Completed:
        stdout, stderr = pump.stdout.value(), pump.stderr.value()
        if pump.timed_out:
            self._end(number, pipes)
            return Completed(124, stdout, stderr, seconds, timed_out=True)
        word, _, told = pump.answer.decode("utf-8", "replace").strip().partition(" ")
        if word not in ("exit", "error"):
            if not self.alive or not self._responds():
                so_far = Completed(137, stdout, stderr, seconds)
                raise SandboxEndedError(self._dead("it ended while a command ran in it"), so_far)
            why = "its keeper was killed"
            return Completed(137, stdout, stderr, seconds, error=why, killed=True)
        if word == "error" and told.startswith("ETOOMANYREFS"):
            raise SandboxError("this user has too many files in flight to start a command")
        if word == "error":
            return Completed(127, stdout, stderr, seconds, error=told)
        self._keep(pipes)
        code, cpu, memory = told.split()
        return Completed(
            int(code),
            stdout,
            stderr,
            seconds,
            cpu_seconds=float(cpu),
            memory_mib=int(memory) / 1024,
        )

    def _end(self, number: int, pipes: Pipes) -> None:
        """Kill the command's whole tree: by its keeper, else by the supervisor, else the whole sandbox."""
        pipes.close_one("control")
        if _ended(pipes.status, 0.5):
            return
        with contextlib.suppress(OSError):
            self._box.channel.send(b"end %d" % number)
        if not _ended(pipes.status, 2.0):
            self.close()

    def _keep(self, pipes: Pipes) -> None:
        """Keep a returned command's background jobs alive until the session ends."""
        with self._lock:
            self._held = [control for control in self._held if not _let_go(control)]
            self._held.append(pipes.take("control"))

    def _responds(self) -> bool:
        with self._lock:
            return self._ping(5)

    def _dead(self, how: str) -> str:
        return self.excess.sentence if self.excess else f"the sandbox is dead: {how}"


def _ended(status: int, seconds: float) -> bool:
    """Whether everything that holds the other end of a pipe is gone within that time."""
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(status, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            if selector.select(0.05) and not os.read(status, 4096):
                return True
    return False


def _let_go(control: int) -> bool:
    """Whether the keeper at the other end has ended, and with it all jobs; closes our end then."""
    poller = select.poll()
    poller.register(control, 0)
    if not poller.poll(0):
        return False
    os.close(control)
    return True
