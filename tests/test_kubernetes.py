"""Kubernetes: a policy as the chart's values; trees in and out of sandboxes that share no folder."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tarfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, overload

import pytest
from inspect_ai.util import ExecResult, SandboxEnvironment
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment
from workspaces import child, snapshot, write

from expbench.errors import PrerequisiteError, SandboxError, UserError
from expbench.sandboxes import kubernetes, transport
from expbench.sandboxes.transport import get_tree, put_tree
from expbench.sandboxes.untar import Caps, Taken, extract
from expbench.schema import Limits, Policy, Requests

MIB = 1024**2
CAPS = Caps(members=5000, size=64 * MIB, file=8 * MIB, archive=64 * MIB)


# --- a policy as values --------------------------------------------------------------------------


def service(policy: Policy, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = kubernetes.values(policy, "agent:1", **more)["services"]["default"]
    return found


def test_a_pod_is_sealed() -> None:
    made = service(Policy())
    assert made["image"] == "agent:1"
    assert made["runtimeClassName"] == "gvisor"
    security = made["securityContext"]
    assert security["runAsNonRoot"] and security["readOnlyRootFilesystem"]
    assert not security["privileged"] and not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    mounted = {mount["name"]: mount["mountPath"] for mount in made["volumeMounts"]}
    assert set(mounted.values()) >= {"/workspace", "/tmp", "/home/agent", "/dev/shm"}
    assert {volume["name"] for volume in made["volumes"]} == set(mounted)
    assert all("emptyDir" in volume for volume in made["volumes"])
    runtime = service(Policy(), runtime="CLUSTER_DEFAULT")["runtimeClassName"]
    assert runtime == "CLUSTER_DEFAULT"


def test_requests_and_limits_are_separate() -> None:
    """R32: requests place a pod; without them it is of the class Guaranteed."""
    limits = Limits(cpus=2, memory_mib=4096, disk_mib=1000)
    made = service(Policy(limits=limits))["resources"]
    assert made["limits"]["cpu"] == made["requests"]["cpu"] == "2000m"
    assert made["limits"]["memory"] == made["requests"]["memory"] == "4096Mi"
    assert made["limits"]["ephemeral-storage"] == "7120Mi"
    requests = Requests(cpus=0.5, memory_mib=9999)
    made = service(Policy(limits=limits, requests=requests, gpus=2))["resources"]
    assert made["requests"] == {"cpu": "500m", "memory": "4096Mi", "nvidia.com/gpu": "2"}
    assert made["limits"]["nvidia.com/gpu"] == "2"
    unbounded = Limits(cpus=None, memory_mib=None, disk_mib=None)
    made = service(Policy(limits=unbounded))
    assert made["resources"] == {"limits": {}, "requests": {}}


def test_networks() -> None:
    """R14: nothing by default; named hosts; or the world."""
    made = kubernetes.values(Policy(), "i")
    assert made["services"]["default"]["networkIsolated"] is True
    assert not {"allowDomains", "allowEntities", "allowCIDR"} & set(made)
    hosts = ("Mirror.example:8080", "code.example:443", "10.1.2.3", "[fd00::1]:80")
    policy = Policy(network="packages", allow_hosts=hosts)
    made = kubernetes.values(policy, "i", index_hosts=("index.example",))
    assert "networkIsolated" not in made["services"]["default"]
    assert made["allowDomains"] == ["index.example", "mirror.example", "code.example"]
    port = {"port": 8080, "protocol": "TCP", "domain": "mirror.example"}
    assert made["allowDomainsPorts"] == [port]
    assert made["allowCIDR"] == ["10.1.2.3/32", "fd00::1/128"]
    made = kubernetes.values(Policy(network="open"), "i")
    assert made["allowEntities"] == ["world"]
    assert "networkIsolated" not in made["services"]["default"]


@pytest.mark.parametrize(
    "entry", ["a b", "http://x", "x:99999", "x:", "a..b", "*", "a:b:c", "", 'a"b']
)
def test_what_is_no_host_is_refused(entry: str) -> None:
    """A value is put into the chart's templates as it is."""
    with pytest.raises(UserError, match="no host"):
        kubernetes.values(Policy(network="packages", allow_hosts=(entry,)), "i")


def test_only_fields_of_the_chart_are_set() -> None:
    """Its schema refuses every other one."""
    policy = Policy(network="packages", allow_hosts=("a.example",), gpus=1)
    made = kubernetes.values(policy, "i", run="a run/of mine.")
    assert set(made) <= {
        *("services", "labels", "allowDomains", "allowDomainsPorts", "allowCIDR", "allowEntities")
    }
    assert set(made["services"]["default"]) <= {
        *("image", "runtimeClassName", "command", "workingDir", "env", "resources"),
        *("securityContext", "volumes", "volumeMounts", "networkIsolated"),
    }
    assert made["labels"] == {"expbench.run": "a-run-of-mine"}


