"""One container as a box: its first process is our supervisor, reached over a socket.

The socket is made and listened to by the harness, in a folder that the container sees read-only; the
container's first process connects to it and becomes the supervisor. Who connected is known from the
kernel, and with it the container's processes on this machine; the engine is not asked again until the
container is removed. When the harness dies the channel closes, and the supervisor ends the container.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import resource
import select
import shutil
import signal
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from expbench.errors import PrerequisiteError, SandboxError
from expbench.sandboxes.containers import Engine
from expbench.sandboxes.engine_facts import EngineFacts
from expbench.sandboxes.environment import FIXED, SANDBOX_UID, TOOLS
from expbench.sandboxes.mounts import HOME, OURS, SCRATCH_MIB, WORKSPACE
from expbench.sandboxes.watch import processes_below
from expbench.schema import Policy
from expbench.workspace.owners import own_prefix

CHANNEL = OURS / "channel"
"""The folder of a container with the harness's socket."""

SUPERVISOR = OURS / "supervisor.py"
VARIABLES = {
    **FIXED,
    "HOME": HOME,
    "PATH": f"/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin:{TOOLS}",
}
"""The variables of every command in a container."""

_START_SECONDS = 30.0
_KILL_SECONDS = 5.0
_OPEN_FILES = 65536
_PROCESSES = 30000
_IN_MEMORY = ("/tmp", "/var/tmp", HOME)
_CONNECT = (
    "import os, socket, sys\n"
    "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
    "s.connect(sys.argv[1])\n"
    "s.set_inheritable(True)\n"
    "new = [sys.executable, '-I', '-S', sys.argv[2], str(s.fileno())]\n"
    "os.execv(sys.executable, new + sys.argv[3:])\n"
)
"""Run inside: connect to the harness and become the supervisor, which is given a descriptor."""


@dataclass(frozen=True)
class Mount:
    """A file or folder of this machine and where a container sees it."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Container:
    """What a container is started with.

    ``uid`` and ``gid`` are inside. ``gpus`` are ids of devices. ``beside`` is a Python program of ours that
    runs beside the commands, with its arguments. ``scratch`` are small folders in memory that are its user's
    own. ``memory_mib`` bounds each file system in memory.
    """

    name: str
    image: str
    policy: Policy
    uid: int
    gid: int
    mounts: tuple[Mount, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    memory_mib: int = 1024


def inside_user(facts: EngineFacts, uid: int, gid: int) -> tuple[int, int]:
    """The container's user, so that its files are the harness's user's own, or nobody's for root.

    Args:
        uid: the harness's effective user, gid its group.
    """
    if facts.program == "docker" and facts.rootless:
        # Its root is the harness's user, without any capability.
        return 0, 0
    return (uid, gid) if uid else (SANDBOX_UID, SANDBOX_UID)


def arguments(facts: EngineFacts, container: Container) -> list[str]:
    """The engine's arguments that start a container: ``run --detach …``."""
    labels = {"expbench.name": container.name, **container.labels}
    return [
        *("run", "--detach", "--pull", "never", "--name", container.name),
        *(text for name, value in labels.items() for text in ("--label", f"{name}={value}")),
        *_isolation(facts, container),
        *_limits(facts, container.policy),
        *_gpus(facts, container.gpus),
        *_files(facts, container),
        *("--workdir", WORKSPACE, "--entrypoint", "python3", container.image),
        *("-I", "-S", "-c", _CONNECT, str(CHANNEL / "socket"), str(SUPERVISOR)),
        *(("--", *container.beside) if container.beside else ()),
    ]


