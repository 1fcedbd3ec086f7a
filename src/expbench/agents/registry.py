"""Agents by name: ``oracle``, ``null``, ``cheat``, ``react``, ``scripted:FILE``, ``python:FILE:NAME``.

A user's own agent is one function in any Python file::

    async def my_agent(task, workspace):
        await workspace.run("python train.py > log.txt")
        await workspace.write("response.json", '{"design": "…", "conclusion": "…"}')
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from inspect_ai.agent import AgentState
from inspect_ai.util import sandbox

from expbench.agents import fakes
from expbench.agents.react import react_agent
from expbench.agents.steps import Step, load_script, play
from expbench.agents.workspace import Workspace
from expbench.errors import NotFoundError, UserError
from expbench.schema import PromptView, ResearchTask

AgentFunction = Callable[[PromptView, Workspace], Awaitable[None]]
"""A user's agent: does its work through the workspace and returns when it is done."""


@dataclass(frozen=True)
class AgentRunner:
    """How to run an agent on a task.

    ``run`` works on the sample's state and its sandbox. ``own_code`` says that an exception in it is the
    agent's own, a result; of an agent of ours it is the harness's or the provider's, and retried.
    """

    name: str
    run: Callable[[ResearchTask, AgentState], Awaitable[None]]
    needs_model: bool = False
    needs_oracle: bool = False
    own_code: bool = False


AGENTS = {
    "oracle": "the suite's own solution, really run (suite mini)",
    "null": "hands in nothing",
    "cheat": "right answers that were not earned; cheat:history, cheat:hardcode, cheat:readme",
    "react": "Inspect's react agent with shell and Python tools; needs --model",
    "scripted:FILE": "plays the steps of a JSON file",
    "python:FILE:NAME": "your own async function, or an Inspect agent",
}


def get_agent(spec: str, base: Path | None = None) -> AgentRunner:
    """The agent that a command line names; its relative paths are below ``base``.

    Raises:
        NotFoundError: there is no such agent, file or function.
        DataError: a script cannot be read.
    """
    name, _, argument = spec.partition(":")
    makers: dict[str, Callable[[str], AgentRunner]] = {
        "oracle": lambda _: _scripted(spec, fakes.oracle_steps, needs_oracle=True),
        "null": lambda _: _scripted(spec, fakes.null_steps),
        "cheat": lambda kind: _scripted(spec, _cheat(kind), needs_oracle=True),
        "react": lambda _: _react(spec),
        "scripted": lambda file: _from_file(spec, file, base or Path()),
        "python": lambda place: _from_python(spec, place, base or Path()),
    }
    if name not in makers:
        raise NotFoundError(f"There is no agent {spec!r}: choose one of {', '.join(AGENTS)}.")
    return makers[name](argument)


def _scripted(
    spec: str, steps: Callable[[ResearchTask], tuple[Step, ...]], needs_oracle: bool = False
) -> AgentRunner:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await play(steps(task), Workspace(sandbox(), state.messages))

    return AgentRunner(spec, run, needs_oracle=needs_oracle)


def _cheat(kind: str) -> Callable[[ResearchTask], tuple[Step, ...]]:
    if not kind:
        return fakes.cheat_steps
    if kind not in fakes.CHEATS:
        raise NotFoundError(f"There is no cheat {kind!r}: choose one of {', '.join(fakes.CHEATS)}.")
    return fakes.CHEATS[kind]


def _from_file(spec: str, file: str, base: Path) -> AgentRunner:
    if not file:
        raise NotFoundError("The scripted agent needs its step file: --agent scripted:steps.json.")
    script = load_script(base / file)
    return _scripted(spec, lambda _: script.steps)


def _react(spec: str) -> AgentRunner:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await react_agent()(state)

    return AgentRunner(spec, run, needs_model=True)


def _from_python(spec: str, place: str, base: Path) -> AgentRunner:
    file, _, name = place.rpartition(":")
    if not file or not name:
        raise NotFoundError(
            "A Python agent is named by file or module and function: python:my_agent.py:my_agent."
        )
    found = getattr(_load(file, base), name, None)
    if not callable(found):
        raise NotFoundError(f"{file} has no function {name!r}.")
    if inspect.iscoroutinefunction(found) and len(inspect.signature(found).parameters) == 2:
        return AgentRunner(spec, _call_function(found), own_code=True)
    agent = found() if not inspect.signature(found).parameters else found
    return AgentRunner(spec, _call_agent(agent), needs_model=True, own_code=True)


def _call_function(
    function: AgentFunction,
) -> Callable[[ResearchTask, AgentState], Awaitable[None]]:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await function(task.prompt_view(), Workspace(sandbox(), state.messages))

    return run


def _call_agent(agent: Any) -> Callable[[ResearchTask, AgentState], Awaitable[None]]:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await agent(state)

    return run


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
