"""What a container engine tells about itself, and which limits it really holds.

An engine that cannot hold a limit starts the container all the same, with a warning at most. So what it
holds is read from what it tells, and the rest is recorded as missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from expbench.schema import Policy

Program = Literal["docker", "podman"]

_HELD = ("memory_mib", "processes", "cpus")


@dataclass(frozen=True)
class EngineFacts:
    """What an engine is and holds.

    ``missing`` says for each of ``memory_mib``, ``processes`` and ``cpus`` that its control groups do not
    hold why. ``swap``: whether it bounds swap too. ``remapped``: whether its daemon maps container
    users to others of this machine. ``filtered``: whether it filters system calls.
    """

    program: Program
    version: str
    rootless: bool
    cgroups: str
    processors: int
    missing: Mapping[str, str]
    swap: bool
    remapped: bool
    filtered: bool
    selinux: bool

    def words(self, policy: Policy) -> dict[str, str]:
        """How the engine holds those of a policy's limits that it holds."""
        limits = policy.limits
        texts = {
            "memory_mib": f"{limits.memory_mib} MiB for all together by {self.program}'s control group"
            + (", swap included" if self.swap else ""),
            "processes": f"{limits.processes} processes and threads by {self.program}'s control group",
            "cpus": f"{self.cpus(policy):g} processors' time by {self.program}'s control group",
        }
        held = [name for name in _HELD if getattr(limits, name) and name not in self.missing]
        return {name: texts[name] for name in held}

    def cpus(self, policy: Policy) -> float:
        """The demanded processors, of those that there are: engines refuse to promise more."""
        return min(policy.limits.cpus or self.processors, float(self.processors))


def of_docker(info: Mapping[str, Any]) -> EngineFacts:
    """From ``docker info`` as JSON. Raises KeyError or ValueError when it is something else."""
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    named = {part for option in options for part in option.split(",") if part.startswith("name=")}
    flags = {"memory_mib": "MemoryLimit", "processes": "PidsLimit", "cpus": "CpuCfsQuota"}
    driver = str(info.get("CgroupDriver", ""))
    why = "docker has no control groups (rootless needs cgroup v2 with systemd)"
    off = "the kernel or docker does not hold it (`docker info` warns)"
    missing = {
        name: why if driver == "none" else off
        for name, flag in flags.items()
        if driver == "none" or not info.get(flag)
    }
    return EngineFacts(
        program="docker",
        version=str(info["ServerVersion"]),
        rootless="name=rootless" in named,
        cgroups=f"v{info.get('CgroupVersion') or 1}",
        processors=int(info["NCPU"]),
        missing=missing,
        swap=bool(info.get("SwapLimit")),
        remapped="name=userns" in named,
        filtered=any(each.startswith("name=seccomp") for each in options)
        and not any("profile=unconfined" in each for each in options),
        selinux="name=selinux" in named,
    )


def of_podman(info: Mapping[str, Any]) -> EngineFacts:
    """From ``podman info`` as JSON. Raises KeyError or TypeError when it is something else."""
    host = info["host"]
    security = host["security"]
    rootless = bool(security["rootless"])
    version = str(host["cgroupVersion"])
    controllers = set(host.get("cgroupControllers") or ())
    needed = {"memory_mib": "memory", "processes": "pids", "cpus": "cpu"}
    if rootless and version == "v1":
        why = "rootless podman on cgroup v1 ignores it: run podman as root, or boot with cgroup v2"
        missing = dict.fromkeys(needed, why)
    elif rootless and host.get("cgroupManager") != "systemd":
        why = "rootless podman holds it only with systemd (cgroup_manager = systemd)"
        missing = dict.fromkeys(needed, why)
    else:
        why = "its control group is not delegated to podman"
        missing = {name: why for name, each in needed.items() if each not in controllers}
    return EngineFacts(
        program="podman",
        version=str(info["version"]["Version"]),
        rootless=rootless,
        cgroups=version,
        processors=int(host["cpus"]),
        missing=missing,
        swap="memory_mib" not in missing and _bounds_swap(),
        remapped=False,
        filtered=bool(security["seccompEnabled"]),
        selinux=bool(security["selinuxEnabled"]),
    )


def _bounds_swap() -> bool:
    """Whether this kernel's control groups count swap."""
    first = Path("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes")
    return first.exists() or Path("/sys/fs/cgroup/cgroup.controllers").exists()
