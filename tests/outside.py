"""The host that the red team's sandboxes run on: what they must not reach, and proof that one could.

A :class:`World` is a folder that every user can read, with a secret wherever an agent might look for
one, a process that may be harmed, servers that tell the secret to whoever asks, and, as root, another
host behind a network of its own. Nothing protects any of it but the sandbox.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import secrets
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from red_team import THROUGH, TRIED, Who, program

import expbench
from expbench.paths import CachePaths
from expbench.sandboxes import supervisor
from expbench.sandboxes.environment import sandbox_uid
from expbench.sandboxes.host import SandboxHost, remove
from expbench.sandboxes.session import Session
from expbench.schema import Limits, Policy
from expbench.workspace import View

Facts = dict[str, object]

ROOT = os.geteuid() == 0
UID = sandbox_uid()
LIBC = ctypes.CDLL(None, use_errno=True)
CALM = Policy(limits=Limits(minutes=1, memory_mib=512, disk_mib=64, files=2000, file_mib=64))

VICTIM = """\
import ctypes, os, sys, time
secret = ctypes.create_string_buffer(os.environ["SECRET"].encode())
kept = os.memfd_create("kept")
os.write(kept, secret.raw)
print(ctypes.addressof(secret), flush=True)
time.sleep(300)
"""

FAR = """\
import selectors, socket, sys
address, secret = sys.argv[1], sys.argv[2].encode()
tcp = socket.create_server((address, 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind((address, 53))
print(tcp.getsockname()[1], flush=True)
with selectors.DefaultSelector() as selector:
    for each in (tcp, udp):
        selector.register(each, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is tcp:
                asker, _ = tcp.accept()
                asker.sendall(secret)
                asker.close()
            else:
                question, asker = udp.recvfrom(500)
                answer = b"\\xc0\\x0c\\0\\x10\\0\\1\\0\\0\\0\\1\\0%c%c" % (len(secret) + 1, len(secret))
                head = question[:2] + b"\\x81\\x80\\0\\1\\0\\1\\0\\0\\0\\0"
                udp.sendto(head + question[12:] + answer + secret, asker)
"""


@dataclass(frozen=True)
class Result:
    """What a run of an attack printed."""

    text: str
    secret: str = field(repr=False)

    @property
    def through(self) -> bool:
        return self.secret in self.text or THROUGH in self.text

    @property
    def complete(self) -> bool:
        """Whether it came to its end, so that not getting through was the sandbox's doing."""
        return TRIED in self.text


class World:
    """One host. A context manager; everything is removed at the end."""

    def __init__(self, records: Path) -> None:
        self._records = records
        self.secret = secrets.token_hex(16)
        self.name = f"red-{secrets.token_hex(6)}.txt"
        self._stack = contextlib.ExitStack()
        self._victim: subprocess.Popen[str] | None = None

    def __enter__(self) -> World:
        with contextlib.ExitStack() as stack:
            self.folder = Path(tempfile.mkdtemp(prefix="expbench-red-", dir="/tmp"))
            self.folder.chmod(0o755)
            stack.callback(_clear, self.folder)
            self._make_files()
            self.facts = self._files()
            stack.enter_context(_environment("RED_TEAM_API_KEY", self.secret))
            self.facts |= stack.enter_context(_serving(self.secret, self.folder / "socket"))
            self.facts |= stack.enter_context(_memory(self.secret))
            self.facts |= stack.enter_context(_network(self.secret))
            stack.callback(self.end_victim)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # --- the host's files ------------------------------------------------------------------------

    @property
    def cache(self) -> CachePaths:
        return CachePaths(self.folder / "cache")

    @functools.cached_property
    def host(self) -> SandboxHost:
        """Makes sandboxes as a run does: what it must hide is told, packages are given."""
        hidden = (self.folder / "data", self.folder / "runs")
        return SandboxHost(self.cache, hidden, (self.folder / "packages",))

    def scratch(self) -> Path:
        """A new folder of the sandbox's user, with what attacks expect in their workspace."""
        folder = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.folder))
        own(folder)
        self.furnish(folder)
        return folder

    def furnish(self, folder: Path) -> None:
        """A file that only root may read, and root's setuid program that would show it."""
        if ROOT:
            sealed, tool = folder / "sealed", folder / "setuid"
            sealed.write_text(self.secret)
            sealed.chmod(0o600)
            shutil.copyfile(shutil.which("cat") or "/bin/cat", tool)
            tool.chmod(0o4755)

    def _make_files(self) -> None:
        places = [self.name, "own.txt", f"data/iclr2024/{self.name}", f"runs/one/{self.name}"]
        places += [f"home/.ssh/{self.name}", f"cache/repos/{self.name}", "packages/given.py"]
        places += [f"cache/work/1-1-other/{self.name}"]
        for place in places:
            path = self.folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.secret if path.suffix == ".txt" else "")
        own(self.folder / "own.txt")

    def _files(self) -> Facts:
        folder = self.folder
        return {
            "secret": str(folder / self.name),
            "name": self.name,
            "top": str(folder),
            "own": str(folder / "own.txt"),
            "data": str(folder / "data" / "iclr2024" / self.name),
            "run": str(folder / "runs" / "one" / self.name),
            "home": str(folder / "home" / ".ssh" / self.name),
            "store": str(folder / "cache" / "repos" / self.name),
            "neighbour": str(folder / "cache" / "work" / "1-1-other" / self.name),
            "packages": str(folder / "packages"),
            "package": str(Path(expbench.__file__).parent),
            "python": str(self.host.python().folder),
            "supervisor": str(Path(supervisor.__file__)),
            "path": str(folder / "socket"),
            "handle": _handle(folder / self.name),
            "disks": _disks(),
            "disk_nodes": [str(p) for p in Path("/dev").iterdir() if p.is_block_device()],
            "setuid": ROOT,
        }

    # --- a process that may be harmed ------------------------------------------------------------

    def victim(self) -> subprocess.Popen[str]:
        """A process of the sandbox's own uid, with the secret in its memory, environment and arguments."""
        if self._victim is not None and state(self._victim) in "SR":
            return self._victim
        self.end_victim()
        self._victim = subprocess.Popen(
            [*as_user(), user_python(), "-c", VICTIM, self.secret],
            env={"SECRET": self.secret},
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        assert self._victim.stdout is not None
        self.facts["address"] = int(self._victim.stdout.readline())
        self.facts["pid"] = self._victim.pid
        self.facts["targets"] = [self._victim.pid]
        return self._victim

    def end_victim(self) -> None:
        if self._victim is not None:
            self._victim.kill()
            self._victim.wait()
            assert self._victim.stdout is not None
            self._victim.stdout.close()

    # --- running things --------------------------------------------------------------------------

    def result(self, output: bytes) -> Result:
        return Result(output.decode(errors="replace"), self.secret)

    @contextlib.contextmanager
    def sandbox(
        self,
        policy: Policy = CALM,
        view: View | None = None,
        keep: bool = False,
        host: SandboxHost | None = None,
    ) -> Iterator[Session]:
        """A sandbox over a view, or over a new folder with what attacks expect."""
        host = host or self.host
        session = host.start(view or host.folder(), policy)
        try:
            if view is None:
                self.furnish(session.view.files)
            yield session
        finally:
            session.close()
            if not keep:
                self.discard(session.view)

    def discard(self, view: View) -> None:
        """Remove a workspace as a harness does."""
        try:
            remove(view.folder)
        finally:
            _clear(view.folder)

    def inside(
        self, session: Session, code: str, facts: Facts | None = None, timeout: float = 20
    ) -> Result:
        """Run an attack in a sandbox."""
        told = json.dumps({**self.facts, **(facts or {})})
        done = session.run(["python", "-c", program(code), told], timeout=timeout)
        return self.result(done.stdout + done.stderr)

    def outside(
        self,
        code: str,
        who: Who = "user",
        facts: Facts | None = None,
        cwd: Path | None = None,
        timeout: float = 60,
    ) -> Result:
        """Run an attack without a sandbox; it has an open file and a soft limit, as from a harness."""
        told = {**self.facts, **(facts or {})}
        python = sys.executable if who != "user" else user_python()
        limits = ["prlimit", "--fsize=1073741824:", "--"]
        argv = [*limits, *WHO[who](), python, "-c", program(code), json.dumps(told)]
        with (self.folder / self.name).open("rb") as kept:
            done = subprocess.run(
                argv,
                cwd=cwd or self.scratch(),
                env={"PATH": os.environ["PATH"]},
                pass_fds=(kept.fileno(),),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        return self.result(done.stdout + done.stderr)

    def control(self, name: str, run: Callable[[], str]) -> str:
        """Why a control does not work here, empty when it does.

        Each is tried once, also by several processes of one test run: they share the records.
        """
        record = self._records / quote(name, safe="")
        if not record.exists():
            own = record.with_name(f"{record.name}.{os.getpid()}")
            own.write_text(run())
            own.rename(record)
        return record.read_text()


def own(path: Path) -> None:
    """Make a file, or a folder with all below it, the sandboxes' user's own."""
    if ROOT:
        for each in (path, *path.rglob("*")):
            os.lchown(each, UID, UID)


def _clear(folder: Path) -> None:
    """Remove a folder however deep it is."""
    subprocess.run(["rm", "-rf", "--", str(folder)], check=False)


def state(process: subprocess.Popen[str]) -> str:
    """The kernel's letter for what a process does; ``Z`` when it has ended."""
    if process.poll() is not None:
        return "Z"
    content = Path(f"/proc/{process.pid}/stat").read_text()
    return content.rpartition(") ")[2][0]


def as_user() -> list[str]:
    """What runs a command as the sandboxes' user."""
    who = ["--reuid", str(UID), "--regid", str(UID), "--clear-groups"]
    return ["setpriv", *who, "--"] if ROOT else []


def alone() -> list[str]:
    """What runs a command in namespaces of its own, as whoever we are."""
    kinds = [
        "--mount",
        "--pid",
        "--ipc",
        "--uts",
        "--net",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    return ["unshare", *kinds, "--propagation", "private", "--"]


WHO: dict[Who, Callable[[], Sequence[str]]] = {"user": as_user, "root": list, "alone": alone}


@functools.cache
def user_python() -> str:
    """A Python that the sandboxes' user can run."""
    for python in filter(None, (sys.executable, "/usr/bin/python3", shutil.which("python3"))):
        # By a shell, for setpriv finds a program while it still has root's capabilities.
        command = [*as_user(), "sh", "-c", 'exec "$0" -c ""', python]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return python
    return "python3"


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


@contextlib.contextmanager
def _serving(secret: str, path: Path) -> Iterator[Facts]:
    """Servers on the loopback, on an abstract socket and on one with a path, which tell the secret."""
    abstract = f"red-{os.urandom(6).hex()}"
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        anywhere = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        hidden, named = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        for unix, address in ((hidden, f"\0{abstract}"), (named, str(path))):
            unix.bind(address)
            unix.listen()
        path.chmod(0o777)
        ended = threading.Event()
        everyone = (tcp, anywhere, udp, hidden, named)
        thread = threading.Thread(target=_serve, args=(everyone, secret.encode(), ended))
        thread.start()
        stack.callback(thread.join)
        stack.callback(ended.set)
        ports = {"tcp": tcp, "udp": udp, "near_tcp": anywhere}
        yield {"abstract": abstract, **{k: s.getsockname()[1] for k, s in ports.items()}}


def _serve(sockets: Sequence[socket.socket], secret: bytes, ended: threading.Event) -> None:
    with selectors.DefaultSelector() as selector:
        for each in sockets:
            each.setblocking(False)
            selector.register(each, selectors.EVENT_READ)
        while not ended.is_set():
            for key, _ in selector.select(0.1):
                server = key.fileobj
                assert isinstance(server, socket.socket)
                with contextlib.suppress(OSError):
                    if server.type == socket.SOCK_STREAM:
                        with server.accept()[0] as asker:
                            asker.sendall(secret)
                    else:
                        server.sendto(secret, server.recvfrom(500)[1])


@contextlib.contextmanager
def _memory(secret: str) -> Iterator[Facts]:
    """The secret in System V memory and messages and in ``/dev/shm``, for everyone to read."""
    key = secrets.randbelow(1 << 30) + 1
    create, remove = 0o3666, 0  # IPC_CREAT and IPC_EXCL with a mode; IPC_RMID
    content = secret.encode()
    facts: Facts = {}
    with contextlib.ExitStack() as stack:
        segment, queue = LIBC.shmget(key, 4096, create), LIBC.msgget(key, create)
        if segment >= 0 and queue >= 0:
            stack.callback(LIBC.shmctl, segment, remove, None)
            stack.callback(LIBC.msgctl, queue, remove, None)
            LIBC.shmat.restype = ctypes.c_void_p
            at = ctypes.c_void_p(LIBC.shmat(segment, None, 0))
            ctypes.memmove(at, content, len(content))
            LIBC.shmdt(at)
            for _ in range(5):
                LIBC.msgsnd(queue, struct.pack("=q", 1) + content, len(content), 0)
            facts["key"] = key
        shared = Path("/dev/shm", f"red-{secrets.token_hex(6)}")
        with contextlib.suppress(OSError):
            shared.write_bytes(content)
            stack.callback(shared.unlink)
            facts["shm"] = str(shared)
        yield facts


@contextlib.contextmanager
def _network(secret: str) -> Iterator[Facts]:
    """Another host with a name server, behind a pair of network cards; none where that cannot be made."""
    if not ROOT or shutil.which("ip") is None:
        yield {}
        return
    near_card, far_card = (f"red{secrets.token_hex(4)}{end}" for end in "nf")
    network = f"198.{secrets.choice((18, 19))}.{secrets.randbelow(256)}"
    number = secrets.randbelow(64) * 4
    near, far = f"{network}.{number + 1}", f"{network}.{number + 2}"
    script = (
        f"read go && ip link set lo up && ip address add {far}/30 dev {far_card} && "
        f'ip link set {far_card} up && exec "$@"'
    )
    command = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--net", "--", "sh", "-c", script]
    process = subprocess.Popen(
        [*command, "sh", sys.executable, "-c", FAR, far, secret],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        made = (
            _ip("link", "add", near_card, "type", "veth", "peer", "name", far_card)
            and _is_apart(process.pid)
            and _ip("link", "set", far_card, "netns", str(process.pid))
            and _ip("address", "add", f"{near}/30", "dev", near_card)
            and _ip("link", "set", near_card, "up")
        )
        port = _first_line(process) if made else ""
        yield {"far": far, "near": near, "far_tcp": int(port)} if port else {}
    finally:
        process.kill()
        process.communicate()
        _ip("link", "delete", near_card)


def _first_line(process: subprocess.Popen[str]) -> str:
    """Tell the other host to begin, and wait until it serves."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return process.stdout.readline()


def _ip(*words: str) -> bool:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


def _is_apart(pid: int) -> bool:
    """Whether a process is in a network namespace of its own; waits for it for 2 s."""
    ours = Path("/proc/self/ns/net").readlink()
    for _ in range(200):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/ns/net").readlink() != ours:
                return True
        time.sleep(0.01)
    return False


def _handle(path: Path) -> str:
    """A file's handle, as hexadecimal digits; empty where its file system has none."""
    buffer = ctypes.create_string_buffer((128).to_bytes(4, sys.byteorder) + bytes(132))
    mount = ctypes.c_int()
    name = os.fsencode(path)
    if LIBC.name_to_handle_at(-100, name, buffer, ctypes.byref(mount), 0) != 0:
        return ""
    size = int.from_bytes(buffer.raw[:4], sys.byteorder)
    return buffer.raw[: 8 + size].hex()


def _disks() -> list[tuple[int, int]]:
    """The numbers of this machine's disks."""
    numbers = (p.read_text().strip().split(":") for p in Path("/sys/block").glob("*/dev"))
    return [(int(major), int(minor)) for major, minor in numbers]
