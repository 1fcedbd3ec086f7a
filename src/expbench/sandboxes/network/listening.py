"""Where gateways listen, and the one thread that serves all of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from expbench.errors import SandboxError
from expbench.sandboxes.environment import sandbox_uid

_BACKLOG = 128


def listen(place: Path) -> socket.socket:
    """A listening socket that only the sandboxes' user reaches; its folder is made when missing.

    Raises:
        SandboxError: it could not be made.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            # Through the descriptor, for a socket's path may have 107 bytes only.
            listener.bind(f"/proc/self/fd/{folder}/{place.name}")
        finally:
            os.close(folder)
        for path, mode in ((place, 0o600), (place.parent, 0o700)):
            path.chmod(mode)
            if os.geteuid() == 0:
                os.chown(path, sandbox_uid(), sandbox_uid())
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise SandboxError(f"No gateway at {place}: {error.strerror}.") from None
    return listener


class _Thread:
    """An event loop in a thread of its own, alive as long as somebody uses it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def loop(self) -> Iterator[asyncio.AbstractEventLoop]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="expbench-gateways", daemon=True
                )
                self._thread.start()
            self._users += 1
            loop = self._loop
        try:
            yield loop
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users or self._loop is None or self._thread is None:
                return
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
            self._loop = self._thread = None


SHARED = _Thread()
