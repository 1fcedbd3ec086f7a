"""What of a sandbox shapes an execution: its system and its Python, as far as they can be told apart."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

from expbench.sandboxes.container_provider import IMAGE, Containers
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.host import SandboxHost

_SYSTEM = ("etc/os-release", "usr/lib/os-release", "etc/debian_version")


def facts_of_sandbox(host: SandboxHost, python: PythonEnvironment | None = None) -> dict[str, str]:
    """Names and digests of what the sandboxes of a host are made from.

    Args:
        python: what a task has instead of the host's.

    Raises:
        PrerequisiteError: the engine, the image or the Python is not there.
    """
    facts = {"kind": host.kind, "machine": platform.machine()}
    kind = host.provider
    if isinstance(kind, Containers):
        facts["image"] = kind.engine.image_id(host.image or IMAGE)
    elif host.kind == "k8s":
        facts["image"] = host.image
    else:
        root = host.rootfs or Path("/")
        facts["system"] = _digest([root / name for name in _SYSTEM])
        facts["python"] = (python or host.python()).folder.name
        facts["version"] = (python or host.python()).version
    added = [path.name for folder in host.packages for path in sorted(folder.glob("*.dist-info"))]
    facts["packages"] = " ".join(added)
    return facts


def _digest(files: list[Path]) -> str:
    """sha256 over those of the files that are there."""
    digest = hashlib.sha256()
    for file in files:
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()
