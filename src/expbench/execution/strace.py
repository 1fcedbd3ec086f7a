"""The tracer that lets ``strace`` follow the script: every program and process, of any language.

It sees more than Python's hook, and it is not as gentle: what the script starts is traced, so that programs
which trace themselves (debuggers, leak sanitizers) fail. Only the calls that matter stop a process
(``--seccomp-bpf``). Starts do, which costs little. Opened files would make a program that opens many
about twice as slow, so they are followed only where no Python can tell of them. It runs inside, where a
script could end it, and its own processes with it.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from expbench.errors import SandboxError
from expbench.execution.pyhook import PythonTracer
from expbench.execution.sightings import PYTHON, Sightings, inside
from expbench.execution.tracer import Observed, Scene
from expbench.sandboxes.session import Session

_PROGRAM = "strace"
_STARTS = "execve,execveat,clone,clone3,fork,vfork"
_FILES = "open,openat,creat,rename,renameat,renameat2"
_SIGNALS = "chld,hup,int,quit,ill,trap,abrt,bus,fpe,kill,segv,pipe,alrm,term,xcpu,xfsz,sys"
"""Those that tell of a child's end, with its processor time, or end a process."""
_BYTES = 48 * 1024**2
"""Of the trace that is kept and read."""
_SECONDS = 120.0
_TEST = ("strace", "-f", "--seccomp-bpf", "-e", "trace=execve", "-o", "/dev/null", "true")

_LINE = re.compile(r"(\d+) +(\d{1,12}\.\d{1,9}) (.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>,? ?(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(?:<(.*)>)?(?: .*)?")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ENDED = re.compile(r"\+\+\+ (?:exited with (\d+)|killed by (SIG\w+)).*\+\+\+")
_CHILD = re.compile(r"--- SIGCHLD \{.*si_pid=(\d+),.* si_utime=(\d+), si_stime=(\d+)\} ---")
_HERE = re.compile(r"AT_FDCWD<([^>]*)>")
_TICKS = os.sysconf("SC_CLK_TCK")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-f]{2}|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f", b"a": b"\a", b"b": b"\b"}
_COMPILED = re.compile(r"(.*/|)__pycache__/([^/]+)\.[\w-]+\.pyc")


@dataclass
class StraceTracer:
    """A tracer of one run, with Python's hook inside it where there is a Python."""

    own: tuple[str, ...] = ()
    overhead: float | None = None
    files: bool | None = None
    """Whether opened files are followed; by default where Python's hook does not work."""
    failed: str = ""
    """Why there is no tracing; empty when there is."""
    python: PythonTracer = field(default_factory=PythonTracer)

    @property
    def file(self) -> str:
        """Where the trace lies in the sandbox."""
        return f"{self.python.folder}/trace"

    def prepare(self, session: Session) -> None:
        self.python.prepare(session)
        self.failed = usable(session)

    def wrap(self, command: Sequence[str]) -> list[str]:
        command = self.python.wrap(command)
        if self.failed:
            return command
        kept = f"head -c {_BYTES} > {self.file}; cat > /dev/null"
        files = bool(self.python.failed) if self.files is None else self.files
        calls = f"{_STARTS},{_FILES}" if files else _STARTS
        options = [
            "-q",
            "-f",
            "-ttt",
            "-y",
            "-s",
            "300",
            "--seccomp-bpf",
            "-e",
            f"signal={_SIGNALS}",
        ]
        return [
            _PROGRAM,
            *options,
            "-e",
            f"trace={calls}",
            "-o",
            f"|{kept}",
            "--",
            *command,
        ]

    def environment(self) -> dict[str, str]:
        return self.python.environment()

    def collect(self, scene: Scene) -> Observed:
        if self.failed:
            return self.python.collect(scene)
        sightings = Sightings(scene.session.workspace)
        try:
            words = ["cat", self.file]
            done = scene.session.run(words, timeout=_SECONDS, output_cap=_BYTES)
        except SandboxError as error:
            self.python.seen_from_outside(sightings)
            lost = f"the trace is lost with the sandbox: {error}"
            return sightings.observed("strace", lost, scene, self.overhead)
        lost = "" if done.exit_code == 0 else "the trace is gone"
        read_trace(done.stdout.decode(errors="replace").splitlines(), sightings)
        if len(done.stdout) >= _BYTES:
            lost = "the trace is longer than is read"
        self.python.seen_from_outside(sightings, only_known=bool(sightings.processes))
        self.python.add_told(scene, sightings)
        sightings.spawned.clear()
        sightings.root_is(self.python.command)
        return sightings.observed("strace", lost, scene, self.overhead)


def usable(session: Session) -> str:
    """Why strace does not work in a sandbox, by trying it; empty when it does. Raises SandboxError."""
    done = session.run(_TEST, timeout=30)
    if not done.error and done.exit_code == 0:
        return ""
    said = (done.error or done.stderr.decode(errors="replace")).strip().splitlines()
    return f"strace does not work in the sandbox: {said[-1] if said else done.exit_code}"[:300]


