"""``inspect_swe:NAME``: an agent of the package inspect-swe, with the program that was installed here.

Our own drivers of the same programs (:mod:`expbench.agents.bridged.npm_programs`) are the usual way; this
one is for who wants what that package does besides. Web search, which reaches the web through the model's
provider and past the sandbox's network, is off.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from inspect_ai.agent import AgentState
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.util import SandboxUnavailableError

from expbench.agents.bridged.running import need_client, settle
from expbench.agents.bridging import Conversations
from expbench.agents.kinds import AgentKind, AgentRunner
from expbench.errors import AgentExit, NotFoundError, PrerequisiteError, UnreachableModelError
from expbench.sandboxes.mounts import HOME
from expbench.schema import ResearchTask

_OFFLINE: Mapping[str, Mapping[str, Any]] = {
    "claude_code": {"disallowed_tools": ["WebSearch", "WebFetch"]},
    "codex_cli": {"web_search": "disabled", "home_dir": HOME},
}
"""Their agents that work here, and how each is kept from the web, and its files out of the workspace."""

_CLIENTS = {"claude_code": "anthropic"}


def make_swe(argument: str, base: Path) -> AgentRunner:
    """``inspect_swe:NAME``.

    Raises:
        NotFoundError: it has no such agent, or none of a program that is installed here.
        PrerequisiteError: the package is missing.
    """
    if argument not in _OFFLINE:
        raise NotFoundError(
            f"There is no agent 'inspect_swe:{argument}': choose one of {', '.join(_OFFLINE)}."
        )
    name = f"inspect_swe:{argument}"
    try:
        package = importlib.import_module("inspect_swe")
    except ImportError:
        raise PrerequisiteError(
            f"Agent {name!r} needs the package inspect-swe: pip install 'expbench[agents]'."
        ) from None
    need_client(name, _CLIENTS.get(argument, "openai"))
    made = getattr(package, argument)

    async def run(task: ResearchTask, state: AgentState) -> None:
        agent = made(version="sandbox", **_OFFLINE[argument])
        await _work(name, agent, state)

    version = f"inspect-swe {metadata.version('inspect-swe')}"
    return AgentRunner(name, run, version=version, needs_model=True, program=argument)


async def _work(name: str, agent: Any, state: AgentState) -> None:
    """Run it on a copy of the state, which follows one conversation only; ours gets all of them."""
    before = len(transcript().events)
    seen = Conversations(state.messages)
    failed: Exception | None = None
    try:
        await agent(AgentState(messages=list(state.messages)))
    except SandboxUnavailableError:
        raise
    except RuntimeError as error:  # how that package says that a program failed
        failed = error
    finally:
        events = [each for each in transcript().events[before:] if isinstance(each, ModelEvent)]
        for event in events:
            if event.output.choices:
                seen.add(event.input, event.output.message)
        settle(state.messages, failed is None)
    if not any(event.output.choices for event in events):
        why = f": {failed}"[:500] if failed else ""
        raise UnreachableModelError(f"{name} ended without one answer of its model{why}")
    if failed is not None:
        raise AgentExit(1, f"{name} failed: {failed}"[:500]) from None


KINDS = (
    AgentKind(
        "inspect_swe:NAME",
        "an agent of the package inspect-swe: claude_code or codex_cli",
        make_swe,
        needs="the package inspect-swe (`pip install 'expbench[agents]'`), `expbench agents install NAME`, "
        "a model",
        options={"NAME": f"one of {', '.join(_OFFLINE)}"},
        example="expbench run --agent inspect_swe:codex_cli --model openai/gpt-5 --task mini/stochopt/2",
        tried="run to scores in bwrap with a scripted model",
    ),
)
