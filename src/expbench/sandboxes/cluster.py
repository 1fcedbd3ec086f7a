"""Kubernetes as a kind of sandboxes, through Inspect's provider for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from expbench.sandboxes import kubernetes
from expbench.sandboxes.container_box import VARIABLES
from expbench.sandboxes.environment import TOOLS
from expbench.sandboxes.inspect_session import InspectSession
from expbench.sandboxes.mounts import HOME
from expbench.sandboxes.session import Session
from expbench.schema import Enforced, Policy

if TYPE_CHECKING:
    from expbench.sandboxes.providers import Launch

_TOOLS = f"{HOME}/.local/bin"


class Cluster:
    """A pod for each sandbox."""

    scored = True
    overlays = False
    confines = True
    here = False
    enters = False

    def check(self) -> None:
        kubernetes.check()

    def enforcement(self, policy: Policy) -> Enforced:
        return kubernetes.enforced(policy)

    def start(self, launch: Launch) -> Session:
        kubernetes.check()
        folder = launch.view.folder.with_name(f"{launch.view.folder.name}.values")
        folder.mkdir()
        launch.owned.callback(shutil.rmtree, folder, ignore_errors=True)
        hosts = sorted({urlsplit(index.url).hostname or "" for index in launch.indexes} - {""})
        made = kubernetes.values(launch.policy, launch.image, run=launch.name, index_hosts=hosts)
        config = kubernetes.config(kubernetes.write_values(made, folder))
        kind = import_module(kubernetes.MODULE).K8sSandboxEnvironment
        # Nothing is mounted in a pod, so that what it has of ours is brought in, like the workspace.
        checker = launch.folders.get(TOOLS)
        tools = {_TOOLS: checker} if checker is not None else {}
        path = f"{VARIABLES['PATH']}:{_TOOLS}"
        variables = {**VARIABLES, "PATH": path, **launch.environment}
        held = self.enforcement(launch.policy)
        return InspectSession(kind, config, launch.view, held, variables, launch.owned, tools)

    def clear(self, folder: Path, image: str) -> None:
        return

    def sweep(self, alive: Callable[[str], bool]) -> int:
        """Nothing lies on this machine; ``inspect sandbox cleanup k8s`` removes what a cluster has."""
        return 0
