"""No sandbox at all: commands run as the harness's user, beside everything else on the machine.

For trying an agent of one's own on a machine that has nothing better. What ran here is never scored.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

from expbench.sandboxes.spawning import spawn
from expbench.sandboxes.watch import processes_below

_PATIENCE = 5.0


class LocalBox:
    """The supervisor as an ordinary process in a workspace's folder."""

    provider = "local"

    def __init__(self, folder: Path) -> None:
        program = str(Path(__file__).with_name("supervisor.py"))
        self.workspace = str(folder)
        self._process, self._channel = spawn(
            lambda channel: [sys.executable, "-I", "-S", program, str(channel)], cwd=str(folder)
        )

    @property
    def channel(self) -> socket.socket:
        return self._channel

    def alive(self) -> bool:
        return self._process.poll() is None

    def processes(self) -> list[int]:
        return processes_below([self._process.pid])[self._process.pid]

    def kill(self) -> None:
        """The supervisor, once its channel is closed, kills all below it: what it keeps cannot leave."""
        self._channel.close()
        deadline = time.monotonic() + _PATIENCE
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        if self.alive():
            for process in [*self.processes(), self._process.pid]:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def said(self) -> str:
        stderr = self._process.stderr
        if stderr is None or stderr.closed or self.alive():
            return ""
        return stderr.read().decode(errors="replace").strip()
