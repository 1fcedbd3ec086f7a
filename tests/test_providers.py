"""Sandboxes by hand: how many start at once, what a system of one's own shows, and what lives how long."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment
from test_gateway import Site, publish, serving, wheel

from expbench.errors import SandboxError
from expbench.sandboxes import inspect_session
from expbench.sandboxes.host import SandboxHost, mounts_overlays
from expbench.sandboxes.inspect_session import InspectSession
from expbench.sandboxes.network import Index
from expbench.sandboxes.providers import PROVIDERS, Launch
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Enforced, Policy
from expbench.workspace import Prepared, collect, open_view

Start = Callable[..., Session]
CANARY = "canary-0f5c21d87e"


@pytest.fixture
def start(host: SandboxHost) -> Iterator[Start]:
    """Starts sandboxes of hosts like the session's; all are closed and removed at the end."""
    sessions: list[tuple[SandboxHost, Session]] = []

    def begin(policy: Policy | None = None, **options: Any) -> Session:
        chosen = replace(host, policy=policy or Policy(), **options)
        session = chosen.start(chosen.folder())
        sessions.append((chosen, session))
        return session

    yield begin
    for chosen, session in sessions:
        session.close()
        chosen.discard(session.view.folder)


def shell(session: Session, script: str, timeout: float = 60) -> Completed:
    return session.run(["/bin/bash", "-c", script], timeout=timeout)


def out(session: Session, script: str) -> str:
    done = shell(session, script)
    assert done.exit_code == 0, done
    return done.stdout.decode().strip()


# --- starting ------------------------------------------------------------------------------------