def test_the_file_is_json_which_is_yaml(tmp_path: Path) -> None:
    made = kubernetes.values(Policy(), "i")
    path = kubernetes.write_values(made, tmp_path)
    assert path.name == "values.yaml"
    assert json.loads(path.read_text()) == made


def test_what_a_cluster_does_not_hold_is_said() -> None:
    found = kubernetes.enforced(Policy(limits=Limits(cpus=1)))
    assert {"cpus", "memory_mib", "disk_mib", "network"} <= set(found.limits)
    assert set(found.missing) == {"processes", "files", "file_mib"}
    free = Limits(processes=None, files=None, file_mib=None)
    assert kubernetes.enforced(Policy(limits=free)).missing == {}
    packages = kubernetes.enforced(Policy(limits=free, network="packages"))
    assert set(packages.missing) == {"network packages"}


def test_what_must_be_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes, "find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError, match=r"expbench\[k8s\]"):
        kubernetes.check()
    monkeypatch.setattr(kubernetes, "find_spec", lambda name: name)
    monkeypatch.setattr(kubernetes.shutil, "which", lambda name: None)
    with pytest.raises(PrerequisiteError, match="helm"):
        kubernetes.config(Path("values.yaml"))


def test_a_pod_that_restarts_ends_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """R25: with the provider's real settings where it is installed, else with the same names."""
    pytest.importorskip("anyio")
    monkeypatch.setattr(kubernetes, "check", lambda: None)
    try:
        import k8s_sandbox  # noqa: F401
    except ImportError:
        stand_in = SimpleNamespace(K8sSandboxEnvironmentConfig=SimpleNamespace)
        monkeypatch.setitem(sys.modules, "k8s_sandbox", stand_in)
    made = kubernetes.config(Path("values.yaml"), "cluster")
    assert made.values == Path("values.yaml")
    assert made.context == "cluster"
    assert made.restarted_container_behavior == "raise"


# --- trees in and out ----------------------------------------------------------------------------


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def env() -> AsyncIterator[SandboxEnvironment]:
    """Inspect's own ``local`` sandbox: its folder is the workspace."""
    made = LocalSandboxEnvironment()
    yield made
    made.directory.cleanup()


def place(env: SandboxEnvironment) -> str:
    assert isinstance(env, LocalSandboxEnvironment)
    return f"{env.directory.name}/workspace"


def make_tree(root: Path) -> None:
    write(
        root,
        {
            "a.txt": "text",
            "run.sh": "#!/bin/sh\n",
            "deep/" + "/".join(["folder" * 10] * 12) + "/file": "deep",
            "x" * 255: "long",
            "name with space\nand\ttab \" ' -": "odd",
            "-rf": "dash",
            "large.bin": os.urandom(20 * MIB),
            ".git/config": "kept",
        },
    )
    (root / "run.sh").chmod(0o755)
    (root / "empty").mkdir()
    child(root, b"latin-\xe9").write_bytes(b"\xff")
    (root / "link").symlink_to("a.txt")
    (root / "away").symlink_to("/etc/passwd")
    (root / "nowhere").symlink_to("n" * 300)


