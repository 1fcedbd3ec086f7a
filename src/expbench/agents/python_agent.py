"""A user's own agent: a function in any Python file or module, or an Inspect agent.

::

    async def my_agent(task, workspace):
        await workspace.run("python train.py > log.txt")
        await workspace.write("response.json", '{"design": "…", "conclusion": "…"}')

A function without ``async`` gets a workspace whose methods are called without ``await``.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from anyio import from_thread, to_thread
from inspect_ai.agent import AgentState
from inspect_ai.util import sandbox

from expbench.agents.kinds import AgentKind, AgentRunner, Run
from expbench.agents.workspace import Result, Workspace
from expbench.errors import NotFoundError, UserError
from expbench.schema import PromptView, ResearchTask

_T = TypeVar("_T")

AgentFunction = Callable[[PromptView, Workspace], Awaitable[None]]
"""A user's agent: does its work through the workspace and returns when it is done."""


class PlainWorkspace:
    """A :class:`Workspace` for a function without ``async``, which runs in a thread of its own.

    A thread cannot be stopped from outside: when its time is up, whatever it asks for next raises
    ``TimeoutError`` in it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.over = False

    def run(self, command: str, timeout: int | None = None) -> Result:
        """As :meth:`Workspace.run`."""
        return self._do(lambda: self._workspace.run(command, timeout))

    def write(self, path: str, text: str) -> None:
        """As :meth:`Workspace.write`."""
        self._do(lambda: self._workspace.write(path, text))

    def read(self, path: str) -> str:
        """As :meth:`Workspace.read`."""
        return self._do(lambda: self._workspace.read(path))

    def say(self, text: str) -> None:
        """As :meth:`Workspace.say`."""
        self._check()
        self._workspace.say(text)

    def _do(self, call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        self._check()
        return from_thread.run(call)

    def _check(self) -> None:
        if self.over:
            raise TimeoutError("the agent's time is up")


def make_python(argument: str, base: Path) -> AgentRunner:
    """``python:FILE:NAME``.

    Raises:
        NotFoundError: there is no such file, module or function.
        UserError: it fails when it is imported.
    """
    file, _, name = argument.rpartition(":")
    if not file or not name:
        raise NotFoundError(
            "A Python agent is named by file or module and function: python:my_agent.py:my_agent."
        )
    module = _load(file, base)
    found = getattr(module, name, None)
    if not callable(found):
        raise NotFoundError(f"{file} has no function {name!r}.")
    spec, version = f"python:{argument}", _version(module)
    if inspect.isfunction(found) and len(inspect.signature(found).parameters) == 2:
        call = _call_function if inspect.iscoroutinefunction(found) else _call_plainly
        return AgentRunner(spec, call(found), version, own_code=True)
    agent = found() if not inspect.signature(found).parameters else found
    return AgentRunner(spec, _call_agent(agent), version, needs_model=True, own_code=True)


def _call_function(function: AgentFunction) -> Run:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await function(task.prompt_view(), Workspace(sandbox(), state.messages))

    return run


def _call_plainly(function: Callable[[PromptView, PlainWorkspace], None]) -> Run:
    async def run(task: ResearchTask, state: AgentState) -> None:
        workspace = PlainWorkspace(Workspace(sandbox(), state.messages))
        try:
            await to_thread.run_sync(
                function, task.prompt_view(), workspace, abandon_on_cancel=True
            )
        finally:
            workspace.over = True

    return run


def _call_agent(agent: Any) -> Run:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await agent(state)

    return run


def _version(module: ModuleType) -> str:
    """The digest of the file that the function stands in."""
    try:
        content = Path(module.__file__ or "").read_bytes()
    except OSError:
        return ""
    return f"sha256 {hashlib.sha256(content).hexdigest()[:12]}"


def _load(place: str, base: Path) -> ModuleType:
    """A module by its file or its dotted name, with one sentence for whatever goes wrong in it."""
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        path = (base / place).resolve()
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise NotFoundError(f"There is no file {base / place}: give your agent's file.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module
    except UserError:
        raise
    except ModuleNotFoundError as error:
        raise NotFoundError(
            f"{place} cannot be imported ({error}): install what it needs."
        ) from None
    except Exception as error:
        raise UserError(
            f"{place} fails when it is imported: {type(error).__name__}: {error}"
        ) from None


KINDS = (
    AgentKind(
        "python:FILE:NAME",
        "your own function, or an Inspect agent",
        make_python,
        needs="your file or module; an Inspect agent also a model",
        options={"FILE": "a Python file, or a module's dotted name", "NAME": "the function"},
        example="expbench run --agent python:examples/my_agent.py:my_agent --task mini/calibration/2",
        tried="run to scores",
    ),
)