def read_trace(lines: Iterable[str], sightings: Sightings) -> None:
    """Add what lines of ``strace -f -ttt -y`` say; lines that make no sense are passed over."""
    reader = _Reader(sightings)
    for line in lines:
        if match := _LINE.fullmatch(line):
            reader.take(int(match[1]), float(match[2]), match[3])


class _Reader:
    """Goes through a trace. Threads are told from processes by how they were started."""

    def __init__(self, sightings: Sightings) -> None:
        self.sightings = sightings
        self.owner: dict[int, int] = {}
        self.folder: dict[int, str] = {}
        self.begun: dict[int, str] = {}

    def take(self, thread: int, at: float, text: str) -> None:
        if text.endswith("<unfinished ...>"):
            self.begun[thread] = text.removesuffix("<unfinished ...>").rstrip()
            return
        if match := _RESUMED.fullmatch(text):
            begun = self.begun.pop(thread, "")
            joint = ", " if begun and begun[-1] not in "(," and not match[1].startswith(")") else ""
            text = begun + joint + match[1]
        pid = self.owner.get(thread, thread)
        self._read(pid, thread, text)
        if pid in self.sightings.processes:
            self.sightings.process(pid).seen_at(at)

    def _read(self, pid: int, thread: int, text: str) -> None:
        if match := _ENDED.fullmatch(text):
            if pid == thread and pid in self.sightings.processes:
                self.sightings.process(pid).exit_code = _code(match[1], match[2])
        elif match := _CHILD.fullmatch(text):
            self._used(int(match[1]), int(match[2]) + int(match[3]))
        elif (match := _CALL.fullmatch(text)) and not match[3].startswith(("-", "?")):
            if here := _HERE.search(match[2]):
                self.folder[pid] = _unescaped(here[1])
            self._call(pid, match[1], match[2], match[3], match[4] or "")

    def _call(self, pid: int, name: str, arguments: str, result: str, place: str) -> None:
        if name.startswith("exec"):
            process = self.sightings.process(pid)
            process.words = _words(arguments)
            process.folder = self.folder.get(pid, "")
        elif name in ("clone", "clone3", "fork", "vfork"):
            self._started(pid, int(result), "CLONE_THREAD" in arguments)
        elif name.startswith("rename"):
            self._renamed(pid, arguments)
        elif place and "O_DIRECTORY" not in arguments:
            writes = name == "creat" or re.search(r"O_(?:WRONLY|RDWR|CREAT)", arguments)
            self._opened(pid, _unescaped(place), bool(writes))

    def _used(self, pid: int, ticks: int) -> None:
        if (process := self.sightings.processes.get(pid)) is not None:
            process.cpu_seconds = ticks / _TICKS

    def _started(self, parent: int, child: int, thread: bool) -> None:
        if thread:
            self.owner[child] = parent
            return
        self.folder[child] = self.folder.get(parent, "")
        # A child can be heard of before its parent's call returns.
        process = self.sightings.process(child)
        process.parent = parent
        process.words = process.words or self.sightings.process(parent).words

    def _renamed(self, pid: int, arguments: str) -> None:
        names = [_unescaped(text) for text in _QUOTED.findall(arguments)]
        folder = self.folder.get(pid, self.sightings.root)
        paths = [inside(self.sightings.root, folder, name) for name in names[:2]]
        if len(paths) == 2 and all(paths):
            self.sightings.moved(pid, paths[0], paths[1])

    def _opened(self, pid: int, path: str, writes: bool) -> None:
        if match := _COMPILED.fullmatch(path):
            path = f"{match[1]}{match[2]}.py"
        below = inside(self.sightings.root, self.sightings.root, path)
        if not below:
            return
        if writes:
            self.sightings.wrote(pid, below)
        elif below.endswith(".py") and PYTHON.fullmatch(self.sightings.process(pid).program):
            self.sightings.ran(below)
        else:
            self.sightings.reads[below] = None


def _words(arguments: str) -> tuple[str, ...]:
    """The command line among the arguments of ``execve``."""
    _, bracket, rest = arguments.partition("[")
    inner = rest.rpartition("]")[0] if bracket else arguments
    return tuple(_unescaped(text) for text in _QUOTED.findall(inner)[:40])


def _unescaped(text: str) -> str:
    """A string of strace's, of which everything that is no plain ASCII is escaped as in C."""

    def one(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[:1].isdigit():
            return bytes([int(code, 8) & 255])
        if len(code) == 3:
            return bytes([int(code[1:], 16)])
        return _NAMED.get(code, code)

    return os.fsdecode(_ESCAPE.sub(one, text.encode("utf-8", "surrogateescape")))


def _code(exited: str | None, killed: str | None) -> int:
    """The exit code as a shell would give it."""
    if exited is not None:
        return int(exited)
    return 128 + int(getattr(signal, killed or "", 0))
