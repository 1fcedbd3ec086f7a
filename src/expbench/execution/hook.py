"""What a Python process does, told by itself: the files that it runs, reads and writes, what it starts.

Runs inside the sandbox, in every Python from 3.8 on whose start leads here (:data:`START` in
:mod:`expbench.sandboxes.environment`); its text is sent there with a call of :func:`begin` at the end. It
listens to the interpreter's audit events, which no library can bypass by keeping a function of its own.
Records are JSON arrays, a line each, in one file for each process::

    ["start", pid, parent, "run" or "fork", [command line]]    ["run" or "read" or "write", pid, path]
    ["copy" or "move", pid, from, to]    ["spawn", pid, [command line]]    ["lines", pid, path, count]
    ["cpu", pid, seconds, time]    ["more", pid, count]    ["planted", pid, path in a virtual environment]

Nothing here may change what the process does. So nothing is printed, no file stays open between two
records, no module is imported that is not written in C or loaded anyway, and an error that came from
elsewhere (a signal's handler) is never swallowed: errors of the system have a number.
"""
# ruff: noqa: PTH109, PTH112, PTH113, PTH115, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import atexit
import os
import sys
import time
from _json import encode_basestring_ascii as _quoted
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

_MOST = 2000  # files and commands that a process tells of; more are counted
_BYTES = 256 * 1024  # of one process's records
_BATCH, _PATIENCE = 64, 0.5  # records, and seconds, that are kept back to be written together
_EAGER = 100  # records that are written at once, for a process may end without a word
_WORDS, _LONG = 40, 400
_BOUGHT, _AGAIN, _TRACED = 10_000, 2_000, 30_000
"""Events of tracing at the start, after something new, and of all the process: each costs under 1 µs."""
_TOOL = 4
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PASSED = ("/site-packages/", "/dist-packages/", "/.git/", "/__pycache__/")


def begin(root: str, folder: str, start: str, name: str) -> None:
    """Listen to this process from now on, and tell ``folder`` of files below ``root``.

    ``start`` is the start-up line, and ``name`` its file, for virtual environments that are made.
    """
    recorder = _Recorder(root.rstrip("/") + "/", folder, start, name)
    recorder.started("run")
    sys.addaudithook(recorder.heard)
    os.register_at_fork(after_in_child=recorder.forked)
    atexit.register(recorder.ended)


