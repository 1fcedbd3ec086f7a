"""A command's five pipes, and reading them to its end with flat memory."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

GRACE = 0.2
"""Seconds without output after which an ended command's pipes are closed, though a background job
holds them."""

DRAIN = 2.0
"""Seconds after a command's end in which a background job's output is still taken for the command's."""

_CHUNK = 1 << 16


@dataclass
class Tail:
    """The head and the tail of a stream, within ``cap`` bytes."""

    cap: int
    head: bytearray = field(default_factory=bytearray)
    total: int = 0
    _tail: deque[bytes] = field(default_factory=deque)
    _held: int = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.cap // 2 - len(self.head)
        if room > 0:
            self.head += chunk[:room]
            chunk = chunk[room:]
        self._tail.append(chunk)
        self._held += len(chunk)
        while self._held - len(self._tail[0]) >= self._room:
            self._held -= len(self._tail.popleft())

    @property
    def _room(self) -> int:
        return self.cap - self.cap // 2

    def value(self) -> bytes:
        tail = b"".join(self._tail)[-self._room :]
        dropped = self.total - len(self.head) - len(tail)
        note = f"\n[… {dropped} bytes left out …]\n".encode() if dropped else b""
        return bytes(self.head) + note + tail


@dataclass
class Pipes:
    """The five pipes of a command: our ends by name, the sandbox's ends as a list."""

    stdin: int
    stdout: int
    stderr: int
    status: int
    control: int
    inside: list[int]

    @classmethod
    def open(cls, joined: bool = False) -> Pipes:
        """New ones; ``joined`` has standard error come out with standard output."""
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        err_read, err_write = (os.dup(out_read), os.dup(out_write)) if joined else os.pipe()
        status_read, status_write = os.pipe()
        control_read, control_write = os.pipe()
        inside = [in_read, out_write, err_write, status_write, control_read]
        return cls(in_write, out_read, err_read, status_read, control_write, inside)

    def close_inside(self) -> None:
        while self.inside:
            os.close(self.inside.pop())

    def close_one(self, name: str) -> None:
        fd = self.take(name)
        if fd >= 0:
            os.close(fd)

    def take(self, name: str) -> int:
        """Give an end away; it will not be closed with the others."""
        fd: int = getattr(self, name)
        setattr(self, name, -1)
        return fd

    def close(self) -> None:
        self.close_inside()
        for name in ("stdin", "stdout", "stderr", "status", "control"):
            self.close_one(name)


class Attached:
    """A command that runs beside others; its streams are file descriptors of this process's.

    ``stdin`` is written to; ``output``, both of its streams, is read and ends with it. Closing it
    kills all that it started.
    """

    def __init__(self, pipes: Pipes, end: Callable[[], None]) -> None:
        self._pipes = pipes
        self._end = end
        self._lock = threading.Lock()

    @property
    def stdin(self) -> int:
        return self._pipes.stdin

    @property
    def output(self) -> int:
        return self._pipes.stdout

    def close(self) -> None:
        """May be called twice."""
        with self._lock:
            if self._pipes.stdin >= 0:
                self._end()
                self._pipes.close()


class Pump:
    """Feeds a command's stdin and reads its streams and its status, until it has ended or must.

    After :meth:`run`, ``stdout`` and ``stderr`` hold what was kept, ``answer`` what the keeper said
    and ``timed_out`` whether the command has to be ended.
    """

    def __init__(self, pipes: Pipes, stdin: bytes, cap: int) -> None:
        self.stdout = Tail(cap)
        self.stderr = Tail(cap)
        self.answer = b""
        self.timed_out = False
        self._pipes = pipes
        self._input = memoryview(stdin)
        self._tails = {pipes.stdout: self.stdout, pipes.stderr: self.stderr}
        self._ended_at: float | None = None
        self._last_output = 0.0

    def run(self, deadline: float | None, cancelled: threading.Event | None) -> None:
        """Read until both streams are closed, the command's end is past, or ``deadline`` is."""
        with selectors.DefaultSelector() as selector:
            self._register(selector)
            while selector.get_map():
                now = time.monotonic()
                if self._ended_at is None:
                    late = deadline is not None and now > deadline
                    if late or (cancelled is not None and cancelled.is_set()):
                        self.timed_out = True
                        return
                elif self._drained(now, self._ended_at):
                    return
                for key, _ in selector.select(_until(deadline, now)):
                    self._serve(selector, key.fd)

    def _register(self, selector: selectors.BaseSelector) -> None:
        for fd in (*self._tails, self._pipes.status):
            selector.register(fd, selectors.EVENT_READ)
        if self._input:
            os.set_blocking(self._pipes.stdin, False)
            selector.register(self._pipes.stdin, selectors.EVENT_WRITE)
        else:
            self._pipes.close_one("stdin")

    def _drained(self, now: float, ended_at: float) -> bool:
        """Whether enough was read after the end, though something still holds the pipes."""
        return now - max(self._last_output, ended_at) > GRACE or now - ended_at > DRAIN

    def _serve(self, selector: selectors.BaseSelector, fd: int) -> None:
        if fd == self._pipes.stdin:
            self._input = _feed(fd, self._input)
            if not self._input:
                selector.unregister(fd)
                self._pipes.close_one("stdin")
            return
        chunk = os.read(fd, _CHUNK)
        if not chunk:
            selector.unregister(fd)
        if fd == self._pipes.status:
            self.answer += chunk
            self._ended_at = self._ended_at or time.monotonic()
        else:
            self._tails[fd].add(chunk)
            self._last_output = time.monotonic()


def _until(deadline: float | None, now: float) -> float:
    """Seconds until something is to be looked at again."""
    return 0.05 if deadline is None else min(0.05, max(0.0, deadline - now))


def _feed(fd: int, view: memoryview) -> memoryview:
    try:
        return view[os.write(fd, view[:_CHUNK]) :]
    except BlockingIOError:
        return view
    except BrokenPipeError:
        return view[:0]
