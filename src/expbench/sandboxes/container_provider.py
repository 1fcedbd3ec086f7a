"""Docker and Podman as kinds of sandboxes: a container with an image's system over a task's workspace.

The image has its own Python, which an agent sees instead of one of this machine's; what an agent adds to
it lies in a folder of this machine that is watched like the workspace. Nothing else is mounted.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from expbench.errors import PrerequisiteError, SandboxError
from expbench.sandboxes.container_box import (
    VARIABLES,
    Container,
    ContainerBox,
    Mount,
    inside_user,
)
from expbench.sandboxes.containers import Engine, owner_labels, sweep
from expbench.sandboxes.engine_facts import EngineFacts
from expbench.sandboxes.environment import PROGRAM, package_mount
from expbench.sandboxes.holding import Hold, Plan, plan
from expbench.sandboxes.mounts import (
    FORWARDER,
    GATEWAY,
    GATEWAY_PORT,
    HOME,
    OURS,
    SOCKET,
    WORKSPACE,
)
from expbench.sandboxes.session import BoxSession, Session
from expbench.schema import Enforced, Policy
from expbench.workspace.owners import runs_here
from expbench.workspace.views import UPPER

if TYPE_CHECKING:
    from expbench.sandboxes.providers import Launch

IMAGE = "expbench-agent"
"""The image that ``images/agent`` builds, unless another one is asked for."""

ADDED = str(OURS / "added")
"""Where a container sees the folder for what is added to its Python."""

_NETWORKS = {
    "none": "own namespace with a loopback and no other way",
    "packages": "own namespace; package indexes and allowed hosts through a filtering proxy",
    "open": "",
}


class Containers:
    """Containers of one engine, which carry the run's label."""

    scored = True
    overlays = False
    confines = True
    here = True
    enters = True

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._images: dict[str, str] = {}

    def check(self) -> None:
        """Whether the engine answers. Raises PrerequisiteError."""
        self.engine.probe()

    def enforcement(self, policy: Policy) -> Enforced:
        """What would hold a policy's limits here. Raises PrerequisiteError."""
        return self._plan(policy).enforced

    def start(self, launch: Launch) -> Session:
        """A running container over a workspace.

        Raises:
            PrerequisiteError: the engine or the image is not there.
            SandboxError: it did not start.
        """
        added = launch.layer / UPPER if launch.layer is not None else None
        try:
            image = self._image(launch.image or IMAGE)
            made = self._plan(launch.policy, f" {image}")
            facts = self.engine.probe()
            box = ContainerBox(self.engine, facts, self._container(launch, facts, image, added))
        except BaseException:
            launch.owned.close()
            raise
        means = Hold(
            limits=launch.policy.limits,
            enforced=made.enforced.model_copy(update={"gpus": launch.gpus}),
            rlimits=made.rlimits,
            watched=made.watched,
            folders=(launch.view.files, *([added] if added else [])),
            owned=launch.owned,
        )
        return BoxSession(box, launch.view, means, _variables(launch, added))

    def clear(self, folder: Path, image: str) -> None:
        """Remove what a container's root left in a folder of ours (R27)."""
        with contextlib.suppress(SandboxError, PrerequisiteError):
            self.engine.remove_tree(folder, image or IMAGE)

    def sweep(self, alive: Callable[[str], bool] = runs_here) -> int:
        """Remove what dead harnesses of this machine left; see ``containers.sweep``."""
        return sweep(self.engine, alive)

    def _image(self, name: str) -> str:
        """An image's digest, asked once: all sandboxes of a run have the same, whatever is tagged anew."""
        if name not in self._images:
            self._images[name] = self.engine.image_id(name)
        return self._images[name]

    def _plan(self, policy: Policy, image: str = "") -> Plan:
        facts = self.engine.probe()
        made = plan(policy, self.engine.program, facts.words(policy))
        words, missing = dict(made.enforced.limits), dict(made.enforced.missing)
        if policy.limits.cpus and "cpus" in facts.missing:
            # An agent could undo what its processes are only told to keep to.
            words.pop("cpus", None)
            missing["cpus"] = facts.missing["cpus"]
        words["filesystem"] = f"image{image} read-only; /tmp, /var/tmp, home, /dev/shm in memory"
        if facts.filtered:
            words["system calls"] = f"filtered by {facts.program}'s default profile"
        else:
            missing["system calls"] = f"{facts.program} was set up without a filter"
        if network := _NETWORKS[policy.network]:
            words["network"] = network
        if policy.gpus:
            words["gpus"] = f"{policy.gpus}, no other device is there"
        enforced = made.enforced.model_copy(update={"limits": words, "missing": missing})
        return Plan(enforced, made.rlimits, (), made.watched)

    def _container(
        self, launch: Launch, facts: EngineFacts, image: str, added: Path | None
    ) -> Container:
        uid, gid = inside_user(facts, os.geteuid(), os.getegid())
        mounts = [Mount(launch.view.files, WORKSPACE, writable=True)]
        if added is not None:
            mounts.append(Mount(added, ADDED, writable=True))
        packages = enumerate(launch.python.packages)
        mounts += [Mount(folder, package_mount(number)) for number, folder in packages]
        beside: tuple[str, ...] = ()
        if launch.gateway is not None:
            beside = (str(FORWARDER), str(GATEWAY / SOCKET), str(GATEWAY_PORT))
            mounts.append(Mount(launch.gateway, str(GATEWAY)))
            mounts.append(Mount(Path(__file__).with_name("forwarder.py"), str(FORWARDER)))
        shown = (*launch.files.items(), *launch.folders.items())
        mounts += [Mount(source, place) for place, source in shown if source is not None]
        return Container(
            name=launch.name,
            image=image,
            policy=launch.policy,
            uid=uid,
            gid=gid,
            mounts=tuple(Mount(m.source.resolve(), m.target, m.writable) for m in mounts),
            labels=owner_labels(launch.run),
            gpus=launch.gpus,
            beside=beside,
            scratch=tuple(place for place, source in launch.folders.items() if source is None),
        )


def _variables(launch: Launch, added: Path | None) -> dict[str, str]:
    """``pip install`` adds where it may write: the image itself is read-only."""
    base = ADDED if added is not None else f"{HOME}/.local"
    variables = {
        **VARIABLES,
        "PATH": f"{base}/bin:{VARIABLES['PATH']}",
        "PYTHONUSERBASE": base,
        "PIP_USER": "1",
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
    }
    if launch.python.packages:
        variables["PYTHONPATH"] = launch.python.python_path
    if PROGRAM in launch.folders:
        variables["PATH"] += f":{PROGRAM}/bin"
    return {**variables, **launch.environment}