def test_no_more_start_at_once_than_may(host: SandboxHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """R30: twenty are asked for at once, two start at a time, and all run side by side."""
    ramped = replace(host, starts=2)
    lock = threading.Lock()
    starting, most = 0, 0
    real = PROVIDERS["bwrap"].start

    def observed(launch: Launch) -> Session:
        nonlocal starting, most
        with lock:
            starting += 1
            most = max(most, starting)
        try:
            return real(launch)
        finally:
            with lock:
                starting -= 1

    monkeypatch.setattr(PROVIDERS["bwrap"], "start", observed)
    folders = [ramped.folder() for _ in range(20)]
    with ThreadPoolExecutor(20) as pool, ExitStack() as stack:
        sessions = [stack.enter_context(each) for each in pool.map(ramped.start, folders)]
        assert most == 2
        said = list(pool.map(lambda session: out(session, "echo works"), sessions))
        assert said == ["works"] * 20
        assert all(session.alive for session in sessions)
    for folder in folders:
        ramped.discard(folder)


def test_one_that_does_not_start_gives_all_back(
    host: SandboxHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R23, R30: its gateway and its place among those that start are free again."""
    policy = Policy(network="packages")
    chosen = replace(host, policy=policy, starts=1)
    folder = chosen.folder()
    before = set(host.cache.work.iterdir())

    def refused(*_: object) -> None:
        raise SandboxError("no group could be made")

    with monkeypatch.context() as patch:
        patch.setattr("expbench.sandboxes.providers.hold", refused)
        for _ in range(3):
            with pytest.raises(SandboxError, match="no group"):
                chosen.start(folder)
            assert set(host.cache.work.iterdir()) == before, "a gateway's folder was left"
    with chosen.start(folder) as session:
        assert out(session, "echo works") == "works"
    chosen.discard(folder)


# --- a system of one's own -----------------------------------------------------------------------

FACTS = "import sys; print(sys.base_prefix, sys.version_info[:2])"


def check_system(start: Start, host: SandboxHost, rootfs: Path) -> Session:
    """What every root file system's sandbox is like."""
    version = sorted((rootfs / "usr/bin").glob("python3.*[0-9]"))[-1].name.removeprefix("python")
    other = host.folder()
    (other / "answer.txt").write_text(CANARY)
    box = start(rootfs=rootfs)
    major, minor = version.split(".")
    assert out(box, f"python3 -c '{FACTS}'") == f"/usr ({major}, {minor})"
    assert out(box, "readlink -f $(command -v python3)") == f"/usr/bin/python{version}"
    for place in ("/usr", "/usr/bin", "/etc", "/"):
        assert shell(box, f"touch {place}/mine").exit_code != 0, place
    assert out(box, "touch mine && ls") == "mine"
    found = shell(box, f"ls {other} {host.cache.root}; grep -rs {CANARY} / --include=answer.txt")
    assert CANARY.encode() not in found.stdout and b"answer" not in found.stdout
    assert out(box, "ls /home") == "agent" and shell(box, "ls -d /root").exit_code != 0
    host.discard(other)
    return box


def test_this_machines_own_root_is_a_root_file_system(start: Start, host: SandboxHost) -> None:
    if not list(Path("/usr/bin").glob("python3.*[0-9]")):
        pytest.skip("this machine has no Python of its system's")
    check_system(start, host, Path("/"))


def test_hidden_paths_of_a_root_file_system_are_covered(start: Start) -> None:
    """R18: data that lie in the very folder whose system is shown stay hidden."""
    if not list(Path("/usr/bin").glob("python3.*[0-9]")):
        pytest.skip("this machine has no Python of its system's")
    shown = next(p for p in Path("/usr/share").iterdir() if p.is_dir() and any(p.iterdir()))
    seen = start(rootfs=Path("/"))
    assert out(seen, f"ls -A {shown}"), "the positive control"
    covered = start(rootfs=Path("/"), hidden=(shown,))
    assert out(covered, f"ls -A {shown}") == ""


def test_a_minimal_system_of_this_machines_mirror(
    start: Start, host: SandboxHost, tmp_path: Path
) -> None:
    """As ``debootstrap`` fetches it, and unpacked only, which is what takes no minute."""
    fetched, made = tmp_path / "fetched", tmp_path / "system"
    command = ["debootstrap", "--variant=minbase", "--include=python3", "--download-only"]
    suite = _suite()
    if os.geteuid() != 0 or shutil.which("debootstrap") is None or not suite:
        pytest.skip("making a system needs root, debootstrap and an apt mirror")
    mirror, name = suite
    if not _answers(mirror, name):
        pytest.skip("this machine's apt mirror does not answer")
    # Its own session: the programs that it starts end with it.
    process = subprocess.Popen(
        [*command, name, str(fetched), mirror],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        pytest.skip("this machine's apt mirror does not give a system within a minute")
    if code != 0:
        pytest.skip(f"debootstrap does not work on this machine: exit code {code}")
    for package in (fetched / "var/cache/apt/archives").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, made], check=True, timeout=30)
    (made / "etc/os-release").unlink()
    (made / "etc/os-release").write_text("ID=madehere\n")
    box = check_system(start, host, made)
    assert out(box, "cat /etc/os-release") == "ID=madehere"
    assert not list(made.glob("mine")) and not list(made.glob("usr/mine"))


def _suite() -> tuple[str, str] | None:
    """The address and the name of this machine's own distribution, as apt has them."""
    if shutil.which("apt-get") is None:
        return None
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(CREATED_BY)"],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    for line in listed.stdout.splitlines():
        address, name, kind = [*line.split(), "", "", ""][:3]
        if kind == "Packages" and "-" not in name and "/" not in name:
            return address, name
    return None


def _answers(mirror: str, name: str) -> bool:
    code = (
        "import sys, urllib.request as u; "
        "u.urlopen(f'{sys.argv[1].rstrip(chr(47))}/dists/{sys.argv[2]}/InRelease', timeout=10).read(1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, mirror, name], capture_output=True, check=False, timeout=30
    )
    return done.returncode == 0


# --- what lives how long -------------------------------------------------------------------------


def test_background_jobs_live_through_many_commands_and_end_with_the_sandbox(start: Start) -> None:
    """R20, R21: however they were started, and whatever else runs or times out meanwhile."""
    marker = f"marker{uuid.uuid4().hex}"
    box = start()
    for number, how in enumerate(
        ("{} >/dev/null 2>&1 &", "setsid -f {}", "nohup {} >log 2>&1 &", "({} &)")
    ):
        job = how.format(f"bash -c 'exec -a {marker}-{number} sleep 300'")
        assert shell(box, job).exit_code == 0
    wanted = {f"{marker}-{number}" for number in range(4)}
    deadline = time.monotonic() + 10
    while carriers(marker) != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(5):
        assert out(box, "echo on") == "on"
        assert shell(box, "exit 3").exit_code == 3
        assert carriers(marker) == wanted
    assert shell(box, "sleep 300", timeout=0.3).timed_out
    assert box.run(["no-such-program"]).error.startswith("ENOENT")
    time.sleep(1.2)
    assert out(box, "echo on") == "on"
    assert carriers(marker) == wanted
    shell(box, f"pkill -f {marker}-2")
    for _ in range(3):
        out(box, "echo on")
    assert carriers(marker) == wanted - {f"{marker}-2"}, "one that ended ends no other"
    box.close()
    assert carriers(marker) == set()


def test_a_returned_command_costs_the_harness_nothing(start: Start) -> None:
    """R24: of thousands of commands no file stays open, nor does of those whose jobs have ended."""
    box = start()
    for _ in range(3):
        shell(box, "sleep 0.1 >/dev/null 2>&1 &")
    before = open_files()
    for _ in range(40):
        shell(box, "true")
    for _ in range(10):
        shell(box, "sleep 0.1 >/dev/null 2>&1 &")
    time.sleep(1)
    for _ in range(2):
        shell(box, "true")
    assert open_files() <= before + 2


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def carriers(marker: str) -> set[str]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            first = (folder / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
            if first.startswith(marker):
                found.add(first)
    return found


# --- networks ------------------------------------------------------------------------------------


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Site()) as site:
        publish(site, "outer", wheel("outer", requires="inner"))
        publish(site, "inner", wheel("inner"))
        yield Index.at("pypi", f"{site.url}/simple")


def test_what_pip_installs_is_one_sandboxs_own(
    start: Start, host: SandboxHost, index: Index
) -> None:
    """R14, R26: into a layer of its own, which no other sandbox sees and the cache does not keep."""
    if not mounts_overlays(host.cache.work):
        pytest.skip("no overlays on this machine")
    policy = Policy(network="packages")
    first, second = (start(policy, indexes=(index,)) for _ in range(2))
    import_it = "python -c 'import outer, inner; print(inner.GREETING)'"
    assert shell(first, import_it).exit_code != 0
    assert "Successfully installed" in out(first, "pip install --no-input outer 2>&1")
    assert out(first, import_it) == "hello from inner"
    assert shell(second, import_it).exit_code != 0
    third = start(policy, indexes=(index,))
    assert shell(third, import_it).exit_code != 0
    environments = [*host.cache.envs.rglob("outer.py"), *host.cache.envs.rglob("inner.py")]
    assert environments == []
    assert second.enforced.limits["network"] != start().enforced.limits["network"]


def test_without_a_network_there_is_nothing_to_install_into(start: Start) -> None:
    box = start()
    assert shell(box, "python -m pip --version").exit_code != 0
    folder = "import sysconfig; print(sysconfig.get_path('purelib'))"
    assert shell(box, f'touch $(python -c "{folder}")/mine.py').exit_code != 0


@pytest.mark.parametrize("network", ["none", "packages", "open"])
def test_no_variable_of_the_harness_is_inside(
    start: Start, index: Index, monkeypatch: pytest.MonkeyPatch, network: Any
) -> None:
    """R46, R14: whatever the network is, and also not by the way of its settings."""
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "MY_OWN_SETTING", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.setenv(name, CANARY)
    box = start(Policy(network=network), indexes=(index,) if network == "packages" else ())
    seen = out(
        box,
        "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; env; "
        f"grep -rs {CANARY} /etc /tmp ~ /opt /workspace; true",
    )
    assert "TZ=UTC" in seen, "the positive control: variables are read"
    for word in (CANARY, "MY_OWN_SETTING", "HF_TOKEN", "PYTEST"):
        assert word not in seen, word


def test_an_open_network_is_recorded_and_hides_the_rest(start: Start, host: SandboxHost) -> None:
    box = start(Policy(network="open"))
    assert "network" not in box.enforced.limits
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection({server.getsockname()}, 5); print('in')"
        assert out(box, f'python -c "{code}"') == "in"
    assert shell(box, f"ls {host.cache.root}").exit_code != 0


# --- a sandbox of Inspect's ----------------------------------------------------------------------


class Far(LocalSandboxEnvironment):
    """Inspect's ``local`` as a sandbox that shares no folder with us: its workspace is one of its own."""

    ended: int = 0

    @classmethod
    async def sample_init(
        cls, task_name: str, config: Any, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: Any,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        await super().sample_cleanup(task_name, config, environments, interrupted)
        cls.ended += 1


@pytest.fixture
def far(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[InspectSession, Path]]:
    """A session in a far sandbox over a masked tree, and the folder of its workspace there."""
    place = tmp_path / "far" / "workspace"
    monkeypatch.setattr(inspect_session, "WORKSPACE", str(place))
    monkeypatch.setattr(Far, "ended", 0)
    view = open_view(prepared, tmp_path / "near", False, None)
    enforced = Enforced(provider="far", limits={"cpus": "1 processor"})
    owned = ExitStack()
    variables = {"PATH": os.environ["PATH"], "TZ": "UTC"}
    session = InspectSession(Far, None, view, enforced, variables, owned)
    yield session, place
    session.close()


def test_work_in_a_far_sandbox_is_taken_back_and_collected(
    far: tuple[InspectSession, Path], prepared: Prepared
) -> None:
    """R34, R29: the tree goes in, commands run there, and what they changed is collected here."""
    session, place = far
    assert session.alive and session.workspace == str(place)
    assert (session.enforced.workspace, session.enforced.provider) == ("copy", "far")
    assert out(session, "ls configs src") == "configs:\nbase.yaml\n\nsrc:\n__init__.py\nmodel.py"
    done = session.run(
        ["bash", "-c", "cat > new.py; pwd; echo $MINE $TZ; exit 3"],
        stdin=b"x = 1\n",
        cwd="src",
        env={"MINE": "given"},
    )
    assert (done.exit_code, done.timed_out) == (3, False)
    assert done.stdout.decode() == f"{place}/src\ngiven UTC\n"
    assert (
        out(session, "rm src/model.py; echo 'rate: 9' > configs/base.yaml; git status -s | wc -l")
        == "3"
    )
    assert not (session.view.files / "src/new.py").exists(), "nothing of it is here in between"
    session.close()
    assert not session.alive and Far.ended == 1
    found = collect(session.view, prepared)
    assert set(found.changed) == {"src/new.py", "src/model.py", "configs/base.yaml"}
    assert b"rate: 9" in found.patch and b"+x = 1" in found.patch
    session.close()
    assert Far.ended == 1
    with pytest.raises(SandboxError):
        session.run(["true"])


def test_a_command_in_a_far_sandbox_ends_in_time_and_is_bounded(
    far: tuple[InspectSession, Path],
) -> None:
    """R20, R29"""
    session, _ = far
    started = time.monotonic()
    assert session.run(["sleep", "60"], timeout=1).timed_out
    assert time.monotonic() - started < 20
    flood = session.run(["bash", "-c", "head -c 30000000 /dev/zero | tr '\\0' x"], timeout=60)
    assert len(flood.stdout) < 15_000_000
    assert out(session, "echo on") == "on"


def test_a_far_sandbox_that_cannot_be_had_is_an_error_and_leaves_nothing(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R25, R23: before the tree is there; what was begun is ended."""

    class Deaf(Far):
        async def write_file(self, file: str, contents: str | bytes) -> None:
            raise RuntimeError("no answer")

    monkeypatch.setattr(inspect_session, "WORKSPACE", str(tmp_path / "far"))
    view = open_view(prepared, tmp_path / "near", False, None)
    ended: list[str] = []
    owned = ExitStack()
    owned.callback(ended.append, "owned")
    with pytest.raises(SandboxError, match="no answer"):
        InspectSession(Deaf, None, view, Enforced(provider="far"), {}, owned)
    assert Deaf.ended == 1 and ended == ["owned"]


def test_a_far_sandbox_that_dies_at_the_end_leaves_what_was_brought_in(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R25: then nothing can be taken, which is an error and not an empty submission."""

    class Dying(Far):
        async def read_file(self, file: str, text: bool = True) -> Any:
            raise RuntimeError("gone")

    monkeypatch.setattr(inspect_session, "WORKSPACE", str(tmp_path / "far"))
    view = open_view(prepared, tmp_path / "near", False, None)
    variables = {"PATH": os.environ["PATH"]}
    session = InspectSession(Dying, None, view, Enforced(provider="far"), variables, ExitStack())
    out(session, "rm -rf src")
    with pytest.raises(SandboxError, match="gone"):
        session.close()
    assert (view.files / "src/model.py").exists()
    assert not Path(f"{view.folder}.taken").exists()
    session.close()
