"""Container engines: what is asked of them, what they really hold, and what is left when all goes wrong."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from engine import ENGINES, IMAGE, docker

from expbench.errors import PrerequisiteError, SandboxError
from expbench.sandboxes.container_box import (
    Container,
    ContainerBox,
    Mount,
    arguments,
    inside_user,
)
from expbench.sandboxes.container_provider import ADDED, Containers
from expbench.sandboxes.containers import Engine, owner_labels, sweep
from expbench.sandboxes.engine_facts import EngineFacts, of_docker, of_podman
from expbench.sandboxes.environment import SANDBOX_UID, PythonEnvironment
from expbench.sandboxes.providers import Launch
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Limits, Policy, Requests
from expbench.workspace import View

pytestmark = pytest.mark.xdist_group("engine")

LIMITS = Limits(memory_mib=256, processes=64, cpus=1, disk_mib=64, files=1000, file_mib=16)
POLICY = Policy(limits=LIMITS)
DOCKER = EngineFacts(
    program="docker",
    version="27",
    rootless=False,
    cgroups="v2",
    processors=8,
    missing={},
    swap=True,
    remapped=False,
    filtered=True,
    selinux=False,
)
PODMAN = replace(DOCKER, program="podman")
WHY = "it ignores it"
NO_GROUPS = replace(
    PODMAN, rootless=True, missing=dict.fromkeys(("memory_mib", "processes", "cpus"), WHY)
)


def container(policy: Policy = POLICY, **more: object) -> Container:
    fields = {"name": "box", "image": "image", "policy": policy, "uid": 7, "gid": 8, **more}
    return Container(**fields)  # type: ignore[arg-type]


def values_of(command: list[str], option: str) -> list[str]:
    """All values of an option."""
    return [value for name, value in itertools.pairwise(command) if name == option]


# --- what is asked of an engine ------------------------------------------------------------------


@pytest.mark.parametrize("facts", [DOCKER, PODMAN])
def test_a_container_is_sealed_whatever_the_policy(facts: EngineFacts) -> None:
    command = arguments(facts, container(Policy(network="open", limits=Limits(memory_mib=None))))
    assert command[:2] == ["run", "--detach"]
    assert {"--read-only", "--privileged"} & set(command) == {"--read-only"}
    assert values_of(command, "--cap-drop") == ["ALL"]
    assert values_of(command, "--security-opt") == ["no-new-privileges"]
    assert values_of(command, "--user") == ["7:8"]
    assert values_of(command, "--pull") == ["never"]
    assert values_of(command, "--entrypoint") == ["python3"]
    assert "--init" not in command


@pytest.mark.parametrize("facts", [DOCKER, PODMAN])
def test_limits_and_requests_are_separate(facts: EngineFacts) -> None:
    """R32: what is promised is not what kills."""
    policy = Policy(limits=LIMITS, requests=Requests(cpus=0.5, memory_mib=128))
    command = arguments(facts, container(policy))
    assert values_of(command, "--memory") == values_of(command, "--memory-swap") == ["256m"]
    assert values_of(command, "--memory-reservation") == ["128m"]
    assert values_of(command, "--cpus") == ["1"]
    assert values_of(command, "--cpu-shares") == ["512"]
    assert values_of(command, "--pids-limit") == ["64"]
    assert f"fsize={16 * 1024**2}:{16 * 1024**2}" in values_of(command, "--ulimit")
    assert "core=0:0" in values_of(command, "--ulimit")


def test_no_more_processors_are_asked_for_than_there_are() -> None:
    command = arguments(replace(DOCKER, processors=2), container(Policy(limits=Limits(cpus=64))))
    assert values_of(command, "--cpus") == ["2"]


def test_an_engine_is_not_asked_for_what_it_would_only_warn_of() -> None:
    command = arguments(NO_GROUPS, container())
    assert {"--memory", "--memory-swap", "--cpus", "--pids-limit"} & set(command) == set()
    assert values_of(command, "--userns") == ["keep-id"]


def test_memory_file_systems_are_never_larger_than_the_memory() -> None:
    command = arguments(DOCKER, container(Policy(limits=Limits(memory_mib=100))))
    assert values_of(command, "--shm-size") == ["100m"]
    places = [text.partition(":")[0] for text in values_of(command, "--tmpfs")]
    assert places == ["/tmp", "/var/tmp", "/home/agent"]
    assert all("size=100m" in text for text in values_of(command, "--tmpfs"))


@pytest.mark.parametrize(
    ("network", "facts", "asked"),
    [
        ("none", DOCKER, ["none"]),
        ("packages", DOCKER, ["none"]),
        ("open", DOCKER, ["bridge"]),
        ("open", PODMAN, []),
        ("none", PODMAN, ["none"]),
    ],
)
def test_only_an_open_network_has_a_way_out(
    network: str, facts: EngineFacts, asked: list[str]
) -> None:
    """R26: no network is made for a sandbox."""
    policy = Policy.model_validate({"network": network})
    assert values_of(arguments(facts, container(policy)), "--network") == asked


def test_gpus_are_named_one_by_one() -> None:
    """R31: the leased devices and no others."""
    command = arguments(DOCKER, container(gpus=("0", "GPU-abc")))
    assert values_of(command, "--gpus") == ['"device=0,GPU-abc"']
    command = arguments(PODMAN, container(gpus=("0", "1")))
    assert values_of(command, "--device") == ["nvidia.com/gpu=0", "nvidia.com/gpu=1"]


def test_mounts_are_read_only_unless_they_say_so_and_names_are_quoted() -> None:
    mounts = (Mount(Path('/a,b"c'), "/x"), Mount(Path("/w"), "/workspace", writable=True))
    command = arguments(DOCKER, container(mounts=mounts))
    assert values_of(command, "--mount") == [
        'type=bind,"src=/a,b""c",dst=/x,readonly',
        "type=bind,src=/w,dst=/workspace",
    ]


def test_special_daemons_are_met() -> None:
    command = arguments(replace(DOCKER, remapped=True, selinux=True), container())
    assert values_of(command, "--userns") == ["host"]
    assert "label=disable" in values_of(command, "--security-opt")


@pytest.mark.parametrize(
    ("facts", "uid", "inside"),
    [
        (DOCKER, 0, SANDBOX_UID),
        (DOCKER, 1000, 1000),
        (PODMAN, 0, SANDBOX_UID),
        (replace(PODMAN, rootless=True), 1000, 1000),
        (replace(DOCKER, rootless=True), 1000, 0),
    ],
)
def test_files_of_a_container_are_never_those_of_this_machines_root(
    facts: EngineFacts, uid: int, inside: int
) -> None:
    """R27. The root of a rootless Docker is the harness's user."""
    assert inside_user(facts, uid, uid) == (inside, inside)


