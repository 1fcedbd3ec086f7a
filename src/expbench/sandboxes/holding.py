"""How the limits of one sandbox are held on this machine, each by the strongest means there is.

Control groups hold memory, processes and processors where the harness may make them; else resource
limits and a watch do. The watch holds what a workspace grows by, everywhere. What nothing holds is said.
"""

from __future__ import annotations

import math
import os
import random
import resource
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from expbench.sandboxes.cgroups import Cgroups, Group
from expbench.sandboxes.watch import Handle, Watched, watch
from expbench.schema import Enforced, Limits, Policy

_FILES_OF_OURS = 1000
_OF_GROUPS = ("memory_mib", "processes", "cpus")


@dataclass
class Hold:
    """The means that hold one sandbox's limits.

    ``rlimits`` are set for every command, by their names without ``RLIMIT_``. ``pinned`` are the
    processors that it runs on, all when empty. ``watched`` are limits that the watch looks after,
    ``fatal`` those whose excess ends the sandbox. ``owned`` is closed when it ends.
    """

    limits: Limits
    enforced: Enforced
    rlimits: dict[str, int] = field(default_factory=dict)
    group: Group | None = None
    pinned: tuple[int, ...] = ()
    watched: frozenset[str] = frozenset()
    folders: tuple[Path, ...] = ()
    owned: ExitStack = field(default_factory=ExitStack)
    fatal: frozenset[str] = frozenset({"disk_mib", "files", "disk_free", "processes"})
    _handle: Handle | None = None
    _complete: bool = False

    def admit(self, processes: Callable[[], Iterable[int]], everyone: bool = False) -> None:
        """Take processes into the sandbox's groups, which nothing of an agent's runs in before.

        Moving one takes the kernel some milliseconds, in which the sandbox goes on starting.

        Args:
            everyone: these are all that it has, so that whoever comes later is in the groups, too.
        """
        if self.group is not None:
            self.group.admit(processes)
            self._complete = everyone

    def processes(self) -> list[int] | None:
        """Everyone in the sandbox, where its groups have them all: one small file says so."""
        group = self.group  # which another thread may let go of
        return group.processes() if group is not None and self._complete else None

    def begin(
        self, processes: Callable[[], Iterable[int]], exceeded: Callable[[str, str], None]
    ) -> None:
        """Start watching."""
        if self.watched:
            watched = Watched(processes, self.folders, self.limits, self.watched, exceeded)
            self._handle = watch(watched)

    def memory_kill(self) -> str:
        """A sentence where the kernel killed a process of the group because memory ran out; else empty."""
        if self.group is None or not self.group.oom_kills():
            return ""
        limit = f"{self.limits.memory_mib} MiB"
        return f"All processes together used more than {limit} of memory: one was killed."

    def end(self) -> None:
        """Let go of everything; may be called twice."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None
        if self.group is not None:
            self.group.kill()
            self.group.remove()
            self.group = None
        self.owned.close()


def hold(
    policy: Policy,
    provider: str,
    cgroups: Cgroups | None,
    name: str,
    folders: tuple[Path, ...],
    owned: ExitStack | None = None,
) -> Hold:
    """The means for one sandbox of this machine's.

    Args:
        name: of its control groups.
        folders: where what it adds to its workspace lies.
        owned: what else ends with it.
    """
    limits = policy.limits
    group = None
    if cgroups is not None and any(getattr(limits, each) for each in _OF_GROUPS):
        group = cgroups.make(name, limits, policy.requests)
    made = plan(policy, provider, group.words if group is not None else {})
    return Hold(
        limits=limits,
        enforced=made.enforced,
        rlimits=made.rlimits,
        group=group,
        pinned=made.pinned,
        watched=made.watched,
        folders=folders,
        owned=owned or ExitStack(),
    )


@dataclass(frozen=True)
class Plan:
    """What holds which limit, before there is a sandbox."""

    enforced: Enforced
    rlimits: dict[str, int]
    pinned: tuple[int, ...]
    watched: frozenset[str]


def plan(policy: Policy, provider: str, by_groups: dict[str, str]) -> Plan:
    """What would hold a policy's limits, given what control groups hold."""
    limits = policy.limits
    words = {
        "minutes": "all processes are killed at the end",
        "output_mib": f"{limits.output_mib} MiB of each stream kept, head and tail",
        **by_groups,
    }
    missing: dict[str, str] = {}
    # What a command has in flight may not keep the supervisors of other sandboxes from sending.
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    rlimits = {"CORE": 0, "NOFILE": max(files // 2, files - _FILES_OF_OURS)}
    watched: set[str] = set()
    pinned: tuple[int, ...] = ()
    if limits.file_mib:
        rlimits["FSIZE"] = limits.file_mib * 1024**2
        words["file_mib"] = f"{limits.file_mib} MiB for each file by rlimit"
    if limits.memory_mib and "memory_mib" not in words:
        watched.add("memory_mib")
        words["memory_mib"] = f"{limits.memory_mib} MiB for all together by a watch"
        if not policy.gpus:
            rlimits["DATA"] = limits.memory_mib * 1024**2
            words["memory_mib"] += ", and for each process by rlimit"
    if limits.processes and "processes" not in words:
        rlimits["NPROC"] = limits.processes
        words["processes"] = f"{limits.processes} processes and threads by rlimit"
    if limits.cpus and "cpus" not in words:
        if limits.cpus >= 1:
            pinned = _some_processors(limits.cpus)
            words["cpus"] = f"on {len(pinned)} processors only, by affinity"
        else:
            missing["cpus"] = "no control group: less than one processor cannot be held"
    for name, text in (("disk_mib", "MiB more"), ("files", "files more")):
        if amount := getattr(limits, name):
            watched.add(name)
            words[name] = f"{amount} {text} in the workspace by a watch"
    enforced = Enforced(provider=provider, limits=words, missing=missing, requests=policy.requests)
    return Plan(enforced, rlimits, pinned, frozenset(watched))


def _some_processors(count: float) -> tuple[int, ...]:
    """Of those that this process may use, other ones for each sandbox."""
    ours = sorted(os.sched_getaffinity(0))
    return tuple(sorted(random.sample(ours, min(len(ours), math.ceil(count)))))
