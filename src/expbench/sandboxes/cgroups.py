"""Control groups: memory, processes and processors of one sandbox, held by the kernel.

What works on this machine is found by trying it: a group is made, each limit is set and read back, a
child is moved in. cgroup v2 comes first, as root or where a group was delegated to this user
(``systemd-run --user --scope -p Delegate=yes``), then v1. Groups are made below the one that this
process is in, so whatever holds the harness holds its sandboxes too.

A v2 group that hands controllers on may hold no processes itself. Where ours does, the harness moves
itself, with the processes that started it and those it started, to a group ``expbench-harness`` beside
the sandboxes' groups. It does so once, and other harnesses find it there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from expbench.errors import SandboxError
from expbench.sandboxes.groups import SWAP, Group, Kind, apply, settings
from expbench.sandboxes.processes import Table
from expbench.schema import Limits, Requests

__all__ = ["Cgroups", "Group", "group_name", "probe", "sweep"]

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")

_HARNESS = "expbench-harness"
_NAME = re.compile(r"expbench-(\d+-\d+)-\w+")
_HOLDING = {"memory": "memory_mib", "pids": "processes", "cpu": "cpus"}
_TRIED = Limits(memory_mib=64, processes=16, cpus=0.5)


@dataclass(frozen=True)
class Cgroups:
    """What control groups can hold here.

    ``places`` are the folders, by controller, below which groups are made. ``why`` says of each
    controller that does not work the reason.
    """

    kind: Kind
    places: dict[str, Path]
    why: dict[str, str]
    swap: bool = True
    """Whether memory limits hold swap as well."""

    @property
    def controllers(self) -> tuple[str, ...]:
        """Those that work, of ``memory``, ``pids``, ``cpu`` and, in v1, ``freezer``."""
        return tuple(self.places)

    def make(self, name: str, limits: Limits, requests: Requests) -> Group:
        """A new group for one sandbox.

        Args:
            name: as :func:`group_name` gives it.

        Raises:
            SandboxError: it could not be made.
        """
        folders = {each: place / name for each, place in self.places.items()}
        group = Group(self.kind, {})
        try:
            for controller, folder in folders.items():
                if folder not in group.folders.values():
                    folder.mkdir()
                group.folders[controller] = folder
            held = apply(group, settings(self.kind, limits, requests))
        except OSError as error:
            group.remove()
            raise SandboxError(f"no control group could be made: {error}") from None
        words = {limit: text for limit, text in self.words(limits).items() if limit in held}
        return Group(self.kind, folders, words)

    def words(self, limits: Limits) -> dict[str, str]:
        """How groups would hold those limits that they can."""
        swap = "" if self.swap else ", swap apart"
        texts = {
            "memory_mib": f"{limits.memory_mib} MiB for all processes together{swap}",
            "processes": f"{limits.processes} processes and threads together",
            "cpus": f"{limits.cpus:g} processors' time" if limits.cpus else "",
        }
        return {
            limit: f"{texts[limit]}, cgroup {self.kind}"
            for controller, limit in _HOLDING.items()
            if controller in self.places and getattr(limits, limit)
        }


# --- names, and groups whose harness is dead --------------------------------------------------------


def group_name() -> str:
    """A new name for a sandbox's group: this process's id and start time, and a random part."""
    pid = os.getpid()
    return f"expbench-{pid}-{Table.read([pid])[pid].start}-{secrets.token_hex(4)}"


def sweep(cgroups: Cgroups, alive: Callable[[str], bool]) -> int:
    """Kill and remove the groups of harnesses that are no more; how many there were.

    Args:
        alive: whether the harness ``PID-STARTTIME`` still runs.
    """
    found: dict[str, dict[str, Path]] = {}
    for controller, place in cgroups.places.items():
        for folder in place.glob("expbench-*"):
            owner = _NAME.fullmatch(folder.name)
            if owner and folder.is_dir() and not alive(owner[1]):
                found.setdefault(folder.name, {})[controller] = folder
    for folders in found.values():
        group = Group(cgroups.kind, folders)
        group.kill()
        group.remove()
    return len(found)


# --- what works here --------------------------------------------------------------------------------

_LOCK = threading.Lock()
_FOUND: list[Cgroups | None] = []


def probe(root: Path = ROOT, own: Path = OWN) -> Cgroups | None:
    """What works here, by trying it; ``None`` where nothing does. Found once for the usual places.

    Args:
        root: where control groups are mounted.
        own: the file that names the groups of this process.
    """
    if (root, own) != (ROOT, OWN):
        return _probe(root, own)
    with _LOCK:
        if not _FOUND:
            _FOUND.append(_probe(root, own))
        return _FOUND[0]


def _probe(root: Path, own: Path) -> Cgroups | None:
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return None
    paths = {name: path for _, names, path in lines for name in names.split(",")}
    tries: tuple[Callable[[Path, dict[str, str]], Cgroups], ...] = (_probe_v2, _probe_v1)
    for found in (each(root, paths) for each in tries):
        if set(found.controllers) & _HOLDING.keys():
            return found
    return None


def _probe_v2(root: Path, paths: dict[str, str]) -> Cgroups:
    mounted = [each for each in (root, root / "unified") if (each / "cgroup.controllers").exists()]
    if not mounted or "" not in paths:
        return _tried("v2", {}, dict.fromkeys(_HOLDING, "cgroup v2 is not mounted"))
    place = _place(mounted[0], paths[""])
    if place.name == _HARNESS:
        place = place.parent
    why = _hand_on(place)
    return _tried("v2", {name: place for name in _HOLDING if name not in why}, why)


def _probe_v1(root: Path, paths: dict[str, str]) -> Cgroups:
    places, why = {}, {}
    for name in (*_HOLDING, "freezer"):
        if name in paths and (root / name).is_dir():
            places[name] = _place(root / name, paths[name])
        else:
            why[name] = "cgroup v1 has it not"
    return _tried("v1", places, why)


def _place(mounted: Path, path: str) -> Path:
    """The folder of our own group; in a container that sees only its own, the mount itself."""
    place = mounted / path.lstrip("/")
    return place if place.is_dir() and ".." not in place.parts else mounted


def _tried(kind: Kind, places: dict[str, Path], why: dict[str, str]) -> Cgroups:
    works: dict[str, Path] = {}
    held: set[str] = set()
    for name, place in places.items():
        try:
            held |= _try(kind, name, place)
            works[name] = place
        except OSError as error:
            why = {**why, name: f"{place}: {error.strerror or error}"}
    return Cgroups(kind, works, why, swap=SWAP in held)


def _try(kind: Kind, controller: str, place: Path) -> set[str]:
    """Make a group of one controller, use it and remove it; what it held. Raises OSError."""
    group = Group(kind, {controller: place / group_name()})
    child = None
    try:
        group.folders[controller].mkdir()
        held = apply(group, settings(kind, _TRIED, Requests()))
        child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, cwd="/", env={})
        group.enter[0].write_text(str(child.pid))
        if child.pid not in group.processes():
            raise OSError("no process can be moved into a group")
        if controller in _HOLDING and _HOLDING[controller] not in held:
            raise OSError("a limit cannot be set")
        return held
    finally:
        if child is not None:
            child.communicate()
        group.remove()


def _hand_on(place: Path) -> dict[str, str]:
    """Have a v2 group offer its controllers to those below it; why not, of each that it does not."""
    errors: dict[str, OSError] = {}
    try:
        offered = (place / "cgroup.controllers").read_text().split()
        handed_on = (place / "cgroup.subtree_control").read_text().split()
        if wanted := [name for name in _HOLDING if name in offered and name not in handed_on]:
            with _emptied(place):
                errors = _enable(place, wanted)
    except OSError as error:
        return dict.fromkeys(_HOLDING, _reason(place, error))
    absent = {name: f"{place} was not given it" for name in _HOLDING if name not in offered}
    return absent | {name: _reason(place, error) for name, error in errors.items()}


def _reason(place: Path, error: OSError) -> str:
    reasons = {
        errno.EBUSY: "others' processes are in it",
        errno.EACCES: "it is not delegated to this user",
    }
    reason = reasons.get(error.errno or 0, error.strerror)
    return f"{place}: {reason}; systemd-run --user --scope -p Delegate=yes starts one that can"


def _enable(place: Path, controllers: Iterable[str]) -> dict[str, OSError]:
    """Hand controllers on to the groups below, but for those that it says why of."""
    errors = {}
    for name in controllers:
        try:
            (place / "cgroup.subtree_control").write_text(f"+{name}")
        except OSError as error:
            errors[name] = error
    return errors


@contextlib.contextmanager
def _emptied(place: Path) -> Iterator[None]:
    """Move this harness's processes into a group below; back again where that was of no use.

    They are the oldest of this process's ancestors that is in the group, and all its descendants. The
    group at the top of all, which alone has no type, may go on holding processes. Elsewhere the kernel
    would take some controllers all the same, and then refuse every group below.

    Raises:
        OSError: they could not be moved, or others' processes are in the group.
    """
    if not (place / "cgroup.type").exists():
        yield
        return
    leaf = place / _HARNESS
    leaf.mkdir(exist_ok=True)
    try:
        for _ in range(10):
            if not _move(_ours(place), leaf):
                break
        if (place / "cgroup.procs").read_text():
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        yield
    finally:
        if not (place / "cgroup.subtree_control").read_text().split():
            _move(_ours(leaf), place)
            with contextlib.suppress(OSError):
                leaf.rmdir()


def _ours(group: Path) -> set[int]:
    there = {int(line) for line in (group / "cgroup.procs").read_text().split()}
    table = Table.read()
    oldest = pid = os.getpid()
    while pid in table:
        oldest = pid if pid in there else oldest
        pid = table[pid].parent
    return there.intersection(table.below(oldest))


def _move(pids: set[int], group: Path) -> set[int]:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(pid))
    return pids
