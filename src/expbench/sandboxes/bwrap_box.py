"""One bubblewrap sandbox as a box: its processes live in a namespace that ends with its first one."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from expbench.sandboxes import seccomp
from expbench.sandboxes.mounts import WORKSPACE, Inside, arguments
from expbench.sandboxes.spawning import memory_file, spawn
from expbench.sandboxes.watch import processes_below
from expbench.workspace import View

_PATIENCE = 10.0
"""Seconds in which the kernel has ended a namespace."""


class BwrapBox:
    """Started by being made. Raises SandboxError when there is no starting it."""

    provider = "bwrap"
    workspace = WORKSPACE

    def __init__(
        self,
        view: View,
        inside: Inside,
        processors: Sequence[int] = (),
        mapped_only: bool = False,
    ) -> None:
        program = seccomp.program(pin_cpus=bool(processors), mapped_only=mapped_only)
        filter_fd = memory_file("seccomp", program)
        try:
            self._process, self._channel = spawn(
                lambda channel: arguments(view, inside, channel, filter_fd),
                [filter_fd],
                processors,
            )
        finally:
            os.close(filter_fd)

    @property
    def channel(self) -> socket.socket:
        return self._channel

    @property
    def process(self) -> int:
        """The id of the process that we started; what is inside is below it."""
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def processes(self) -> list[int]:
        return processes_below([self._process.pid])[self._process.pid]

    def kill(self) -> None:
        # The first process inside ends when all others there have, which this process need not wait for.
        inside = _first_inside(self._process.pid) if self.alive() else None
        self._channel.close()
        if self.alive():
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        if inside is not None:
            select.select([inside], [], [], _PATIENCE)
            os.close(inside)
        if self._process.stderr is not None:
            self._process.stderr.close()

    def said(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        stderr = self._process.stderr
        if stderr is None or stderr.closed or self.alive():
            return ""
        return stderr.read().decode(errors="replace").strip()


def _first_inside(outer: int) -> int | None:
    """A handle of bubblewrap's child, the first process of the namespace; none when it has ended."""
    for process in _below(outer):
        with contextlib.suppress(OSError):
            return os.pidfd_open(process)
    return None


def _below(outer: int) -> list[int]:
    """What a process has started: its children, or all below it on a kernel that keeps no list of them."""
    try:
        words = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
    except OSError:
        return [each for each in processes_below([outer])[outer] if each != outer]
    return [int(word) for word in words]