# --- what an engine tells ------------------------------------------------------------------------

DOCKER_INFO = {
    "ServerVersion": "24.0.5",
    "NCPU": 4,
    "CgroupVersion": "2",
    "CgroupDriver": "systemd",
    "MemoryLimit": True,
    "SwapLimit": False,
    "CpuCfsQuota": True,
    "PidsLimit": True,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
}
PODMAN_INFO = {
    "host": {
        "cgroupVersion": "v2",
        "cgroupManager": "systemd",
        "cgroupControllers": ["cpu", "memory", "pids"],
        "cpus": 4,
        "security": {"rootless": True, "seccompEnabled": True, "selinuxEnabled": False},
    },
    "version": {"Version": "5.1.0"},
}


def test_what_docker_holds() -> None:
    facts = of_docker(DOCKER_INFO)
    assert (facts.missing, facts.filtered, facts.swap, facts.rootless) == ({}, True, False, False)
    rootless = {
        **DOCKER_INFO,
        "CgroupDriver": "none",
        "SecurityOptions": ["name=seccomp,profile=unconfined", "name=rootless"],
    }
    facts = of_docker(rootless)
    assert set(facts.missing) == {"memory_mib", "processes", "cpus"}
    assert facts.rootless and not facts.filtered
    assert set(of_docker({**DOCKER_INFO, "PidsLimit": False}).missing) == {"processes"}


def podman_info(**host: object) -> dict[str, object]:
    return {**PODMAN_INFO, "host": {**PODMAN_INFO["host"], **host}}


def test_what_podman_holds() -> None:
    assert of_podman(podman_info()).missing == {}
    for facts in (
        of_podman(podman_info(cgroupVersion="v1", cgroupControllers=[])),
        of_podman(podman_info(cgroupManager="cgroupfs")),
    ):
        assert set(facts.missing) == {"memory_mib", "processes", "cpus"}
        assert facts.words(POLICY) == {}
    assert set(of_podman(podman_info(cgroupControllers=["memory", "pids"])).missing) == {"cpus"}


