"""Sandboxes in a Kubernetes cluster, by Inspect's own provider ``k8s`` and its Helm chart.

A pod shares no folder, no socket and no kernel with this machine: workspaces go in and out as tar streams
(``transport``), and what is held is what the cluster holds. Here a policy becomes the values of the
chart, and in words what of it is enforced. JSON is YAML, so the values' file is JSON.

The cluster needs Cilium, for without it the chart's network policies hold nothing, and the runtime class
that is named.
"""

from __future__ import annotations

import ipaddress
import json
import re
import shutil
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from expbench.errors import PrerequisiteError, UserError
from expbench.sandboxes.container_box import VARIABLES
from expbench.sandboxes.environment import SANDBOX_UID
from expbench.sandboxes.mounts import HOME, WORKSPACE
from expbench.schema import Enforced, Policy

RUNTIME = "gvisor"
"""The runtime class of pods: a kernel of their own in user space. ``CLUSTER_DEFAULT``: the cluster's."""

MODULE = "k8s_sandbox"
_SPARE_MIB = 1024
_PLACES = {
    "workspace": WORKSPACE,
    "tmp": "/tmp",
    "var-tmp": "/var/tmp",
    "home": HOME,
    "shm": "/dev/shm",
}
_HOST = re.compile(r"(?=.{1,253}\Z)(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}")
_FIRST = "while :; do sleep 3600 & wait $!; done"
"""A pod's first process: it waits, and a shell that waits reaps what a command leaves."""


def check() -> None:
    """Raises PrerequisiteError when the provider or ``helm`` is not installed here."""
    if find_spec(MODULE) is None:
        raise PrerequisiteError(
            "The sandbox k8s needs Inspect's Kubernetes provider: pip install 'expbench[k8s]'."
        )
    if shutil.which("helm") is None:
        raise PrerequisiteError(
            "The sandbox k8s installs its pods with Helm: put the program helm on the PATH."
        )


def config(values_file: Path, context: str | None = None) -> Any:
    """The provider's settings for ``sandbox=("k8s", …)``; a container that restarts ends the sample.

    Args:
        context: of the kubeconfig; its current one without.

    Raises:
        PrerequisiteError: the provider is not installed.
    """
    check()
    kind = import_module(MODULE).K8sSandboxEnvironmentConfig
    return kind(values=values_file, context=context, restarted_container_behavior="raise")


def write_values(values: dict[str, Any], folder: Path) -> Path:
    """Write the chart's values into a folder and give the file."""
    path = folder / "values.yaml"
    path.write_text(json.dumps(values, indent=2) + "\n", "utf-8")
    return path


def values(
    policy: Policy,
    image: str,
    *,
    run: str = "",
    runtime: str = RUNTIME,
    index_hosts: Sequence[str] = (),
) -> dict[str, Any]:
    """The chart's values for one sandbox.

    Args:
        run: a label of all that is made.
        index_hosts: package indexes that network ``packages`` reaches besides the allowed hosts.

    Raises:
        UserError: an allowed host is none.
    """
    service = {
        "image": image,
        "runtimeClassName": runtime,
        "command": ["/bin/sh", "-c", _FIRST],
        "workingDir": WORKSPACE,
        "env": [{"name": name, "value": value} for name, value in VARIABLES.items()],
        "resources": _resources(policy),
        "securityContext": _security(),
        **_volumes(policy),
        **({"networkIsolated": True} if policy.network == "none" else {}),
    }
    label = re.sub(r"[^A-Za-z0-9._-]", "-", run)[:63].strip("-._")
    return {
        "services": {"default": service},
        **_network(policy, index_hosts),
        **({"labels": {"expbench.run": label}} if label else {}),
    }


def _resources(policy: Policy) -> dict[str, dict[str, str]]:
    """Limits, and requests of their own where the policy has them; else the same (class Guaranteed)."""
    limits, requests = policy.limits, policy.requests
    bounds: dict[str, str] = {}
    wanted: dict[str, str] = {}
    if limits.cpus:
        bounds["cpu"] = _cpu(limits.cpus)
    if limits.memory_mib:
        bounds["memory"] = f"{limits.memory_mib}Mi"
    if limits.disk_mib:
        # Twice, for what goes out is packed in /tmp first.
        bounds["ephemeral-storage"] = f"{2 * limits.disk_mib + len(_PLACES) * _SPARE_MIB}Mi"
    if cpus := requests.cpus or limits.cpus:
        wanted["cpu"] = _cpu(min(cpus, limits.cpus or cpus))
    if memory := requests.memory_mib or limits.memory_mib:
        wanted["memory"] = f"{min(memory, limits.memory_mib or memory)}Mi"
    if policy.gpus:
        bounds["nvidia.com/gpu"] = wanted["nvidia.com/gpu"] = str(policy.gpus)
    return {"limits": bounds, "requests": wanted}


