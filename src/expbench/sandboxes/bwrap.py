"""Inspect's ``bwrap`` sandbox provider: a thin layer over :class:`Session`.

The namespaces live as long as the sample, so bridged agents and background jobs work; a time-out or a
cancelled command is killed at once with all that it started, where Inspect alone would wait for its
pipes.
"""

from __future__ import annotations

import secrets
import shlex
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, overload

import anyio
from anyio import to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    sandboxenv,
)
from inspect_ai.util._sandbox.environment import (
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from pydantic import BaseModel, ConfigDict

from expbench.errors import SandboxError
from expbench.paths import CachePaths
from expbench.redaction import redacted, redacted_bytes
from expbench.sandboxes.entering import Entrance
from expbench.sandboxes.environment import TOOLS, PythonEnvironment
from expbench.sandboxes.host import SandboxHost
from expbench.sandboxes.network import Denied
from expbench.sandboxes.session import Completed, Session
from expbench.sandboxes.tools import tools_folder
from expbench.schema import Policy, Refusal
from expbench.workspace import Prepared
from expbench.workspace.keeping import kept_for

_THREADS = anyio.CapacityLimiter(1000)
_LOOK_SECONDS = 0.2
_HEARD_SECONDS = 0.01
_POLL_SECONDS = 0.2
"""A look into a queue of Inspect's services, which costs a message of ours."""


class BwrapConfig(BaseModel):
    """The provider's settings, given as ``sandbox=("bwrap", BwrapConfig(…))``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache: Path
    policy: Policy = Policy()
    hidden: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()
    kind: str = "bwrap"
    rootfs: Path | None = None
    host: str = ""
    """The name of a :func:`known` host, which has more than may stand in a log."""


_KNOWN: dict[str, SandboxHost] = {}


def known(host: SandboxHost) -> BwrapConfig:
    """The settings of sandboxes that this host of our process makes."""
    name = secrets.token_hex(8)
    _KNOWN[name] = host
    return BwrapConfig(
        cache=host.cache.root,
        policy=host.policy,
        hidden=host.hidden,
        packages=host.packages,
        kind=host.kind,
        rootfs=host.rootfs,
        host=name,
    )


@sandboxenv(name="bwrap")
class BwrapSandboxEnvironment(SandboxEnvironment):
    """A bubblewrap sandbox with a host folder as its workspace."""

    def __init__(self, host: SandboxHost, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.refused: list[Refusal] = []
        self._host = host
        self._session: Session | None = None
        self._entrance: Entrance | None = None
        self._ended = False
        self._died = anyio.Event()
        self._lock = threading.Lock()

    @property
    def session(self) -> Session:
        """The running sandbox: over an empty folder, unless it was opened on a task's workspace.

        Raises:
            SandboxError: it was disposed of, or did not start.
        """
        with self._lock:
            if self._session is None:
                if self._ended:
                    raise SandboxError("the sandbox has ended")
                self._session = self._host.start(self.folder)
            return self._session

    @property
    def alive(self) -> bool:
        """Whether it runs, and has done as told so far."""
        return self._session is not None and self._session.alive and not self._died.is_set()

    async def death(self) -> None:
        """Wait until it is dead; who is told is told before the command that found it so returns."""
        while self.alive:
            with anyio.move_on_after(_LOOK_SECONDS):
                await self._died.wait()

    def open(
        self,
        prepared: Prepared,
        denied: Denied | None = None,
        python: PythonEnvironment | None = None,
        folders: Mapping[str, Path | None] | None = None,
    ) -> Session:
        """Start the sandbox on a task's workspace; nothing may have run in it yet.

        What the network's gateway did not let through is in ``refused`` then.

        Args:
            denied: what nobody may fetch, besides.
            python: what it has instead of the host's.
            folders: what it shows besides, read-only, by its path inside; None is an empty folder in memory.

        Raises:
            InfrastructureError: the workspace could not be made, or the sandbox not started.
        """
        with self._lock:
            if self._session is not None or self._ended:
                raise SandboxError("the sandbox runs already, on another workspace")
            view = self._host.open(prepared, folder=self.folder)
            self._session = self._host.start(
                view,
                environment=prepared.environment,
                python=python,
                denied=denied,
                refused=self.refused.append,
                folders={TOOLS: tools_folder(self._host.cache.envs), **(folders or {})},
            )
            return self._session

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        host = _host(config)
        await to_thread.run_sync(host.provider.check)
        await to_thread.run_sync(host.sweep)
        await to_thread.run_sync(host.python)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        host = _host(config)
        return {"default": cls(host, host.folder())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                if isinstance(environment, cls):
                    await to_thread.run_sync(environment.dispose)

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return BwrapConfig.model_validate(config)

    @classmethod
    def default_concurrency(cls) -> int | None:
        return None

    def default_polling_interval(self) -> float:
        return _POLL_SECONDS

    def dispose(self) -> None:
        """Kill everything and remove the workspace, unless it is kept for a run to collect."""
        with self._lock:
            self._ended = True
            if self._session is not None:
                self._session.close()
            if self._entrance is not None:
                self._entrance.close()
                self._host.discard(self._entrance.path.parent)
            if kept_for(self.folder) is None:
                self._host.discard(self.folder)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        if user is not None and user != "agent":
            raise SandboxUserUnsupportedError(
                f"the bwrap sandbox has one user, agent, not {user!r}"
            )
        done = await self._run(cmd, _bytes(input), cwd, env, timeout, None)
        if done.timed_out:
            raise TimeoutError(f"the command took longer than {timeout} s")
        if done.error.startswith("EACCES"):
            raise PermissionError(f"{cmd[0]}: permission denied")
        stderr = done.stderr.decode("utf-8", errors="replace")
        if done.error:
            stderr += f"{cmd[0]}: {done.error}\n"
        return ExecResult(
            success=done.exit_code == 0,
            returncode=done.exit_code,
            stdout=done.stdout.decode("utf-8", errors="replace"),
            stderr=stderr,
        )

    async def write_file(self, file: str, contents: str | bytes) -> None:
        script = 'd=$(dirname -- "$1") && mkdir -p -- "$d" && [ ! -d "$1" ] && cat > "$1"'
        path = _located(file)
        done = await self._run(["/bin/sh", "-c", script, "sh", path], _bytes(contents))
        if done.exit_code != 0:
            await self._explain(path)
            raise PermissionError(f"{file}: {_said(done)}")

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        path = _located(file)
        cap = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        script = '[ -f "$1" ] && head -c "$2" -- "$1"'
        argv = ["/bin/sh", "-c", script, "sh", path, str(cap + 1)]
        done = await self._run(argv, cap=2 * cap + 4)
        if done.exit_code != 0:
            await self._explain(path, missing=True)
            raise PermissionError(f"{file}: {_said(done)}")
        if len(done.stdout) > cap:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return done.stdout.decode("utf-8") if text else done.stdout

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        if user is not None and user != "agent":
            raise SandboxUserUnsupportedError(f"the sandbox has one user, agent, not {user!r}")
        path = await to_thread.run_sync(self._opened_entrance)
        return SandboxConnection(
            type=self._host.kind, command=f"expbench enter {shlex.quote(str(path))}"
        )

    def _opened_entrance(self) -> Path:
        """The socket by which this process's user gets in. Raises NotImplementedError, ConnectionError."""
        with self._lock:
            # Inspect asks every sandbox for its connection, before anything runs in it.
            if (session := self._session) is None or self._ended:
                raise ConnectionError("the sandbox does not run")
            if self._entrance is None:
                if not self._host.provider.enters:
                    raise NotImplementedError(
                        f"a sandbox {self._host.kind} cannot be entered from outside"
                    )
                self._entrance = Entrance(session, self._host.folder())
            return self._entrance.path

    async def _explain(self, path: str, missing: bool = False) -> None:
        """Raise what a file operation's failure means."""
        test = 'if [ -d "$1" ]; then exit 2; elif [ ! -e "$1" ]; then exit 3; fi'
        code = (await self._run(["/bin/sh", "-c", test, "sh", path])).exit_code
        if code == 2:
            raise IsADirectoryError(f"{path} is a directory")
        if code == 3 and missing:
            raise FileNotFoundError(f"{path} does not exist")

    async def _run(
        self,
        argv: list[str],
        stdin: bytes = b"",
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
        cap: int | None = None,
    ) -> Completed:
        cancelled = threading.Event()
        words = [redacted(each) for each in argv]
        variables = {name: redacted(value) for name, value in (env or {}).items()}

        def call() -> Completed:
            return self.session.run(
                words,
                stdin=redacted_bytes(stdin),
                cwd=cwd,
                env=variables,
                timeout=timeout,
                output_cap=cap,
                cancelled=cancelled,
            )

        try:
            return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=_THREADS)
        except SandboxError as error:
            self._died.set()
            await anyio.sleep(_HEARD_SECONDS)
            raise SandboxUnavailableError(str(error)) from None
        finally:
            cancelled.set()


def _config(config: SandboxEnvironmentConfigType | None) -> BwrapConfig:
    if isinstance(config, BwrapConfig):
        return config
    if config is None:
        return BwrapConfig(cache=Path.home() / ".cache" / "expbench")
    raise SandboxError(f"the bwrap sandbox takes a BwrapConfig, not {config!r}")


def _host(config: SandboxEnvironmentConfigType | None) -> SandboxHost:
    settings = _config(config)
    if settings.host in _KNOWN:
        return _KNOWN[settings.host]
    return SandboxHost(
        CachePaths(settings.cache),
        settings.hidden,
        settings.packages,
        settings.policy,
        settings.kind,
        settings.rootfs,
    )


def _said(done: Completed) -> str:
    return done.error or done.stderr.decode(errors="replace").strip()


def _located(path: str) -> str:
    """A path that no program takes for an option; commands start in the workspace."""
    return path if path.startswith("/") else f"./{path}"


def _bytes(content: str | bytes | None) -> bytes:
    return content.encode() if isinstance(content, str) else content or b""