def test_a_limit_that_the_engine_ignores_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "probe", lambda engine: NO_GROUPS)
    enforced = Containers(Engine("podman")).enforcement(POLICY)
    assert enforced.missing == {"cpus": WHY}
    assert "by a watch" in enforced.limits["memory_mib"]
    assert "by rlimit" in enforced.limits["processes"]
    monkeypatch.setattr(Engine, "probe", lambda engine: replace(DOCKER, filtered=False))
    enforced = Containers(Engine("docker")).enforcement(POLICY)
    assert set(enforced.missing) == {"system calls"}
    assert "control group" in enforced.limits["memory_mib"]


# --- an engine that fails ------------------------------------------------------------------------


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], Engine]:
    """An engine whose client is a shell script."""

    def make(script: str) -> Engine:
        path = tmp_path / "docker"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return Engine("docker", path=str(path), deadline=1.0)

    return make


def test_an_engine_that_never_answers_blocks_nobody(fake: Callable[[str], Engine]) -> None:
    """R24: not even with a child that holds the output open."""
    engine = fake("sleep 300 & sleep 300")
    started = time.monotonic()
    with pytest.raises(SandboxError, match="did not answer within 1 s"):
        engine.call("ps")
    with pytest.raises(PrerequisiteError, match="did not answer"):
        engine.probe()
    with pytest.raises(SandboxError, match="did not answer"):
        ContainerBox(engine, DOCKER, container())
    # Four calls of one second each; the box had a start and a removal.
    assert time.monotonic() - started < 4 + 10


def test_what_is_wrong_with_an_engine_is_one_sentence(fake: Callable[[str], Engine]) -> None:
    with pytest.raises(PrerequisiteError, match="cannot connect to the daemon"):
        fake("echo cannot connect to the daemon >&2; exit 1").probe()
    with pytest.raises(PrerequisiteError, match="does not answer as it should"):
        fake("echo '[]'").probe()
    with pytest.raises(PrerequisiteError, match="does not answer as it should"):
        fake("echo '{}'").probe()
    with pytest.raises(PrerequisiteError, match="not on this machine"):
        Engine("docker", host="tcp://127.0.0.1:2375").probe()
    with pytest.raises(PrerequisiteError, match="images/agent"):
        fake("echo No such image >&2; exit 1").image_id("absent")
    with pytest.raises(SandboxError, match="port is already allocated"):
        ContainerBox(fake("echo port is already allocated >&2; exit 125"), DOCKER, container())


def test_an_image_is_built_only_from_a_file_that_is_there(
    fake: Callable[[str], Engine], tmp_path: Path
) -> None:
    engine = fake('case $1 in build) touch "$5.built";; *) [ -e x ] || echo sha256:abc;; esac')
    with pytest.raises(PrerequisiteError, match=r"Dockerfile\.cuda"):
        engine.build_image(tmp_path, "tag", "cuda")
    (tmp_path / "Dockerfile").touch()
    assert engine.build_image(tmp_path, "tag") == "sha256:abc"
    assert (tmp_path / "Dockerfile.built").exists()
    assert engine.ensure_image("tag") == "sha256:abc"


# --- real engines --------------------------------------------------------------------------------

Start = Callable[..., Session]


