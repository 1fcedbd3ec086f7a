"""The kinds of sandboxes by name: what each needs, holds and starts.

All give the same :class:`Session`; what differs is the box that its processes live in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from expbench.errors import NotFoundError, PrerequisiteError
from expbench.sandboxes import bubblewrap, cgroups
from expbench.sandboxes.bwrap_box import BwrapBox
from expbench.sandboxes.cluster import Cluster
from expbench.sandboxes.container_provider import Containers
from expbench.sandboxes.containers import Engine
from expbench.sandboxes.environment import PROGRAM, TOOLS, PythonEnvironment
from expbench.sandboxes.holding import hold, plan
from expbench.sandboxes.local_box import LocalBox
from expbench.sandboxes.mounts import HOME, Inside
from expbench.sandboxes.network import Index
from expbench.sandboxes.session import BoxSession, Session
from expbench.schema import Enforced, Policy
from expbench.workspace import View
from expbench.workspace.views import UPPER


@dataclass(frozen=True)
class Launch:
    """Everything that a sandbox is started with: its own ``name``, and the ``run`` that it is of.

    ``gateway`` is the folder of the gateway's socket, ``devices`` are the nodes of the granted ``gpus``,
    ``layer`` is where additions to the Python environment go, ``files`` are small ones by their path
    inside, ``folders`` whole ones of this machine, read-only, or None for one in memory. ``owned`` is
    closed with the session.
    """

    name: str
    run: str
    view: View
    policy: Policy
    python: PythonEnvironment
    hidden: tuple[Path, ...] = ()
    rootfs: Path | None = None
    image: str = ""
    indexes: tuple[Index, ...] = ()
    gateway: Path | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    folders: Mapping[str, Path | None] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    devices: tuple[Path, ...] = ()
    layer: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    owned: ExitStack = field(default_factory=ExitStack)


class Provider(Protocol):
    """One kind of sandbox.

    ``scored``: whether results of it count. ``overlays``: whether it can have a workspace as an
    overlay over the store. ``confines``: whether it shows only the device nodes that are granted.
    ``here``: whether it runs on this machine, with its GPUs and the gateway's socket. ``enters``: whether
    a person's terminal can be led into it.
    """

    @property
    def scored(self) -> bool: ...

    @property
    def overlays(self) -> bool: ...

    @property
    def confines(self) -> bool: ...

    @property
    def here(self) -> bool: ...

    @property
    def enters(self) -> bool: ...

    def check(self) -> None:
        """Try it for real. Raises PrerequisiteError with what is missing."""
        ...

    def enforcement(self, policy: Policy) -> Enforced:
        """What would hold a policy's limits here."""
        ...

    def start(self, launch: Launch) -> Session:
        """A running sandbox. Raises SandboxError."""
        ...

    def clear(self, folder: Path, image: str) -> None:
        """Remove what of a folder of ours this process could not."""
        ...

    def sweep(self, alive: Callable[[str], bool]) -> int:
        """Remove what harnesses left on this machine that are no more; how much it was.

        Args:
            alive: whether the harness ``PID-STARTTIME`` still runs.

        Raises:
            SandboxError, PrerequisiteError: it could not be looked.
        """
        ...


class Bwrap:
    """bubblewrap: namespaces of the kernel, without root and without a daemon."""

    scored = True
    overlays = True
    confines = True
    here = True
    enters = True

    def check(self) -> None:
        bubblewrap.check()

    def enforcement(self, policy: Policy) -> Enforced:
        groups = cgroups.probe()
        words = groups.words(policy.limits) if groups is not None else {}
        return _with_isolation(plan(policy, "bwrap", words).enforced, policy)

    def start(self, launch: Launch) -> Session:
        means = hold(
            launch.policy, "bwrap", cgroups.probe(), launch.name, _added(launch), launch.owned
        )
        watched = "memory_mib" in means.watched
        means.enforced = _with_isolation(means.enforced, launch.policy).model_copy(
            update={"gpus": launch.gpus}
        )
        inside = Inside(
            launch.python,
            launch.hidden,
            rootfs=launch.rootfs,
            gateway=launch.gateway,
            devices=launch.devices,
            open_network=launch.policy.network == "open",
            layer=launch.layer,
            files=launch.files,
            folders=launch.folders,
            memory_mib=_files_in_memory(launch.policy, watched),
        )
        try:
            box = BwrapBox(launch.view, inside, means.pinned, watched)
        except BaseException:
            means.end()
            raise
        try:
            means.admit(lambda: [box.process])
        except BaseException:
            box.kill()
            means.end()
            raise
        variables = {**launch.python.variables(HOME), **launch.environment}
        if PROGRAM in launch.folders:
            variables["PATH"] += f":{PROGRAM}/bin"
        return BoxSession(box, launch.view, means, variables)

    def clear(self, folder: Path, image: str) -> None:
        return

    def sweep(self, alive: Callable[[str], bool]) -> int:
        groups = cgroups.probe()
        return cgroups.sweep(groups, alive) if groups is not None else 0


