"""Inspect's ``bwrap`` sandbox provider: a thin layer over :class:`Session`.

The namespaces live as long as the sample, so bridged agents and background jobs work; a time-out or a
cancelled command is killed at once with all that it started, where Inspect alone would wait for its
pipes.
"""

from __future__ import annotations

import threading
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
from expbench.sandboxes import bubblewrap
from expbench.sandboxes.host import SandboxHost, remove
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Limits
from expbench.workspace import Prepared

_THREADS = anyio.CapacityLimiter(1000)


class BwrapConfig(BaseModel):
    """The provider's settings, given as ``sandbox=("bwrap", BwrapConfig(…))``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache: Path
    limits: Limits = Limits()
    hidden: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()


@sandboxenv(name="bwrap")
class BwrapSandboxEnvironment(SandboxEnvironment):
    """A bubblewrap sandbox with a host folder as its workspace."""

    def __init__(self, host: SandboxHost, folder: Path, limits: Limits) -> None:
        super().__init__()
        self.folder = folder
        self._host = host
        self._limits = limits
        self._session: Session | None = None
        self._ended = False
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
                self._session = self._host.start(self.folder, self._limits)
            return self._session

    @property
    def alive(self) -> bool:
        """Whether anything runs in it."""
        return self._session is not None and self._session.alive

    def open(self, prepared: Prepared) -> Session:
        """Start the sandbox on a task's workspace; nothing may have run in it yet.

        Raises:
            InfrastructureError: the workspace could not be made, or the sandbox not started.
        """
        with self._lock:
            if self._session is not None or self._ended:
                raise SandboxError("the sandbox runs already, on another workspace")
            view = self._host.open(prepared, folder=self.folder)
            self._session = self._host.start(view, self._limits, prepared.environment)
            return self._session

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        await to_thread.run_sync(bubblewrap.check)
        host = _host(config)
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
        return {"default": cls(host, host.folder(), _config(config).limits)}

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

    def dispose(self) -> None:
        """Kill everything and remove the workspace."""
        with self._lock:
            self._ended = True
            if self._session is not None:
                self._session.close()
            remove(self.folder)

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
        done = await self._run(cmd, _bytes(input), _absolute(cwd or "."), env, timeout, None)
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
        path = _absolute(file)
        done = await self._run(["/bin/sh", "-c", script, "sh", path], _bytes(contents))
        if done.exit_code != 0:
            await self._explain(path)
            raise PermissionError(f"{file}: {done.stderr.decode(errors='replace').strip()}")

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        path = _absolute(file)
        cap = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        script = '[ -f "$1" ] && head -c "$2" -- "$1"'
        argv = ["/bin/sh", "-c", script, "sh", path, str(cap + 1)]
        done = await self._run(argv, cap=2 * cap + 4)
        if done.exit_code != 0:
            await self._explain(path, missing=True)
            raise PermissionError(f"{file}: {done.stderr.decode(errors='replace').strip()}")
        if len(done.stdout) > cap:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return done.stdout.decode("utf-8") if text else done.stdout

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        raise NotImplementedError("a bwrap sandbox cannot be entered from outside")

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
        cwd: str = bubblewrap.WORKSPACE,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
        cap: int | None = None,
    ) -> Completed:
        cancelled = threading.Event()

        def call() -> Completed:
            return self.session.run(
                argv,
                stdin=stdin,
                cwd=cwd,
                env=env,
                timeout=timeout,
                output_cap=cap,
                cancelled=cancelled,
            )

        try:
            return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=_THREADS)
        except SandboxError as error:
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
    return SandboxHost(CachePaths(settings.cache), settings.hidden, settings.packages)


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"{bubblewrap.WORKSPACE}/{path}"


def _bytes(content: str | bytes | None) -> bytes:
    return content.encode() if isinstance(content, str) else content or b""
