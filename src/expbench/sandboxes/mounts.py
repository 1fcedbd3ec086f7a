"""What a bubblewrap sandbox sees: its argument list, mount by mount."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expbench.sandboxes import bubblewrap
from expbench.sandboxes.environment import PythonEnvironment, package_mount
from expbench.workspace import View

WORKSPACE = "/workspace"
HOME = "/home/agent"
OURS = Path("/opt/expbench")
"""The folder of a sandbox that holds what is ours in it."""
FORWARDER = OURS / "forwarder.py"
GATEWAY = OURS / "gateway"
"""The folder of a sandbox with the gateway's socket, ``SOCKET``."""
SOCKET = "socket"
GATEWAY_PORT = 3128
SCRATCH_MIB = 1

_ETC = ("ld.so.cache", "alternatives", "ssl/certs", "localtime", "os-release")
_OWN_ETC = ("passwd", "group", "hosts", "nsswitch.conf")
_RESOLVERS = ("resolv.conf",)


@dataclass(frozen=True)
class Inside:
    """What a sandbox shows besides its workspace.

    ``hidden`` are host paths (ground truth, the harness) that are covered where a mount would show
    them. ``memory_mib`` bounds each file system that lies in memory. ``rootfs`` is a folder whose
    system stands in for this machine's. ``gateway`` is the host's folder with the gateway's socket,
    ``devices`` are device nodes to be seen, ``open_network`` shares this machine's network.
    ``layer`` is a private folder for what is added to the Python environment, which is read-only
    without one. ``files`` are further small files by their path inside, ``folders`` whole folders of the
    host, read-only likewise; one that is None is empty, small, in memory and the user's to write.
    """

    python: PythonEnvironment
    hidden: tuple[Path, ...] = ()
    memory_mib: int = 1024
    rootfs: Path | None = None
    gateway: Path | None = None
    devices: tuple[Path, ...] = ()
    open_network: bool = False
    layer: Path | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    folders: Mapping[str, Path | None] = field(default_factory=dict)


def arguments(view: View, inside: Inside, channel: int, seccomp: int) -> list[str]:
    """The whole command that starts a sandbox whose first process is the supervisor.

    Args:
        view: seen writable at ``/workspace``.
        channel: file descriptor of the supervisor's socket, inherited.
        seccomp: file descriptor of the filter's program, inherited.
    """
    sources = _sources(view, inside)
    forwarder = ["--", str(FORWARDER), str(GATEWAY / SOCKET), str(GATEWAY_PORT)]
    beside = forwarder if inside.gateway is not None else []
    staged = bubblewrap.staged(sources)
    mounts, shown = _system(inside.rootfs, staged)
    mounts += _settings(inside)
    if "base" in staged:
        mounts += ["--ro-bind", staged["base"], str(inside.python.base_prefix)]
        shown[inside.python.base_prefix] = inside.python.base_prefix
    for number, (name, folder) in enumerate(_folders(inside).items()):
        mounts += ["--ro-bind", staged[f"folder-{number}"], name]
        shown[folder.resolve()] = Path(name)
    for path, place in _covered(inside.hidden, shown):
        cover = ["--tmpfs"] if path.is_dir() else ["--ro-bind", "/dev/null"]
        mounts += [*cover, str(place)]
    mounts += _python(inside, staged)
    supervisor = OURS / inside.python.supervisor.name
    for name, place in (("supervisor", supervisor), ("forwarder", FORWARDER), ("gateway", GATEWAY)):
        if name in staged:
            mounts += ["--ro-bind", staged[name], str(place)]
    for number, name in enumerate(inside.files):
        mounts += ["--ro-bind", staged[f"file-{number}"], name]
    mounts += _memory(inside)
    mounts += bubblewrap.overlaid("workspace", WORKSPACE, view, staged)
    mounts += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKSPACE]
    inner = [str(inside.python.interpreter), "-I", "-S", str(supervisor), str(channel), *beside]
    flags = [*bubblewrap.FLAGS, "--as-pid-1", "--seccomp", str(seccomp)]
    if inside.open_network:
        flags.append("--share-net")
    return bubblewrap.command(sources, [bubblewrap.find(), *flags, *mounts, "--", *inner])


def python_view(inside: Inside) -> View | None:
    """The Python environment with a writable layer, as an overlay; none without a layer."""
    if inside.layer is None:
        return None
    return View("overlay", inside.layer, (inside.python.folder,))