class Local:
    """No sandbox: commands run as the user. Only limits of single processes and the watch hold."""

    scored = False
    overlays = False
    confines = False
    here = True
    enters = False

    def check(self) -> None:
        return

    def enforcement(self, policy: Policy) -> Enforced:
        enforced = plan(policy, "local", {}).enforced
        why = "there is no sandbox around it"
        missing = {**enforced.missing, "network": why, "filesystem": why}
        words = dict(enforced.limits)
        if os.geteuid() == 0 and words.pop("processes", ""):
            missing["processes"] = "no limit of processes holds for root"
        return enforced.model_copy(update={"limits": words, "missing": missing})

    def start(self, launch: Launch) -> Session:
        means = hold(launch.policy, "local", None, launch.name, (launch.view.files,), launch.owned)
        means.enforced = self.enforcement(launch.policy)
        try:
            box = LocalBox(launch.view.files)
        except BaseException:
            means.end()
            raise
        python = launch.python
        here = replace(python, mount=str(python.folder))
        variables = {**here.variables(str(launch.view.files)), **launch.environment}
        if TOOLS in launch.folders:
            variables["PATH"] += f":{launch.folders[TOOLS]}"
        if python.packages:
            variables["PYTHONPATH"] = ":".join(map(str, python.packages))
        return BoxSession(box, launch.view, means, variables)

    def clear(self, folder: Path, image: str) -> None:
        return

    def sweep(self, alive: Callable[[str], bool]) -> int:
        return 0


PROVIDERS: Mapping[str, Provider] = {
    "bwrap": Bwrap(),
    "docker": Containers(Engine("docker")),
    "podman": Containers(Engine("podman")),
    "k8s": Cluster(),
    "local": Local(),
}


def provider(name: str) -> Provider:
    """The provider of a name. Raises NotFoundError."""
    try:
        return PROVIDERS[name]
    except KeyError:
        choices = ", ".join(PROVIDERS)
        raise NotFoundError(f"There is no sandbox {name!r}: choose {choices}.") from None


def demand(name: str, policy: Policy, allow_unenforced: bool) -> Enforced:
    """What will hold a policy's limits.

    Raises:
        PrerequisiteError: a demanded limit would not be held, unless that is allowed.
    """
    enforced = provider(name).enforcement(policy)
    if enforced.missing and not allow_unenforced:
        listed = "; ".join(f"{limit}: {why}" for limit, why in enforced.missing.items())
        raise PrerequisiteError(
            f"Sandbox {name} does not hold every demanded limit here ({listed}): demand less, choose "
            "another sandbox, or add --allow-unenforced, which every result then records."
        )
    return enforced


def _added(launch: Launch) -> tuple[Path, ...]:
    """The folders that what is added inside lies in."""
    layer = () if launch.layer is None else (launch.layer / UPPER,)
    return (launch.view.files, *layer)


def _files_in_memory(policy: Policy, watched: bool) -> int:
    """MiB of each file system in memory. A watch does not see them, so all have to fit the limit."""
    limit = policy.limits.memory_mib
    return min(_MEMORY_MIB, max(1, limit // 4)) if watched and limit else _MEMORY_MIB


_MEMORY_MIB = 1024
_NETWORKS = {
    "none": "own namespace with a loopback and no other way",
    "packages": "own namespace; package indexes and allowed hosts through a filtering proxy",
}


def _with_isolation(enforced: Enforced, policy: Policy) -> Enforced:
    """With what the namespaces hold, whatever the policy's numbers are."""
    words = {
        **enforced.limits,
        "filesystem": "system read-only, root and /dev sealed",
        "system calls": "filtered",
    }
    if policy.network in _NETWORKS:
        words["network"] = _NETWORKS[policy.network]
    if policy.gpus:
        words["gpus"] = f"{policy.gpus}, no other device node is there"
    return enforced.model_copy(update={"limits": words})
