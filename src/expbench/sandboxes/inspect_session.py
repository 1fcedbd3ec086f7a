"""A session in a sandbox of Inspect's, for what only its providers reach: a cluster.

The workspace goes in as a stream when the session starts and comes out as one when it ends; in between
nothing of it is on this machine. The provider's own event loop runs in a thread of the session's.
"""

from __future__ import annotations

import posixpath
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from anyio.from_thread import start_blocking_portal
from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment

from expbench.errors import SandboxError
from expbench.sandboxes.mounts import WORKSPACE
from expbench.sandboxes.session import Completed, Session
from expbench.sandboxes.transport import Caps, get_tree, put_tree
from expbench.schema import Enforced
from expbench.workspace import View

_T = TypeVar("_T")
_NEVER = 7 * 24 * 3600
"""Seconds given to a command that has no time-out, for a provider that must be told some."""


class InspectSession(Session):
    """A session in one sandbox of a provider of Inspect's.

    Args:
        kind: the provider.
        config: its settings for this sandbox.
        view: a copy, which is brought in now and taken back when the session is closed.
        owned: is closed at the end.
        folders: of ours, brought in besides, by their path inside.

    Raises:
        SandboxError: it did not start.
    """

    def __init__(
        self,
        kind: type[SandboxEnvironment],
        config: Any,
        view: View,
        enforced: Enforced,
        environment: Mapping[str, str],
        owned: ExitStack,
        folders: Mapping[str, Path] | None = None,
    ) -> None:
        self.view = view
        self._kind, self._config = kind, config
        self._enforced = enforced
        self._base = dict(environment)
        self._owned = owned
        self._box: SandboxEnvironment | None = None
        self._environments: dict[str, SandboxEnvironment] = {}
        self._portal = owned.enter_context(start_blocking_portal())
        try:
            self._environments = self._do(lambda: kind.sample_init("expbench", config, {}))
            self._box = self._environments["default"]
            box = self._box
            for place, folder in {WORKSPACE: view.files, **(folders or {})}.items():
                self._bring(box, folder, place)
        except BaseException:
            self._box = None
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self._box is not None

    @property
    def workspace(self) -> str:
        return WORKSPACE

    @property
    def python_path(self) -> str:
        return self._base.get("PYTHONPATH", "")

    @property
    def enforced(self) -> Enforced:
        return self._enforced.model_copy(update={"workspace": self.view.kind})

    def processes(self) -> list[int]:
        return []

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_cap: int | None = None,
        cancelled: threading.Event | None = None,
    ) -> Completed:
        if (box := self._box) is None:
            raise SandboxError("the sandbox has ended")
        started = time.monotonic()
        try:
            done = self._do(
                lambda: box.exec(
                    list(argv),
                    input=stdin or None,
                    cwd=posixpath.join(WORKSPACE, cwd or ""),
                    env={**self._base, **(env or {})},
                    timeout=max(1, round(timeout)) if timeout is not None else _NEVER,
                    timeout_retry=False,
                )
            )
        except TimeoutError:
            return Completed(124, b"", b"", time.monotonic() - started, timed_out=True)
        except OutputLimitExceededError as error:
            cut = (error.truncated_output or "").encode()
            return Completed(1, cut, str(error).encode(), time.monotonic() - started)
        seconds = time.monotonic() - started
        return Completed(done.returncode, done.stdout.encode(), done.stderr.encode(), seconds)

    def close(self) -> None:
        box, self._box = self._box, None
        try:
            if box is not None:
                self._take_back(box)
        finally:
            found, self._environments = self._environments, {}
            if found:
                self._do(lambda: self._kind.sample_cleanup("expbench", self._config, found, False))
            self._owned.close()

    def _bring(self, box: SandboxEnvironment, folder: Path, place: str) -> None:
        self._do(lambda: put_tree(box, folder, place))

    def _take_back(self, box: SandboxEnvironment) -> None:
        """The workspace as it is inside, in the place of what was brought in."""
        fresh = Path(f"{self.view.folder}.taken")
        try:
            fresh.mkdir()
            self._do(lambda: get_tree(box, WORKSPACE, fresh, Caps()))
            shutil.rmtree(self.view.folder)
            fresh.rename(self.view.folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _do(self, call: Callable[[], Awaitable[_T]]) -> _T:
        try:
            return self._portal.call(call)
        except (SandboxError, TimeoutError, OutputLimitExceededError):
            raise
        except Exception as error:  # a provider's, which is not ours
            raise SandboxError(f"the sandbox failed: {type(error).__name__}: {error}") from error