def _sources(view: View, inside: Inside) -> dict[str, Path]:
    """What is mounted from the host, by name; as root it is staged before the uid is given up."""
    python = inside.python
    here = Path(__file__)
    sources = {"workspace": view.folder.resolve()}
    sources |= {f"workspace-{n}": path.resolve() for n, path in enumerate(view.lower)}
    sources["python"] = python.folder.resolve()
    if (layered := python_view(inside)) is not None:
        sources["layer"] = layered.folder.resolve()
        sources["layer-0"] = python.folder.resolve()
    sources["supervisor"] = python.supervisor.resolve()
    if inside.rootfs is None and not python.base_prefix.is_relative_to("/usr"):
        sources["base"] = python.base_prefix
    if inside.rootfs is not None and inside.rootfs.resolve() != Path("/"):
        sources["rootfs"] = inside.rootfs.resolve()
    sources |= {f"packages-{n}": path.resolve() for n, path in enumerate(python.packages)}
    if inside.gateway is not None:
        sources["gateway"] = inside.gateway.resolve()
        sources["forwarder"] = here.with_name(FORWARDER.name).resolve()
    folders = enumerate(_folders(inside).values())
    sources |= {f"folder-{n}": path.resolve() for n, path in folders}
    return sources | {f"file-{n}": path.resolve() for n, path in enumerate(inside.files.values())}


def _folders(inside: Inside) -> dict[str, Path]:
    """The further folders that are not to be seen at their place already, with the system or the Python."""
    there = {str(inside.python.base_prefix)}
    if inside.rootfs is None:
        there |= {name for name in inside.folders if Path(name).is_relative_to("/usr")}
    return {
        name: path
        for name, path in inside.folders.items()
        if path is not None and name not in there
    }


def _system(rootfs: Path | None, staged: Mapping[str, str]) -> tuple[list[str], dict[Path, Path]]:
    """Programs and libraries, read-only: how they are mounted, and where which of the host's show."""
    root = Path("/") if rootfs is None else rootfs.resolve()
    source = Path(staged.get("rootfs", root))
    mounts = ["--ro-bind", str(source / "usr"), "/usr"]
    shown = {root / "usr": Path("/usr")}
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        top = root / name
        if top.is_symlink():
            mounts += ["--symlink", os.readlink(top), f"/{name}"]
        elif top.is_dir():
            shown[top] = Path("/", name)
            mounts += ["--ro-bind", str(source / name), f"/{name}"]
    for name in _ETC:
        mounts += ["--ro-bind-try", str(source / "etc" / name), f"/etc/{name}"]
    return mounts, shown


def _settings(inside: Inside) -> list[str]:
    mounts = []
    for name in _OWN_ETC:
        mounts += ["--symlink", f"{inside.python.mount}/etc/{name}", f"/etc/{name}"]
    if inside.open_network:
        for name in _RESOLVERS:
            mounts += ["--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
    return mounts


def _python(inside: Inside, staged: Mapping[str, str]) -> list[str]:
    python = inside.python
    if (layered := python_view(inside)) is not None:
        mounts = bubblewrap.overlaid("layer", python.mount, layered, staged)
    else:
        mounts = ["--ro-bind", staged["python"], python.mount]
    for number in range(len(python.packages)):
        mounts += ["--ro-bind", staged[f"packages-{number}"], package_mount(number)]
    return mounts


def _memory(inside: Inside) -> list[str]:
    """``/proc``, ``/dev`` with the granted devices, and the file systems that lie in memory."""
    size = ["--size", str(inside.memory_mib * 1024**2)]
    mounts = ["--proc", "/proc", "--dev", "/dev"]
    for device in inside.devices:
        mounts += ["--dev-bind-try", str(device), str(device)]
    for place in ("/dev/shm", "/tmp", HOME):
        mounts += [*size, "--tmpfs", place]
    for name, path in inside.folders.items():
        if path is None:
            mounts += ["--perms", "0755", "--size", str(SCRATCH_MIB * 1024**2), "--tmpfs", name]
    return [*mounts, "--symlink", "/tmp", "/var/tmp"]


def _covered(hidden: Sequence[Path], shown: Mapping[Path, Path]) -> list[tuple[Path, Path]]:
    """The hidden paths that lie below something that is mounted, and where they are inside."""
    return [
        (path, place / path.relative_to(mount))
        for path in (each.resolve() for each in hidden if each.exists())
        for mount, place in shown.items()
        if path.is_relative_to(mount)
    ]
