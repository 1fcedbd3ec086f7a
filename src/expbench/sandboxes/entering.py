"""A door into a running sandbox for the person who runs the harness.

The harness listens on a unix socket in a folder that only its user can open. Who connects gets a
shell inside, started like every other command of the sandbox, so that the same limits hold for what is done
there. The client, :func:`enter`, passes on frames as :mod:`expbench.sandboxes.terminal` takes them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
import threading
import tty
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from expbench.errors import NotFoundError
from expbench.sandboxes.session import Session
from expbench.sandboxes.streams import Attached

NAME = "door"
SHELL = ("bash", "--login", "-i")

_TERMINAL = Path(__file__).with_name("terminal.py")
_HEAD = struct.Struct("!cI")
_CHUNK = 1 << 16
_TERM = "xterm-256color"


class Entrance:
    """Lets people in until it is closed.

    Args:
        session: the sandbox.
        folder: private to this user; the socket is made in it.
        argv: what a visitor gets.
    """

    def __init__(
        self,
        session: Session,
        folder: Path,
        argv: Sequence[str] = SHELL,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.path = folder / NAME
        self._session = session
        self._argv = ["python3", "-I", "-S", "-c", _TERMINAL.read_text("utf-8"), *argv]
        self._variables = {"TERM": _TERM, **(variables or {})}
        self._visitors: set[Attached] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _short(self.path) as place:
            self._listener.bind(place)
        os.chmod(self.path, 0o600)
        self._listener.listen(4)
        threading.Thread(target=self._listen, name="expbench-door", daemon=True).start()

    def close(self) -> None:
        """Nobody comes in any more, and whoever is in is out. May be called twice."""
        with self._lock:
            self._closed = True
            visitors = list(self._visitors)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for visitor in visitors:
            visitor.close()
        self.path.unlink(missing_ok=True)

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(Exception):
            visitor = self._session.attach(self._argv, self._variables)
            with self._lock:
                self._visitors.add(visitor)
            try:
                if not self._closed:
                    _relay(client, visitor)
            finally:
                with self._lock:
                    self._visitors.discard(visitor)
                visitor.close()


def _relay(client: socket.socket, visitor: Attached) -> None:
    """Pass bytes on in both directions until either side ends."""
    while True:
        ready, _, _ = select.select([client.fileno(), visitor.output], [], [])
        if visitor.output in ready:
            shown = os.read(visitor.output, _CHUNK)
            if not shown:
                return
            client.sendall(shown)
        if client.fileno() in ready:
            typed = client.recv(_CHUNK)
            if not typed:
                return
            while typed:
                typed = typed[os.write(visitor.stdin, typed) :]


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """A name of a socket's that fits into its address, however deep its folder lies."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def enter(path: Path) -> None:
    """Be inside until the shell there ends, or standard input does.

    Raises:
        NotFoundError: there is no such door (any more).
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(path) as place:
            connection.connect(place)
    except OSError as error:
        connection.close()
        raise NotFoundError(
            f"{path} leads into no sandbox ({error.strerror}): its task has ended, or it is another user's."
        ) from None
    with connection, _raw(sys.stdin.fileno()):
        _converse(connection)


def _converse(connection: socket.socket) -> None:
    keyboard, screen = sys.stdin.fileno(), sys.stdout.fileno()

    def resize(number: int = 0, frame: FrameType | None = None) -> None:
        if os.isatty(keyboard):
            size = fcntl.ioctl(keyboard, termios.TIOCGWINSZ, b"\0" * 8)
            rows, columns, _, _ = struct.unpack("HHHH", size)
            _send(connection, b"w", struct.pack("!HH", rows, columns))

    resize()
    before = signal.signal(signal.SIGWINCH, resize)
    try:
        sources = [connection.fileno(), keyboard]
        while True:
            ready, _, _ = select.select(sources, [], [])
            if connection.fileno() in ready:
                shown = connection.recv(_CHUNK)
                if not shown:
                    return
                while shown:
                    shown = shown[os.write(screen, shown) :]
            if keyboard in ready:
                typed = os.read(keyboard, _CHUNK)
                if typed:
                    _send(connection, b"d", typed)
                else:
                    _send(connection, b"d", b"exit\n")
                    sources.remove(keyboard)
    except (BrokenPipeError, ConnectionResetError):
        return
    finally:
        signal.signal(signal.SIGWINCH, before)


def _send(connection: socket.socket, kind: bytes, body: bytes) -> None:
    connection.sendall(_HEAD.pack(kind, len(body)) + body)


@contextlib.contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Pass every key on, where it is a terminal."""
    if not os.isatty(terminal):
        yield
        return
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