@pytest.fixture(scope="session", params=["docker", "podman"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as running:
        yield running


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., Launch]:
    def make(policy: Policy = POLICY, **more: object) -> Launch:
        folder = tmp_path / f"workspace-{uuid.uuid4().hex}"
        folder.mkdir()
        os.chown(folder, SANDBOX_UID, SANDBOX_UID)
        fields = {
            "name": f"expbench-{uuid.uuid4().hex}",
            "run": "test",
            "view": View("copy", folder),
            "policy": policy,
            "python": PythonEnvironment(tmp_path, Path("/usr")),
            "image": IMAGE,
            **more,
        }
        return Launch(**fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def start(engine: Engine, launch: Callable[..., Launch]) -> Iterator[Start]:
    sessions: list[Session] = []

    def begin(policy: Policy = POLICY, **more: object) -> Session:
        session = Containers(engine).start(launch(policy, **more))
        sessions.append(session)
        return session

    yield begin
    for session in sessions:
        session.close()
        assert not session.alive


@pytest.fixture
def marker() -> str:
    return f"marker{uuid.uuid4().hex}"


def shell(session: Session, script: str, timeout: float = 30) -> Completed:
    return session.run(["bash", "-c", script], timeout=timeout)


def python(session: Session, code: str, timeout: float = 60) -> Completed:
    return session.run(["python3", "-c", code], timeout=timeout)


def carriers(marker: str) -> int:
    """How many processes of this machine have a marker as their first argument."""
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                count += (folder / "cmdline").read_bytes().split(b"\0")[0] == marker.encode()
    return count


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def test_commands_run_as_an_ordinary_user_in_a_sealed_container(start: Start) -> None:
    box = start()
    done = shell(box, "id -u; pwd; echo $HOME; cat; exit 3 < /dev/null")
    assert done.stdout.decode().split() == [str(SANDBOX_UID), "/workspace", "/home/agent"]
    assert done.exit_code == 3
    for place in ("/workspace", "/tmp", "/var/tmp", "/dev/shm", "/home/agent"):
        assert shell(box, f"touch {place}/file").exit_code == 0, place
    for place in ("/", "/usr", "/etc", "/opt/expbench", "/opt/expbench/channel"):
        assert shell(box, f"touch {place}/file").exit_code != 0, place
    assert shell(box, "ls /proc/1/fd").exit_code != 0
    status = Path("/proc/self/status")
    inside = python(box, f"print(open({str(status)!r}).read())").stdout.decode()
    assert "CapEff:\t0000000000000000" in inside and "CapBnd:\t0000000000000000" in inside
    assert "NoNewPrivs:\t1" in inside and "Seccomp:\t2" in inside
    made = box.view.files / "file"
    assert made.stat().st_uid == SANDBOX_UID
    assert box.alive and len(box.processes()) >= 1


def test_there_is_no_network_but_a_loopback(start: Start) -> None:
    """R15, with a control: the container reaches what listens in itself."""
    box = start()
    assert python(box, "import socket; print([n for _, n in socket.if_nameindex()])").stdout == (
        b"['lo']\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        assert python(box, code).exit_code != 0
        own = "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        assert python(box, f"{own}socket.create_connection(s.getsockname(), 5)").exit_code == 0


def test_a_time_out_kills_all_that_a_command_started(start: Start, marker: str) -> None:
    """R20: child, grandchild, daemon and one that ignores SIGTERM; the control saw them alive."""
    box = start()
    script = f"""
    trap '' TERM
    (exec -a {marker} sleep 300) &
    (trap '' TERM; exec -a {marker} sleep 300) &
    setsid bash -c '(exec -a {marker} sleep 300) & exec -a {marker} sleep 300' &
    wait
    """
    results: list[Completed] = []
    thread = threading.Thread(target=lambda: results.append(shell(box, script, timeout=3)))
    thread.start()
    assert wait_for(lambda: carriers(marker) == 4)
    assert len(box.processes()) > 4
    thread.join(30)
    assert results[0].timed_out
    assert carriers(marker) == 0
    assert shell(box, "echo on").stdout == b"on\n"


def test_background_jobs_live_on_and_end_with_the_sandbox(start: Start, marker: str) -> None:
    box = start()
    assert shell(box, f"(exec -a {marker} sleep 300) >/dev/null 2>&1 &").exit_code == 0
    assert wait_for(lambda: carriers(marker) == 1)
    box.close()
    assert carriers(marker) == 0
    with pytest.raises(SandboxError):
        shell(box, "true")


def test_memory_is_held_for_all_together(start: Start) -> None:
    box = start()
    assert "control group" in box.enforced.limits["memory_mib"]
    assert python(box, "b = bytearray(64 * 1024**2); print(len(b))").exit_code == 0
    assert python(box, "b = bytearray(400 * 1024**2)").exit_code == 137
    hog = "b = bytearray(110 * 1024**2); import time; time.sleep(5)"
    one = f"(python3 -c '{hog}'; echo $?) &"
    done = shell(box, f"{one} {one} {one} wait", timeout=60)
    assert b"137" in done.stdout
    assert box.alive and shell(box, "echo on").stdout == b"on\n"


def test_processes_are_held(start: Start) -> None:
    box = start()
    code = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        made += 1
except BlockingIOError:
    pass
print(made, flush=True)
"""
    done = python(box, code, timeout=5)
    assert 20 < int(done.stdout) < 64
    assert wait_for(lambda: len(box.processes()) < 20)
    assert shell(box, "echo on").stdout == b"on\n"


def test_one_file_is_held(start: Start) -> None:
    box = start()
    code = "open('big', 'wb').write(bytes(17 * 1024**2))"
    assert python(box, code).exit_code != 0
    assert (box.view.files / "big").stat().st_size == 16 * 1024**2


def test_the_result_names_the_image_and_what_was_enforced(start: Start, engine: Engine) -> None:
    box = start()
    assert box.enforced.provider == engine.program
    assert box.enforced.missing == {}
    assert engine.image_id(IMAGE) in box.enforced.limits["filesystem"]
    assert {"memory_mib", "processes", "cpus", "network", "system calls"} <= set(
        box.enforced.limits
    )


def test_a_gateway_is_reached_and_nothing_else(start: Start, tmp_path: Path) -> None:
    """R14: its socket is mounted; the forwarder runs beside the commands."""
    folder = tmp_path / "gateway"
    folder.mkdir(mode=0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o666)
        server.listen()
        box = start(Policy(limits=LIMITS, network="packages"), gateway=folder)
        code = """
import socket, time
for _ in range(100):
    try:
        connection = socket.create_connection(('127.0.0.1', 3128), 5)
        break
    except OSError:
        time.sleep(0.05)
connection.sendall(b'hello')
"""
        assert python(box, code).exit_code == 0
        server.settimeout(10)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(10)
            assert connection.recv(16) == b"hello"


def test_what_is_added_to_python_lies_on_disk(start: Start, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    (layer / "upper").mkdir(parents=True)
    os.chown(layer / "upper", SANDBOX_UID, SANDBOX_UID)
    box = start(layer=layer)
    code = "import os, site; os.makedirs(site.getusersitepackages()); print(site.getusersitepackages())"
    assert python(box, code).stdout.decode().startswith(ADDED)
    assert any((layer / "upper").rglob("site-packages"))


def test_a_container_that_is_killed_is_dead_at_once(start: Start, engine: Engine) -> None:
    """R25."""
    box = start()
    results: list[object] = []

    def run() -> None:
        try:
            results.append(shell(box, "sleep 300", timeout=60))
        except SandboxError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert wait_for(lambda: len(box.processes()) > 1)
    os.kill(box.processes()[0], signal.SIGKILL)
    thread.join(20)
    assert isinstance(results[0], SandboxError)
    assert wait_for(lambda: not box.alive)


def test_a_dead_harness_leaves_nothing_and_strangers_stay(
    engine: Engine, start: Start, marker: str
) -> None:
    """R23: kill -9, then a sweep. A living harness's and a stranger's containers are not touched."""
    living = start()
    stranger = engine.call(
        *("run", "--detach", "--network", "none", "--label", "expbench.pid=1"),
        *("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"),
        *(IMAGE, "sleep", "300"),
    )
    assert stranger.code == 0, stranger
    try:
        harness = subprocess.Popen(
            [
                sys.executable,
                "-c",
                HARNESS,
                json.dumps([engine.program, engine.host, engine.options]),
            ],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "MARKER": marker},
        )
        assert harness.stdout is not None
        name = harness.stdout.readline().decode().strip()
        assert wait_for(lambda: carriers(marker) == 1)
        assert len(engine.labelled(f"expbench.name={name}")) == 1
        assert sweep(engine) == 0
        harness.kill()
        harness.wait()
        harness.stdout.close()
        assert wait_for(lambda: carriers(marker) == 0)
        assert sweep(engine) == 1
        assert engine.labelled(f"expbench.name={name}") == []
        assert sweep(engine) == 0
        assert living.alive and shell(living, "echo on").stdout == b"on\n"
        assert len(engine.labelled("expbench.pid=1")) == 1
    finally:
        engine.remove([stranger.stdout.strip()])


HARNESS = """
import json, os, sys, tempfile, threading, time
from pathlib import Path
from engine import IMAGE
from expbench.sandboxes.containers import Engine
from expbench.sandboxes.container_provider import Containers
from expbench.sandboxes.environment import PythonEnvironment
from expbench.sandboxes.providers import Launch
from expbench.schema import Limits, Policy
from expbench.workspace import View
program, host, options = json.loads(sys.argv[1])
engine = Engine(program, host, tuple(options))
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777)
    view, python = View("copy", Path(folder)), PythonEnvironment(Path(folder), Path("/usr"))
    name = f"expbench-{os.getpid()}"
    box = Containers(engine).start(Launch(name, "test", view, Policy(), python, image=IMAGE))
    print(name, flush=True)
    box.run(["bash", "-c", "exec -a " + os.environ["MARKER"] + " sleep 300"])
"""


def test_an_engine_that_hangs_at_the_end_leaves_no_process(
    engine: Engine, launch: Callable[..., Launch], tmp_path: Path, marker: str
) -> None:
    """R24: the supervisor ends with its channel, whatever the engine does."""
    client = tmp_path / "client"
    real = f'exec {engine.program} "$@"'
    client.write_text(f'#!/bin/sh\nfor each; do [ "$each" = rm ] && exec sleep 300; done\n{real}\n')
    client.chmod(0o755)
    hanging = replace(engine, path=str(client), deadline=4.0)
    wanted = launch()
    hanging.probe()
    box = Containers(hanging).start(wanted)
    try:
        shell(box, f"(exec -a {marker} sleep 300) >/dev/null 2>&1 &")
        assert wait_for(lambda: carriers(marker) == 1)
        started = time.monotonic()
        box.close()
        assert time.monotonic() - started < 2 * 4 + 5
        assert carriers(marker) == 0
        assert not box.alive
    finally:
        engine.remove([wanted.name])


def test_a_real_image_is_built_and_known_by_its_digest(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile.small").write_text(f"FROM {IMAGE}\nENV BUILT=yes\n")
    (tmp_path / "Dockerfile").write_text("FROM expbench-absent-base:none\n")
    digest = engine.ensure_image("expbench-built", tmp_path, "small")
    assert digest.startswith("sha256:") and digest != engine.image_id(IMAGE)
    assert engine.ensure_image("expbench-built") == digest
    with pytest.raises(PrerequisiteError, match="cannot be built"):
        engine.build_image(tmp_path, "expbench-broken", deadline=120)


def test_an_image_without_python_is_said(engine: Engine, launch: Callable[..., Launch]) -> None:
    folder = launch().view.folder
    (folder / "file").touch()
    subprocess.run(["tar", "-cf", "../empty.tar", "file"], cwd=folder, check=True)
    assert (
        engine.call("import", str(folder.parent / "empty.tar"), "expbench-empty:latest").code == 0
    )
    wanted = launch(image="expbench-empty:latest")
    with pytest.raises(SandboxError, match="python3"):
        Containers(engine).start(wanted)
    assert engine.labelled(f"expbench.name={wanted.name}") == []
    with pytest.raises(PrerequisiteError, match="images/agent"):
        Containers(engine).start(launch(image="expbench-absent"))


def test_trees_of_a_containers_root_are_removed_by_an_ordinary_user(tmp_path: Path) -> None:
    """R27: the harness's user cannot, but through a container that does nothing else it can."""
    with docker() as engine:
        engine.probe()
        assert engine.host is not None
        Path(engine.host.removeprefix("unix://")).chmod(0o666)
        Path(engine.host.removeprefix("unix://")).parent.chmod(0o755)
        for parent in (tmp_path, *tmp_path.parents):
            if parent != Path("/tmp") and parent.is_relative_to("/tmp"):
                parent.chmod(0o755)
        home = tmp_path / "home"
        (home / "tree" / "deep").mkdir(parents=True)
        os.chown(home, 65534, 65534)
        (home / "tree" / "deep" / "file").touch()
        (home / "tree" / "link").symlink_to("/etc")
        for path in (home / "tree" / "deep", home / "tree"):
            path.chmod(0o700)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                with contextlib.suppress(PermissionError):
                    list((home / "tree").iterdir())
                    os._exit(2)
                engine.remove_tree(home / "tree", IMAGE)
                code = 0
            except BaseException:
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert not (home / "tree").exists()
        assert Path("/etc/passwd").exists()


def test_labels_say_whose_a_container_is() -> None:
    """R23."""
    labels = owner_labels("run-1")
    assert labels["expbench.run"] == "run-1"
    assert labels["expbench.pid"] == str(os.getpid())
    assert labels["expbench.start"].isdigit()
    assert labels["expbench.host"]
