"""A running sandbox: namespaces that live as long as the task, and commands that end when told.

Blocking and free of any event loop; the Inspect provider and the re-execution both stand on it. A
command's output is read with flat memory, head and tail kept. A time-out kills the command and all that
it started, and only that; closing the session kills everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from expbench.errors import SandboxError
from expbench.sandboxes import bubblewrap
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.streams import Pipes, Pump
from expbench.schema import Enforced, Limits
from expbench.workspace import View

_SPAWNER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="expbench-spawn")
"""The parent-death signal belongs to the spawning thread, so one long-lived thread spawns all."""


@dataclass(frozen=True)
class Completed:
    """A command's result. ``stdout`` and ``stderr`` are bytes, cut in the middle where too long."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    error: str = ""
    """Why the command could not be started (``ENOENT: …``)."""


class Session:
    """One bubblewrap sandbox over a workspace's view. A context manager; ``close`` kills all of it."""

    def __init__(
        self,
        view: View,
        python: PythonEnvironment,
        limits: Limits,
        hidden: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.view = view
        self._extra = dict(environment or {})
        self.limits = limits
        self._python = python
        self._held: list[tuple[int, int]] = []
        self._lock = threading.Lock()
        self._process, self._channel = _SPAWNER.submit(_start, view, python, hidden).result()
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def python_path(self) -> str:
        """Where the sandbox's further Python packages are, as ``PYTHONPATH``."""
        return self._python.python_path

    @property
    def enforced(self) -> Enforced:
        """How each limit is enforced here; what stands not in it is not."""
        limits = {
            "minutes": "the whole process tree is killed",
            "output_mib": f"{self.limits.output_mib} MiB of each stream kept, head and tail",
            "network": "own namespace without a route",
            "filesystem": "system read-only, root and /dev sealed",
        }
        if self.limits.processes:
            limits["processes"] = f"{self.limits.processes} by rlimit"
        if self.limits.memory_mib:
            limits["memory_mib"] = f"{self.limits.memory_mib} MiB of address space for each process"
        if self.limits.file_mib:
            limits["file_mib"] = f"{self.limits.file_mib} MiB for each file by rlimit"
        return Enforced(provider="bwrap", workspace=self.view.kind, limits=limits)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = bubblewrap.WORKSPACE,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_cap: int | None = None,
        cancelled: threading.Event | None = None,
    ) -> Completed:
        """Run a command to its end, to ``timeout`` seconds or until ``cancelled`` is set.

        Raises:
            SandboxError: the sandbox is dead.
        """
        cap = output_cap or self.limits.output_mib * 1024**2
        pipes = Pipes.open()
        try:
            self._send(argv, cwd, env or {}, pipes)
            return self._pump(pipes, stdin, cap, timeout, cancelled)
        finally:
            pipes.close()

    def close(self) -> None:
        """Kill every process of the sandbox and wait until they are gone. May be called twice."""
        with self._lock:
            for status, control in self._held:
                os.close(status)
                os.close(control)
            self._held.clear()
        self._channel.close()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def _greet(self) -> None:
        """Wait for the supervisor, so that a sandbox that cannot start says why at once."""
        self._channel.settimeout(30)
        try:
            self._channel.send(b"ping")
            answer = self._channel.recv(16)
        except OSError:
            answer = b""
        if answer != b"pong":
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
            stderr = self._process.stderr
            said = (
                stderr.read().decode(errors="replace").strip() if stderr and not self.alive else ""
            )
            raise SandboxError(f"the sandbox did not start: {said[-500:] or 'no answer'}")

    def _send(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], pipes: Pipes) -> None:
        request = {
            "argv": list(argv),
            "cwd": cwd,
            "env": {**self._environment(), **env},
            "rlimits": self._rlimits(),
        }
        memory = os.memfd_create("request")
        try:
            with os.fdopen(memory, "wb", closefd=False) as file:
                file.write(json.dumps(request).encode())
            os.lseek(memory, 0, os.SEEK_SET)
            socket.send_fds(self._channel, [b"run"], [memory, *pipes.inside])
        except OSError:
            raise SandboxError("the sandbox is dead: its first process has ended") from None
        finally:
            os.close(memory)
        pipes.close_inside()

    def _pump(
        self,
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
        return self._completed(pipes, pump, time.monotonic() - started)

    def _completed(self, pipes: Pipes, pump: Pump, seconds: float) -> Completed:
        stdout, stderr = pump.stdout.value(), pump.stderr.value()
        if pump.timed_out:
            self._end(pipes)
            return Completed(124, stdout, stderr, seconds, timed_out=True)
        try:
            status = json.loads(pump.answer)
        except ValueError:
            if not self.alive or not self._responds():
                raise SandboxError("the sandbox died while a command ran in it") from None
            return Completed(137, stdout, stderr, seconds, error="its keeper was killed")
        if "error" in status:
            return Completed(127, stdout, stderr, seconds, error=str(status["error"]))
        self._hold(pipes)
        return Completed(int(status["exit"]), stdout, stderr, seconds)

    def _end(self, pipes: Pipes) -> None:
        """Have the keeper kill the command's whole tree; kill the sandbox when that takes a second."""
        pipes.close_one("control")
        deadline = time.monotonic() + 1.0
        with selectors.DefaultSelector() as selector:
            selector.register(pipes.status, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                if selector.select(0.05) and not os.read(pipes.status, 4096):
                    return
        self.close()

    def _hold(self, pipes: Pipes) -> None:
        """Keep a returned command's background jobs alive until the session ends."""
        with self._lock:
            self._held = [pair for pair in self._held if not _closed(pair)]
            self._held.append((pipes.take("status"), pipes.take("control")))

    def _responds(self) -> bool:
        with self._lock:
            try:
                self._channel.settimeout(5)
                self._channel.send(b"ping")
                return self._channel.recv(16) == b"pong"
            except OSError:
                return False

    def _environment(self) -> dict[str, str]:
        packages = {"PYTHONPATH": self._python.python_path} if self._python.packages else {}
        return {
            **packages,
            **self._extra,
            "PATH": f"{self._python.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": bubblewrap.HOME,
            "USER": "agent",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TMPDIR": "/tmp",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "VIRTUAL_ENV": self._python.mount,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }

    def _rlimits(self) -> dict[str, int]:
        limits = {"CORE": 0}
        if self.limits.processes:
            limits["NPROC"] = self.limits.processes
        if self.limits.memory_mib:
            limits["AS"] = self.limits.memory_mib * 1024**2
        if self.limits.file_mib:
            limits["FSIZE"] = self.limits.file_mib * 1024**2
        return limits


def _start(
    view: View, python: PythonEnvironment, hidden: Sequence[Path]
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        command = bubblewrap.arguments(view, python, theirs.fileno(), hidden)
        process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise SandboxError(f"the sandbox did not start: {error}") from None
    finally:
        theirs.close()
    return process, ours


def _closed(pair: tuple[int, int]) -> bool:
    """Whether a held command's keeper has ended; closes our ends then."""
    with selectors.DefaultSelector() as selector:
        selector.register(pair[0], selectors.EVENT_READ)
        if not selector.select(0) or os.read(pair[0], 4096):
            return False
    for fd in pair:
        os.close(fd)
    return True