def _isolation(facts: EngineFacts, container: Container) -> list[str]:
    texts = ["--user", f"{container.uid}:{container.gid}", "--hostname", "sandbox"]
    texts += ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    texts += ["--ipc", "private", "--cgroupns", "private"]
    if facts.selinux:
        # Its policy forbids a container to connect to a socket of a user's process.
        texts += ["--security-opt", "label=disable"]
    if facts.remapped:
        texts += ["--userns", "host"]
    if facts.program == "podman" and facts.rootless:
        texts += ["--userns", "keep-id"]
    if container.policy.network != "open":
        texts += ["--network", "none"]
    elif facts.program == "docker":
        texts += ["--network", "bridge"]
    log = "json-file" if facts.program == "docker" else "k8s-file"
    return [*texts, "--log-driver", log, "--log-opt", "max-size=1m"]


def _limits(facts: EngineFacts, policy: Policy) -> list[str]:
    """Those limits that the engine holds; it would only warn of the others."""
    limits, requests = policy.limits, policy.requests
    rlimits = {"core": 0, "nofile": _at_most(resource.RLIMIT_NOFILE, _OPEN_FILES)}
    if facts.program == "podman":
        # It would ask for more than a machine that bounds its users gives.
        rlimits["nproc"] = _at_most(resource.RLIMIT_NPROC, _PROCESSES)
    if limits.file_mib:
        rlimits["fsize"] = limits.file_mib * 1024**2
    texts = [text for each, n in rlimits.items() for text in ("--ulimit", f"{each}={n}:{n}")]
    if limits.processes and "processes" not in facts.missing:
        texts += ["--pids-limit", str(limits.processes)]
    if "memory_mib" not in facts.missing:
        if limits.memory_mib:
            texts += ["--memory", f"{limits.memory_mib}m"]
            texts += ["--memory-swap", f"{limits.memory_mib}m"] if facts.swap else []
        if requests.memory_mib:
            reserved = min(requests.memory_mib, limits.memory_mib or requests.memory_mib)
            texts += ["--memory-reservation", f"{reserved}m"]
    if "cpus" not in facts.missing:
        texts += ["--cpus", f"{facts.cpus(policy):g}"] if limits.cpus else []
        texts += ["--cpu-shares", str(max(2, int(requests.cpus * 1024)))] if requests.cpus else []
    return texts


def _at_most(kind: int, wanted: int) -> int:
    """What an engine that this process starts may ask for."""
    _, hard = resource.getrlimit(kind)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _gpus(facts: EngineFacts, ids: tuple[str, ...]) -> list[str]:
    if not ids:
        return []
    if facts.program == "docker":
        return ["--gpus", f'"device={",".join(ids)}"']
    return [text for each in ids for text in ("--device", f"nvidia.com/gpu={each}")]


def _files(facts: EngineFacts, container: Container) -> list[str]:
    size = container.memory_mib
    if container.policy.limits.memory_mib:
        size = min(size, container.policy.limits.memory_mib)
    # Without an owner a file system in memory gets the one of the image's folder of that name.
    owner = f"uid={container.uid},gid={container.gid}" if facts.program == "docker" else "U"
    texts = ["--shm-size", f"{size}m"]
    for place in _IN_MEMORY:
        texts += ["--tmpfs", f"{place}:rw,exec,nosuid,nodev,size={size}m,mode=1777,{owner}"]
    for place in container.scratch:
        texts += ["--tmpfs", f"{place}:rw,nosuid,nodev,size={SCRATCH_MIB}m,mode=755,{owner}"]
    for mount in container.mounts:
        texts += ["--mount", _mount(mount)]
    return texts


def _mount(mount: Mount) -> str:
    parts = ["type=bind", f"src={mount.source}", f"dst={mount.target}"]
    if not mount.writable:
        parts.append("readonly")
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(parts)
    return line.getvalue()


