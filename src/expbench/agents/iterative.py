"""An agent that works piecemeal and does not stop before its time is up.

The idea is PaperBench's IterativeAgent: models end long jobs far too early, so there is no tool to
submit with, and an answer without a tool call is met with what is left and the demand to go on. The
agent ends at a limit; what it left by then is collected.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    execute_tools,
    get_model,
)
from inspect_ai.tool import Tool, ToolDef

from expbench import __version__
from expbench.agents.kinds import AgentKind, AgentRunner, numbers
from expbench.agents.react import research_tools
from expbench.budgets import remaining
from expbench.prompts import load
from expbench.schema import ResearchTask

_PATIENT = 2
"""Answers in a row without a tool call that are met at once; after more, each pause is twice as long."""
_LONGEST_PAUSE = 60.0


def make_iterative(argument: str, base: Path) -> AgentRunner:
    """``iterative`` or ``iterative:steps=N``. Raises UserError."""
    steps = numbers("iterative", argument, ("steps",)).get("steps")

    async def run(task: ResearchTask, state: AgentState) -> None:
        await work(state, research_tools(), steps)

    return AgentRunner("iterative", run, version=_version(), needs_model=True)


async def work(
    state: AgentState, tools: Sequence[Tool | ToolDef], steps: int | None = None
) -> None:
    """Ask the model for one step after the other until a limit ends it, or ``steps`` answers were given.

    The state's messages are the whole conversation. What the model is shown loses its oldest part
    where it would be longer than the model's context.
    """
    model, idle = get_model(), 0
    state.messages.insert(0, ChatMessageSystem(content=load("agent_iterative").text))
    shown = list(state.messages)

    def add(*messages: ChatMessage) -> None:
        shown.extend(messages)
        state.messages.extend(messages)

    done = 0
    while steps is None or done < steps:
        output = await model.generate(shown, list(tools))
        if output.stop_reason == "model_length" and (shorter := without_oldest(shown)) != shown:
            shown = shorter
            continue
        done += 1
        state.output = output
        add(output.message)
        if output.message.tool_calls:
            idle = 0
            add(*(await execute_tools(shown, list(tools))).messages)
        else:
            idle += 1
            await anyio.sleep(pause_after(idle))
        name = "agent_goes_on" if idle else "agent_next"
        add(ChatMessageUser(content=load(name).fill(left=_left(done, steps)).strip()))


def without_oldest(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The first system message and the prompt, and the newer half of the rest in whole turns."""
    head, rest = list(messages[:2]), list(messages[2:])
    kept = rest[(len(rest) + 1) // 2 :]
    while kept and isinstance(kept[0], ChatMessageTool):
        kept.pop(0)
    return [*head, *kept]


def pause_after(idle: int) -> float:
    """Seconds to wait for a model that only talks: asking on at once would spend its budget on nothing."""
    return 0.0 if idle <= _PATIENT else min(_LONGEST_PAUSE, 2.0 ** min(idle - _PATIENT - 1, 10))


def _left(done: int, steps: int | None) -> str:
    said = remaining().sentence or "Your time is not up."
    return said if steps is None else f"{said} Steps left: {steps - done}."


def _version() -> str:
    """The package's version, and the digest of the prompts that make this agent what it is."""
    texts = "".join(load(name).text for name in ("agent_iterative", "agent_goes_on", "agent_next"))
    return f"expbench {__version__}, prompts {hashlib.sha256(texts.encode()).hexdigest()[:12]}"


KINDS = (
    AgentKind(
        "iterative",
        "works by small steps and may not stop before its time is up; needs --model",
        make_iterative,
        needs="a model that calls tools",
        options={"steps=N": "ends after N answers of the model, if no limit ends it before"},
        example="expbench run --agent iterative --model openai/gpt-5 --task mini/stochopt/2",
        tried="run to scores with a scripted model",
    ),
)