@pytest.mark.anyio
async def test_a_tree_comes_back_as_it_went(
    env: SandboxEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R29: by a stream of parts, never by a command line, and nothing of it stays in between."""
    between = tmp_path / "between"
    monkeypatch.setattr(transport, "_place", lambda: str(between))
    make_tree(tmp_path / "tree")
    await put_tree(env, tmp_path / "tree", place(env))
    assert snapshot(Path(place(env))) == snapshot(tmp_path / "tree")
    caps = Caps(members=5000, size=64 * MIB, file=32 * MIB, archive=64 * MIB)
    taken = await get_tree(env, place(env), tmp_path / "back", caps)
    assert (taken.refused, taken.stopped) == ((), "")
    assert taken.files == 9
    assert snapshot(tmp_path / "back") == snapshot(tmp_path / "tree")
    assert (tmp_path / "back" / "empty").is_dir()
    assert (tmp_path / "back" / ".git" / "config").read_text() == "kept"
    assert not between.exists()


@pytest.mark.anyio
async def test_what_an_agent_left_is_taken_or_recorded(
    env: SandboxEnvironment, tmp_path: Path
) -> None:
    """R28, R35: hard links as files, sparse files by their size, pipes and large files recorded."""
    root = Path(place(env))
    write(root, {"first": "same", "locked/file": "locked", "too large": bytes(9 * MIB)})
    os.link(root / "first", root / "second")
    os.mkfifo(root / "pipe")
    with (root / "sparse").open("wb") as file:
        file.truncate(4 * MIB)
    (root / "locked" / "file").chmod(0)
    (root / "locked").chmod(0)
    taken = await get_tree(env, place(env), tmp_path / "back", CAPS)
    back = snapshot(tmp_path / "back")
    assert back["first"] == back["second"] == ("f", b"same")
    assert back["locked/file"] == ("f", b"locked")
    assert back["sparse"] == ("f", bytes(4 * MIB))
    reasons = {row.path: row.reason for row in taken.refused}
    assert set(reasons) == {"./pipe", "./too large"}
    assert not taken.stopped


@pytest.mark.anyio
async def test_what_is_not_there_is_an_error(
    env: SandboxEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = tmp_path / "between"
    monkeypatch.setattr(transport, "_place", lambda: str(between))
    with pytest.raises(SandboxError, match="could not be taken"):
        await get_tree(env, f"{place(env)}/absent", tmp_path / "back", CAPS)
    (tmp_path / "tree").mkdir()
    with pytest.raises(SandboxError, match="could not be brought"):
        await put_tree(env, tmp_path / "tree", "/proc/none")
    assert not between.exists()


class Hostile(LocalSandboxEnvironment):
    """A sandbox whose every program lies: it offers parts without an end."""

    def __init__(self, part: bytes) -> None:
        super().__init__()
        self.part = part
        self.asked = 0

    async def exec(self, *args: Any, **more: Any) -> ExecResult[str]:
        return ExecResult(True, 0, "0", "")

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        self.asked += 1
        return self.part


@pytest.mark.anyio
@pytest.mark.parametrize("size", [MIB, 9 * MIB])
async def test_an_archive_without_an_end_is_bounded(tmp_path: Path, size: int) -> None:
    """R28, R29."""
    start = gzip.compress(block("a", 0), 0)
    env = Hostile(start + os.urandom(size - len(start)))
    caps = Caps(archive=4 * MIB)
    if size > 8 * MIB:
        with pytest.raises(SandboxError, match="could not be taken"):
            await get_tree(env, "/workspace", tmp_path / "back", caps)
    else:
        taken = await get_tree(env, "/workspace", tmp_path / "back", caps)
        assert taken.stopped
    assert env.asked <= 5


# --- archives made to do harm --------------------------------------------------------------------


def block(name: str, size: int, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info.tobuf(tarfile.GNU_FORMAT)


def entry(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    return block(name, len(content), kind, link) + content + bytes(-len(content) % 512)


def unpack(tmp_path: Path, archive: bytes, caps: Caps = CAPS) -> Taken:
    """Unpack between two witnesses, which must stay what they are."""
    (tmp_path / "outside").mkdir(exist_ok=True)
    (tmp_path / "outside" / "canary").write_text("canary")
    taken = extract(io.BytesIO(archive), tmp_path / "into", caps)
    assert snapshot(tmp_path / "outside") == {"canary": ("f", b"canary")}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["into", "outside"]
    return taken


END = bytes(1024)
GOOD = entry("good", b"good")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (entry("../x", b"x"), "leads out"),
        (entry("a/../../outside/canary", b"x"), "leads out"),
        (entry("..", kind=tarfile.DIRTYPE), "leads out"),
        (entry("/etc/x", b"x"), "absolute"),
        (entry("x", kind=tarfile.LNKTYPE, link="/etc/passwd"), "hard link"),
        (entry("x", kind=tarfile.LNKTYPE, link="../outside/canary"), "hard link"),
        (entry("a", kind=tarfile.SYMTYPE, link="../outside") + entry("a/canary", b"x"), "link"),
        (entry("a", kind=tarfile.SYMTYPE, link="../outside") + entry("a/b/c", b"x"), "link"),
        (entry("a", kind=tarfile.SYMTYPE, link="../outside/canary") + entry("a", b"x"), "twice"),
        (entry("a", b"x") + entry("a", kind=tarfile.SYMTYPE, link="../outside"), "twice"),
        (entry("a/b", b"x") + entry("a", kind=tarfile.SYMTYPE, link="../outside"), "twice"),
        (entry("a", b"x") + entry("a", b"y"), "twice"),
        (entry("a", b"x") + entry("a/b", b"y"), "taken"),
        (entry("a/b", b"x") + entry("a", b"y"), "twice"),
        (entry("x", kind=tarfile.CHRTYPE), "device"),
        (entry("x", kind=tarfile.BLKTYPE), "device"),
        (entry("x", kind=tarfile.FIFOTYPE), "pipe"),
        (entry("x", kind=b"Z"), "unknown"),
        (entry("./", b"x"), "nothing"),
        (entry("x", kind=tarfile.SYMTYPE), "nothing"),
        (entry("x", bytes(9 * MIB)), "larger"),
    ],
)
def test_a_member_made_to_do_harm_is_refused(tmp_path: Path, members: bytes, reason: str) -> None:
    """R28: with a recorded reason; what comes after it is taken."""
    taken = unpack(tmp_path, gzip.compress(members + GOOD + END, 1))
    assert [reason in row.reason for row in taken.refused] == [True]
    assert not taken.stopped
    assert (tmp_path / "into" / "good").read_bytes() == b"good"


LONG = entry("././@LongLink", b"../" * 10 + b"x\0", tarfile.GNUTYPE_LONGNAME) + entry("x", b"x")


def test_a_long_name_is_checked_too(tmp_path: Path) -> None:
    taken = unpack(tmp_path, gzip.compress(LONG + GOOD + END))
    assert "leads out" in taken.refused[0].reason


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        (entry("x", kind=tarfile.GNUTYPE_SPARSE), "sparse"),
        (entry("x", b"30 path=/etc/evil\n", tarfile.XHDTYPE), "extended"),
        (entry("x", b"30 path=/etc/evil\n", tarfile.XGLTYPE), "extended"),
        (block("././@LongLink", 2**31, tarfile.GNUTYPE_LONGNAME), "too long"),
        (block("x", 2**40), "damaged"),
        (block("x", 100) + b"short", "damaged"),
        (b"x" * 512, "damaged"),
        (b"", "damaged"),
    ],
)
def test_an_archive_made_to_do_harm_is_not_read_on(
    tmp_path: Path, archive: bytes, reason: str
) -> None:
    """R28: what was taken before stays, and the reason is recorded; no half a file is left."""
    taken = unpack(tmp_path, gzip.compress(GOOD + archive), Caps(file=2**41))
    assert reason in taken.stopped
    assert snapshot(tmp_path / "into") == {"good": ("f", b"good")}
    assert (taken.files, taken.size) == (1, 4)


@pytest.mark.parametrize("cut", [0, 5, 30, -4])
def test_damage_is_said(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(entry("x", os.urandom(2000)))
    assert "damaged" in unpack(tmp_path, whole[:cut] if cut else b"no archive at all").stopped


def stream(parts: Iterator[bytes]) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        for part in parts:
            file.write(part)
    return packed.getvalue()


def test_a_million_members_are_bounded(tmp_path: Path) -> None:
    """R28: also when each of them is refused."""
    many = entry("../x") * 1000
    taken = unpack(tmp_path, stream(many for _ in range(1000)), Caps(members=20_000))
    assert "20000 members" in taken.stopped
    assert len(taken.refused) == 1001
    assert sum(row.files for row in taken.refused) == 20_000


def test_a_bomb_is_bounded_by_what_it_unpacks_to(tmp_path: Path) -> None:
    """R28: no more than the cap is written, and the half file is removed."""
    zeros = bytes(MIB)
    parts = [block("bomb", 2**36), *[zeros] * 300]
    archive = stream(iter([GOOD, *parts]))
    assert len(archive) < 2 * MIB
    taken = unpack(tmp_path, archive, Caps(size=50 * MIB, file=2**40))
    assert "more than may be taken" in taken.stopped
    assert snapshot(tmp_path / "into") == {"good": ("f", b"good")}


def test_endless_links_and_headers_are_bounded(tmp_path: Path) -> None:
    target = entry("././@LongLink", b"t" * 4000 + b"\0", tarfile.GNUTYPE_LONGLINK)
    links = (target + entry(f"l{n}", kind=tarfile.SYMTYPE) for n in range(6000))
    taken = unpack(tmp_path, stream(links), Caps(members=10**6))
    assert "too many links" in taken.stopped
    # A compressed stream whose own header has a name without an end.
    started = time.monotonic()
    endless = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (32 * MIB)
    assert "damaged" in extract(io.BytesIO(endless), tmp_path / "other", CAPS).stopped
    assert time.monotonic() - started < 30


def test_a_folder_that_holds_something_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "mine").touch()
    with pytest.raises(PrerequisiteError, match="holds something"):
        extract(io.BytesIO(gzip.compress(GOOD + END)), tmp_path / "into", CAPS)
    with pytest.raises(PrerequisiteError, match="cannot be written"):
        extract(io.BytesIO(gzip.compress(GOOD + END)), Path("/proc/none"), CAPS)


def test_permissions_are_plain(tmp_path: Path) -> None:
    """No setuid, no mode that keeps the harness out."""
    info = tarfile.TarInfo("x")
    info.mode = 0o6777
    closed = tarfile.TarInfo("closed")
    closed.mode = 0
    archive = info.tobuf(tarfile.GNU_FORMAT) + closed.tobuf(tarfile.GNU_FORMAT) + END
    unpack(tmp_path, gzip.compress(archive))
    assert (tmp_path / "into" / "x").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "into" / "closed").stat().st_mode & 0o7777 == 0o644
