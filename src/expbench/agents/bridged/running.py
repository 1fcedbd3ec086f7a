"""Running an installed program in the sandbox, with the bridge as its model.

A program that fails is a result of the agent's (:class:`AgentExit`), unless the model did not answer it. One
that ends without a single answer of its model, however it ends, had no chance: the task is tried again.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall
from inspect_ai.util import sandbox

from expbench.agents.bridging import Bridge, bridge
from expbench.agents.kinds import AgentRunner, Run
from expbench.agents.program import exit_sentence, run_program
from expbench.agents.workspace import Result
from expbench.errors import AgentExit, PrerequisiteError, UnreachableModelError
from expbench.programs import PROGRAMS
from expbench.schema import ResearchTask

INSIDE = Path(__file__).with_name("inside")
"""Our own programs that drive others inside; the sandbox gets them as text."""

DRIVERS = "/tmp/agent"
"""Where they lie in the sandbox, outside of the workspace."""

_CLIENTS = {"openai": "openai", "anthropic": "anthropic", "google.genai": "google"}
"""The package by which Inspect's bridge reads a provider's language, and this package's extra with it."""


@dataclass(frozen=True)
class Start:
    """What a program is started with: a command line, variables and small files by their path inside."""

    argv: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


Starting = Callable[[Bridge, ResearchTask], Start]


def runner(
    name: str, program: str, start: Starting, client: str = "openai", preset: str = ""
) -> AgentRunner:
    """An agent whose program gets the prompt on standard input.

    Args:
        name: of the agent, as it was typed.
        program: its name in the catalogue.
        client: the package that the bridge needs for the program's language.
        preset: what it is told besides; it is recorded. The program's version is recorded with the program.

    Raises:
        PrerequisiteError: that package is missing.
    """
    need_client(name, client)
    pinned = PROGRAMS[program]
    version = f"{program}, {preset}" if preset else program
    run = _running(name, dict(pinned.variables), start)
    return AgentRunner(name, run, version=version, needs_model=True, program=program)


def need_client(name: str, client: str) -> None:
    """Raise PrerequisiteError where the bridge could not read what a program sends."""
    try:
        found = importlib.util.find_spec(client) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise PrerequisiteError(
            f"Agent {name!r} speaks to its model in a language for which the bridge needs the package "
            f"{client}: pip install 'expbench[{_CLIENTS[client]}]'."
        )


def _running(name: str, variables: Mapping[str, str], start: Starting) -> Run:
    async def run(task: ResearchTask, state: AgentState) -> None:
        prompt = state.messages[0].text
        well = False
        try:
            async with bridge(state) as way:
                result = await _started(name, start(way, task), state, variables, way, prompt)
                if result.exit_code != 0 or not way.answers:
                    await way.blame()
            if not way.answers:
                said = exit_sentence(name, result)
                raise UnreachableModelError(f"{said}, without one answer of its model before")
            if result.exit_code != 0:
                raise AgentExit(result.exit_code, exit_sentence(name, result))
            well = True
        finally:
            settle(state.messages, well)

    return run


async def _started(
    name: str,
    started: Start,
    state: AgentState,
    variables: Mapping[str, str],
    way: Bridge,
    prompt: str,
) -> Result:
    """Bring the files in, and run the program to its end."""
    for path, text in started.files.items():
        await sandbox().write_file(path, text)
    return await run_program(
        started.argv,
        state.messages,
        shown=name,
        environment={**way.environment, "NO_COLOR": "1", **variables, **started.variables},
        stdin=prompt,
    )


def settle(messages: list[ChatMessage], ended_well: bool) -> None:
    """Have no call look as if it had failed that has not.

    A program that gives calls names of its own sends them again under these, with their answers: what the
    model itself had called them goes. A program's last call, by which it ends, is never reported to its
    model: where it ``ended_well``, it is answered.
    """
    answered = {each.tool_call_id for each in messages if isinstance(each, ChatMessageTool)}
    calls = [call for each in messages for call in _calls(each)]
    echoed = Counter(_same(call) for call in calls if call.id in answered)
    gone = set()
    for call in calls:
        if call.id not in answered and echoed[_same(call)]:
            echoed[_same(call)] -= 1
            gone.add(call.id)
    messages[:] = [each for each in (_without(each, gone) for each in messages) if each is not None]
    if ended_well:
        messages += [
            ChatMessageTool(
                content="[its program did not tell the model what came of this]",
                tool_call_id=call.id,
                function=call.function,
            )
            for call in calls
            if call.id not in answered | gone
        ]


def _calls(message: ChatMessage) -> list[ToolCall]:
    return (message.tool_calls or []) if isinstance(message, ChatMessageAssistant) else []


def _same(call: ToolCall) -> tuple[str, str]:
    return call.function, json.dumps(call.arguments, sort_keys=True, default=str)


def _without(message: ChatMessage, gone: set[str]) -> ChatMessage | None:
    """A message without these calls; None where nothing is left of it."""
    calls = _calls(message)
    kept = [call for call in calls if call.id not in gone]
    if len(kept) == len(calls):
        return message
    if not kept and not message.text:
        return None
    return message.model_copy(update={"tool_calls": kept or None})


def driver(file: str) -> tuple[str, dict[str, str]]:
    """Where one of our own programs will lie inside, and the file to write for it."""
    place = f"{DRIVERS}/{file}"
    return place, {place: (INSIDE / file).read_text("utf-8")}