class ContainerBox:
    """Started by being made; bounded by the engine's deadline and half a minute.

    Raises:
        PrerequisiteError: the engine, or the image, is not there.
        SandboxError: it did not start.
    """

    workspace = WORKSPACE

    def __init__(self, engine: Engine, facts: EngineFacts, container: Container) -> None:
        self.provider: str = engine.program
        self._engine = engine
        self._name = container.name
        self._pidfd = -1
        self._pid = 0
        self._gone = False
        self._lock = threading.Lock()
        private = Path(tempfile.mkdtemp(prefix=own_prefix()))
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                folder = _listen(listener, private)
                ours = Mount(folder, str(CHANNEL)), Mount(_SUPERVISOR_FILE, str(SUPERVISOR))
                self._run(facts, container, ours)
                self._channel = self._accept(listener)
        except BaseException:
            with contextlib.suppress(SandboxError, PrerequisiteError):
                self._remove()
            raise
        finally:
            shutil.rmtree(private, ignore_errors=True)
        self._know()

    @property
    def channel(self) -> socket.socket:
        return self._channel

    def alive(self) -> bool:
        """Whether the supervisor holds its end: it is the container's first process."""
        poller = select.poll()
        try:
            poller.register(self._channel, 0)
        except (OSError, ValueError):
            return False
        return not poller.poll(0)

    def processes(self) -> list[int]:
        return processes_below([self._pid])[self._pid] if self._pid and not self._gone else []

    def kill(self) -> None:
        """Closing the channel already ends the supervisor; the engine removes what is left.

        Raises:
            SandboxError: neither did, so that processes of it may live.
        """
        with self._lock:
            if self._gone:
                return
            self._channel.close()
            try:
                self._remove()
            except SandboxError:
                if not self._ended():
                    raise
            finally:
                self._gone = True
                if self._pidfd >= 0:
                    os.close(self._pidfd)
                    self._pidfd = -1

    def said(self) -> str:
        """The tail of the container's log."""
        try:
            answer = self._engine.call("logs", "--tail", "20", self._name)
        except (SandboxError, PrerequisiteError) as error:
            return str(error)
        return (answer.stdout + answer.stderr).strip()

    def _run(self, facts: EngineFacts, container: Container, ours: tuple[Mount, ...]) -> None:
        whole = Container(**{**vars(container), "mounts": (*container.mounts, *ours)})
        answer = self._engine.call(*arguments(facts, whole))
        if answer.code != 0:
            raise SandboxError(f"the {self.provider} container did not start: {answer.why}")

    def _accept(self, listener: socket.socket) -> socket.socket:
        """The supervisor's connection; a container that has ended instead says why in its log."""
        deadline = time.monotonic() + _START_SECONDS
        listener.settimeout(1.0)
        while time.monotonic() < deadline:
            try:
                return listener.accept()[0]
            except TimeoutError:
                state = self._engine.call("inspect", "--format", "{{.State.Running}}", self._name)
                if state.stdout.strip() != "true":
                    break
        said = self.said()[-500:]
        raise SandboxError(
            f"the {self.provider} container did not start: {said or 'its supervisor did not connect'}"
        )

    def _know(self) -> None:
        """Who connected, as this machine sees it; nobody where the engine is in another one."""
        layout = struct.Struct("3i")
        raw = self._channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, layout.size)
        pid, _, _ = layout.unpack(raw)
        if pid:
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(pid)
                self._pid = pid

    def _remove(self) -> None:
        """By name; where that fails, though the engine answers, by its label."""
        if self._engine.call(*self._engine.removal, self._name).code != 0 and (
            left := self._engine.labelled(f"expbench.name={self._name}")
        ):
            self._engine.remove(left)

    def _ended(self) -> bool:
        """Kill the first process, and with it all others, without the engine."""
        if self._pidfd < 0:
            return False
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        return bool(poller.poll(_KILL_SECONDS * 1000))


_SUPERVISOR_FILE = Path(__file__).with_name("supervisor.py").resolve()


def _listen(listener: socket.socket, private: Path) -> Path:
    """Listen in a folder that only the harness, and the container that sees it, come to."""
    folder = private / "channel"
    folder.mkdir(mode=0o711)
    folder.chmod(0o711)
    # By its descriptor, for an address has room for a short path only.
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{handle}/socket")
    finally:
        os.close(handle)
    (folder / "socket").chmod(0o666)
    listener.listen(1)
    return folder