class _Recorder:
    """The records of one process, and what decides what is worth one."""

    def __init__(self, root: str, folder: str, start: str, name: str) -> None:
        self.root, self.folder, self.start, self.name = root, folder, start, name
        self.handlers: dict[str, Callable[[Any], None]] = {
            "open": self._open,
            "exec": self._exec,
            "cpython.run_file": self._run_file,
            "subprocess.Popen": self._popen,
            "os.system": self._system,
            "os.exec": self._replaced,
            "os.posix_spawn": self._posix_spawn,
            "shutil.copyfile": self._copied,
            "os.rename": self._moved,
            "os.chdir": self._elsewhere,
        }
        self.busy: set[int] = set()
        self.seen: set[tuple[str, str]] = set()
        self.here: set[tuple[str, bool]] = set()  # names that were opened in the current folder
        self.venvs: list[str] = []
        self.rows: list[str] = []
        self.more = self.told = self.written = 0
        self.last = 0.0
        self.pid = os.getpid()
        self.lines = _lines(self.inside)

    def heard(self, event: str, args: Any) -> None:
        """An audit event."""
        handler = self.handlers.get(event)
        me = get_ident()
        if handler is None or me in self.busy:
            return
        self.busy.add(me)
        try:
            handler(args)
        finally:
            self.busy.discard(me)

    def started(self, how: str) -> None:
        words = getattr(sys, "orig_argv", None) or _command_line()
        row = [_quoted("start"), str(self.pid), str(os.getppid()), _quoted(how), _listed(words)]
        self._add(row)
        for kind, stream in (("read", 0), ("write", 1), ("write", 2)):
            path = _target(stream)
            if path and (path := self.inside(path)):
                self._file(kind, path)
        self._flush()

    def forked(self) -> None:
        self.busy.clear()
        self.rows.clear()
        self.venvs.clear()
        self.more = self.told = self.written = 0
        self.pid = os.getpid()
        self.started("fork")

    def ended(self) -> None:
        for path, count in self.lines.counted():
            self._add([_quoted("lines"), str(self.pid), _text(path), str(count)])
        for folder in self.venvs:
            self._plant(folder)
        if self.more:
            self._add([_quoted("more"), str(self.pid), str(self.more)])
        self._flush()

    def inside(self, path: str) -> str:
        """The path relative to the workspace of a file that is worth telling of, or nothing."""
        if not path.startswith("/"):
            if not path or not (folder := _folder()):
                return ""
            path = f"{folder}/{path}"
        if "/." in path or "//" in path:
            path = os.path.normpath(path)
        if not path.startswith(self.root) or any(part in path for part in _PASSED):
            return ""
        return path[len(self.root) :]

    # --- events ----------------------------------------------------------------------------------

    def _open(self, args: Any) -> None:
        name = _name(args[0]) if len(args) == 3 else ""
        writes = isinstance(args[-1], int) and bool(args[-1] & _WRITING)
        if not name or (name, writes) in self.here:
            return
        if len(self.here) < 2 * _MOST:
            self.here.add((name, writes))
        if writes and name.endswith("pyvenv.cfg"):
            self.venvs.append(os.path.dirname(os.path.join(_folder(), name)))
        if inside := self.inside(name):
            self._file("write" if writes else "read", inside)

    def _elsewhere(self, args: Any) -> None:
        self.here.clear()

    def _exec(self, args: Any) -> None:
        name = getattr(args[0], "co_filename", "")
        if name and not name.startswith("<") and (inside := self.inside(name)):
            self._file("run", inside)

    def _run_file(self, args: Any) -> None:
        if (name := _name(args[0])) and (inside := self.inside(name)):
            self._file("run", inside)

    def _popen(self, args: Any) -> None:
        words = args[1]
        if isinstance(words, (str, bytes)):
            words = [words]
        self._spawn([_name(word) for word in list(words)[:_WORDS]])

    def _system(self, args: Any) -> None:
        self._spawn(["sh", "-c", _name(args[0])])

    def _posix_spawn(self, args: Any) -> None:
        self._spawn([_name(word) for word in list(args[1])[:_WORDS]])

    def _replaced(self, args: Any) -> None:
        self._flush()

    def _copied(self, args: Any) -> None:
        self._pair("copy", args)

    def _moved(self, args: Any) -> None:
        self._pair("move", args)

    def _pair(self, kind: str, args: Any) -> None:
        source, target = self.inside(_name(args[0])), self.inside(_name(args[1]))
        if source and target and self._new(kind, source + "\0" + target):
            self._add([_quoted(kind), str(self.pid), _text(source), _text(target)])

    def _spawn(self, words: list[str]) -> None:
        line = _listed(words)
        if self._new("spawn", line):
            self._add([_quoted("spawn"), str(self.pid), line])

    # --- records ---------------------------------------------------------------------------------

    def _file(self, kind: str, inside: str) -> None:
        if not self._new(kind, inside):
            return
        if kind == "read" and not os.path.isfile(self.root + inside):
            return
        self._add([_quoted(kind), str(self.pid), _text(inside)])
        self.lines.again()

    def _new(self, kind: str, what: str) -> bool:
        key = (kind, what)
        if key in self.seen:
            return False
        if len(self.seen) >= _MOST:
            self.more += 1
            return False
        self.seen.add(key)
        return True

    def _add(self, fields: list[str]) -> None:
        self.rows.append(f"[{','.join(fields)}]\n")
        self.told += 1
        now = time.monotonic()
        if self.told <= _EAGER or len(self.rows) >= _BATCH or now - self.last > _PATIENCE:
            self.last = now
            self._flush()

    def _flush(self) -> None:
        used = os.times()
        rows, self.rows = self.rows, []
        rows.append(f'["cpu",{self.pid},{used.user + used.system:.2f},{time.time():.3f}]\n')
        data = "".join(rows).encode("ascii")
        self.written += len(data)
        if self.written < _BYTES:
            _append(f"{self.folder}/{self.pid}.jsonl", data)

    def _plant(self, folder: str) -> None:
        """Let the Python of a virtual environment that this process made start here too."""
        library = os.path.join(folder, "lib")
        try:
            for version in os.listdir(library):
                place = os.path.join(library, version, "site-packages")
                if os.path.isdir(place):
                    path = os.path.join(place, self.name)
                    _append(path, self.start.encode())
                    self._add([_quoted("planted"), str(self.pid), _text(path)])
        except OSError as error:
            if error.errno is None:
                raise


