"""The ``bwrap`` provider under Inspect: its own conformance checks, limits and cancellation."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.environment import (
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from expbench.errors import SandboxError
from expbench.sandboxes.bwrap import BwrapConfig, BwrapSandboxEnvironment
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Policy

pytestmark = pytest.mark.anyio

NOT_OFFERED = {"test_exec_as_user": "a sandbox has one ordinary user and can make no others"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def config(host: SandboxHost) -> BwrapConfig:
    return BwrapConfig(cache=host.cache.root)


@pytest.fixture
async def sandbox_env(
    config: BwrapConfig, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[BwrapSandboxEnvironment]:
    """One sandbox of the provider, for our tests and for Inspect's checks."""
    if reason := NOT_OFFERED.get(request.node.originalname):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    # Inspect's checks give a provider five seconds to kill; ours has killed when it answers.
    brief = SimpleNamespace(sleep=lambda _: anyio.sleep(0.1))
    monkeypatch.setattr(self_check, "anyio", brief)
    await BwrapSandboxEnvironment.task_init("check", config)
    made = await BwrapSandboxEnvironment.sample_init("check", config, {})
    environment = made["default"]
    assert isinstance(environment, BwrapSandboxEnvironment)
    yield environment
    await BwrapSandboxEnvironment.sample_cleanup("check", config, made, interrupted=False)
    assert not environment.folder.exists()
    assert not environment.alive


@pytest.fixture
def marker() -> str:
    return f"marker{uuid.uuid4().hex}"


def carriers(marker: str) -> int:
    """How many processes of this machine have a marker as their first argument."""
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                first = (folder / "cmdline").read_bytes().split(b"\0")[0]
                count += first == marker.encode()
    return count


def sleeper(marker: str) -> list[str]:
    """A command with a child and a daemon, all marked, for forty seconds."""
    call = f"exec -a {marker} sleep 40"
    script = f"({call}) & setsid -f bash -c '{call}'; {call}"
    return ["bash", "-c", script]


@solver
def sleepy(marker: str, seen: list[int]) -> Solver:
    """Runs the sleeper; a second task of the same sample counts its processes meanwhile."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        async def count() -> None:
            while True:
                seen.append(carriers(marker))
                await anyio.sleep(0.1)

        async with anyio.create_task_group() as group:
            group.start_soon(count)
            await sandbox().exec(sleeper(marker))
            group.cancel_scope.cancel()
        return state

    return solve


def run(config: BwrapConfig, logs: Path, chosen: Solver, time_limit: int | None = None) -> EvalLog:
    task = Task(
        dataset=[Sample(input="x")],
        solver=chosen,
        sandbox=SandboxEnvironmentSpec("bwrap", config),
        time_limit=time_limit,
    )
    return eval(task, model="mockllm/model", display="none", log_dir=str(logs))[0]


def test_a_time_limit_ends_a_long_command(
    config: BwrapConfig, host: SandboxHost, tmp_path: Path, marker: str
) -> None:
    """R20: Inspect alone waits for a command's pipes, here for forty seconds."""
    host.python()
    seen: list[int] = []
    log = run(config, tmp_path, sleepy(marker, seen), time_limit=2)
    assert log.status == "success" and log.samples
    limit = log.samples[0].limit
    assert limit is not None and limit.type == "time"
    assert log.samples[0].error is None
    assert max(seen) == 3
    assert carriers(marker) == 0
    assert log.samples[0].total_time is not None and log.samples[0].total_time < 20


def test_a_samples_folder_is_removed_when_it_ends(
    config: BwrapConfig, host: SandboxHost, tmp_path: Path
) -> None:
    """R23: nothing piles up in the cache, also when a solver raises."""
    folders: list[Path] = []

    @solver
    def failing() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            environment = sandbox().as_type(BwrapSandboxEnvironment)
            folders.append(environment.folder)
            assert environment.folder.is_dir()
            raise ValueError("on purpose")

        return solve

    log = run(config, tmp_path, failing())
    assert log.status == "error"
    assert len(folders) == 1 and not folders[0].exists()


async def test_a_cancelled_command_is_killed(
    sandbox_env: BwrapSandboxEnvironment, marker: str
) -> None:
    """R20: leaving the scope kills at once, and the sandbox goes on."""
    started = time.monotonic()
    with anyio.move_on_after(1) as scope:
        await sandbox_env.exec(sleeper(marker))
    assert scope.cancelled_caught
    assert time.monotonic() - started < 5
    for _ in range(100):
        if not carriers(marker):
            break
        await anyio.sleep(0.05)
    assert carriers(marker) == 0
    assert (await sandbox_env.exec(["echo", "on"])).stdout == "on\n"


async def test_a_dead_sandbox_says_so_to_inspect(sandbox_env: BwrapSandboxEnvironment) -> None:
    """R25: as an error of the sandbox, which ends the sample, not as a command's output."""
    sandbox_env.session.close()
    with pytest.raises(SandboxUnavailableError):
        await sandbox_env.exec(["true"])
    with pytest.raises(SandboxUnavailableError):
        await sandbox_env.read_file("x")


async def test_files_are_seen_on_both_sides(sandbox_env: BwrapSandboxEnvironment) -> None:
    await sandbox_env.write_file("sub/made inside", b"\0\xff")
    assert (sandbox_env.folder / "sub/made inside").read_bytes() == b"\0\xff"
    await sandbox_env.write_file("-n", "dash")
    assert await sandbox_env.read_file("-n") == "dash"


@pytest.mark.parametrize(
    ("name", "error"),
    [("link", FileNotFoundError), ("pipe", PermissionError), ("folder", IsADirectoryError)],
)
async def test_odd_files_are_errors_not_waits(
    sandbox_env: BwrapSandboxEnvironment, name: str, error: type[Exception]
) -> None:
    """R28: no wait on a pipe, no file of the host behind a link."""
    await sandbox_env.exec(["sh", "-c", f"ln -s {Path(__file__)} link; mkfifo pipe; mkdir folder"])
    with anyio.fail_after(10), pytest.raises(error):
        await sandbox_env.read_file(name)


async def test_there_is_one_user(sandbox_env: BwrapSandboxEnvironment) -> None:
    assert (await sandbox_env.exec(["whoami"], user="agent")).stdout == "agent\n"
    for user in ("root", "nobody"):
        with pytest.raises(SandboxUserUnsupportedError):
            await sandbox_env.exec(["whoami"], user=user)


def test_settings_survive_a_log(tmp_path: Path) -> None:
    """R53: what Inspect stores of the sandbox is enough to make it again."""
    policy = Policy(limits=Limits(memory_mib=None))
    made = BwrapConfig(cache=tmp_path, policy=policy, hidden=(tmp_path / "data",))
    again = BwrapSandboxEnvironment.config_deserialize(made.model_dump(mode="json"))
    assert again == made


async def test_other_settings_are_refused() -> None:
    with pytest.raises(SandboxError, match="BwrapConfig"):
        await BwrapSandboxEnvironment.sample_init("check", "compose.yaml", {})


def test_inspects_checks_are_collected() -> None:
    """The conformance suite is really there, and each exception names a check of it."""
    checks = {name for name in vars(self_check) if name.startswith("test_")}
    assert len(checks) >= 40
    assert set(NOT_OFFERED) <= checks <= set(globals())
    assert all(callable(globals()[name]) for name in checks)