def _cpu(count: float) -> str:
    return f"{max(1, round(count * 1000))}m"


def _security() -> dict[str, Any]:
    return {
        "runAsUser": SANDBOX_UID,
        "runAsGroup": SANDBOX_UID,
        "runAsNonRoot": True,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _volumes(policy: Policy) -> dict[str, list[dict[str, Any]]]:
    """All that can be written: folders of the node that go with the pod, and shared memory."""
    disk = {"sizeLimit": f"{policy.limits.disk_mib}Mi"} if policy.limits.disk_mib else {}
    memory = min(_SPARE_MIB, policy.limits.memory_mib or _SPARE_MIB)
    folders: dict[str, dict[str, str]] = {
        "workspace": disk,
        "tmp": disk,
        "var-tmp": {"sizeLimit": f"{_SPARE_MIB}Mi"},
        "home": {"sizeLimit": f"{_SPARE_MIB}Mi"},
        "shm": {"medium": "Memory", "sizeLimit": f"{memory}Mi"},
    }
    return {
        "volumes": [{"name": name, "emptyDir": folder} for name, folder in folders.items()],
        "volumeMounts": [{"name": name, "mountPath": _PLACES[name]} for name in folders],
    }


def _network(policy: Policy, index_hosts: Sequence[str]) -> dict[str, Any]:
    if policy.network == "open":
        return {"allowEntities": ["world"]}
    if policy.network == "none":
        return {}
    domains: list[str] = []
    ports: list[dict[str, Any]] = []
    ranges: list[str] = []
    for entry in (*index_hosts, *policy.allow_hosts):
        host, port = _host(entry)
        if (address := _address(host)) is not None:
            ranges.append(f"{address}/{address.max_prefixlen}")
            continue
        domains.append(host)
        if port not in (None, 80, 443):
            ports.append({"port": port, "protocol": "TCP", "domain": host})
    found = {"allowDomains": list(dict.fromkeys(domains)), "allowDomainsPorts": ports}
    return {**found, "allowCIDR": ranges}


def _host(entry: str) -> tuple[str, int | None]:
    """``name`` or ``name:port``, ``[address]:port`` too. Raises UserError."""
    text = entry.strip().lower()
    if _address(text) is not None:
        return text, None
    name, colon, port = text.rpartition(":") if ":" in text else (text, "", "")
    name = name.removeprefix("[").removesuffix("]")
    good = _address(name) is not None or _HOST.fullmatch(name)
    if not good or (colon and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise UserError(f"{entry!r} is no host: give name or name:port to --allow-host.")
    return name, int(port) if colon else None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def enforced(policy: Policy, runtime: str = RUNTIME) -> Enforced:
    """How a cluster holds a policy's limits, and which of them it does not."""
    limits = policy.limits
    words = {
        "minutes": "the pod is removed at the end",
        "output_mib": "10 MiB of each stream, more is an error",
        "filesystem": "image read-only; own folders of the node, removed with the pod",
        "system calls": f"seccomp RuntimeDefault, runtime class {runtime}",
    }
    missing = {name: why for name, why in _NOT_HELD.items() if getattr(limits, name)}
    if limits.cpus:
        words["cpus"] = f"{limits.cpus:g} processors' time by the pod's limit"
    if limits.memory_mib:
        words["memory_mib"] = f"{limits.memory_mib} MiB for all together by the pod's limit"
    if limits.disk_mib:
        words["disk_mib"] = f"{limits.disk_mib} MiB by the volume's size, looked at now and then"
    if policy.network == "none":
        words["network"] = "denied both ways by the cluster's network policy (Cilium)"
    elif policy.network == "packages":
        words["network"] = "named hosts only by the cluster's network policy (Cilium)"
        missing["network packages"] = (
            "a cluster filters hosts, not packages: the paper's own package can be fetched"
        )
    if policy.gpus:
        words["gpus"] = f"{policy.gpus} by the node's device plugin"
    return Enforced(provider="k8s", limits=words, missing=missing, requests=policy.requests)


_NOT_HELD = {
    "processes": "pods have no limit of their own: set podPidsLimit of the kubelet",
    "files": "a volume counts bytes, not files",
    "file_mib": "a pod has no limit for one file",
}