def _folder() -> str:
    """The current folder; nothing when it is gone."""
    try:
        return os.getcwd()
    except OSError as error:
        if error.errno is None:
            raise
        return ""


def _append(path: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(path, flags, 0o600)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno is None:
            raise


def _name(path: Any) -> str:
    """A path or word of an event as text; nothing for a file descriptor."""
    if isinstance(path, str):
        return path
    if isinstance(path, bytes):
        return os.fsdecode(path)
    return os.fsdecode(path) if hasattr(path, "__fspath__") else ""


def _text(text: str) -> str:
    return _quoted(text[:1000])


def _listed(words: Any) -> str:
    return f"[{','.join(_quoted(str(word)[:_LONG]) for word in list(words)[:_WORDS])}]"


def _command_line() -> list[str]:
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read(1 << 16).split(b"\0")[:-1]]
    except OSError:
        return [sys.executable]


def _target(stream: int) -> str:
    """The file that a stream leads to; nothing for pipes and devices."""
    try:
        target = os.readlink(f"/proc/self/fd/{stream}")
    except OSError:
        return ""
    return target if target.startswith("/") and not target.startswith("/dev/") else ""


class _NoLines:
    """Counts no lines."""

    def again(self) -> None:
        return

    def counted(self) -> list[tuple[str, int]]:
        return []


class _Traced(_NoLines):
    """Lines by ``sys.settrace``, as many events as were bought: a lower bound.

    Tracing slows down all bytecode, so nothing may run long in it without an event that is counted: lines
    of other code are counted too, but for those of modules that are being imported.
    """

    def __init__(self, inside: Callable[[str], str]) -> None:
        self.inside = inside
        self.files: dict[str, set[int] | None] = {}
        self.left = _BOUGHT
        self.bought = _BOUGHT
        sys.settrace(self._call)

    def again(self) -> None:
        if self.bought < _TRACED and sys.gettrace() in (None, self._call):
            more = max(0, _AGAIN - self.left)
            self.left += more
            self.bought += more
            sys.settrace(self._call)

    def counted(self) -> list[tuple[str, int]]:
        if sys.gettrace() == self._call:
            sys.settrace(None)
        found = ((self.inside(name), lines) for name, lines in self.files.items() if lines)
        return [(path, len(lines)) for path, lines in found if path]

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.files:
            own = not name.startswith("<") and self.inside(name)
            self.files[name] = set() if own else None
        self.left -= 1
        if self.left < 0:
            sys.settrace(None)
            return None
        if self.files[name] is None:
            return None if frame.f_code.co_name == "<module>" else self._other
        return self._line

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.files[frame.f_code.co_filename].add(frame.f_lineno)  # type: ignore[union-attr]
        return self._other(frame, event, arg) and self._line

    def _other(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            frame.f_trace = None
            sys.settrace(None)
            return None
        return self._other


class _Monitored(_NoLines):
    """Lines by ``sys.monitoring`` (Python 3.12): each is counted once and then costs nothing."""

    def __init__(self, inside: Callable[[str], str]) -> None:
        self.inside = inside
        self.files: dict[str, set[int]] = {}
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self.monitoring = monitoring
        monitoring.use_tool_id(_TOOL, "expbench")
        events = monitoring.events
        monitoring.register_callback(_TOOL, events.PY_START, self._call)
        monitoring.register_callback(_TOOL, events.LINE, self._line)
        monitoring.set_events(_TOOL, events.PY_START)

    def counted(self) -> list[tuple[str, int]]:
        self.monitoring.set_events(_TOOL, 0)
        found = ((self.inside(name), lines) for name, lines in self.files.items())
        return [(path, len(lines)) for path, lines in found if path]

    def _call(self, code: CodeType, offset: int) -> Any:
        name = code.co_filename
        if not name.startswith("<") and self.inside(name):
            self.monitoring.set_local_events(_TOOL, code, self.monitoring.events.LINE)
        return self.monitoring.DISABLE

    def _line(self, code: CodeType, line: int) -> Any:
        self.files.setdefault(code.co_filename, set()).add(line)
        return self.monitoring.DISABLE


def _lines(inside: Callable[[str], str]) -> _NoLines:
    try:
        return _Monitored(inside) if hasattr(sys, "monitoring") else _Traced(inside)
    except ValueError:
        return _NoLines()
