"""Agents for tests of money and limits, called by their names: ``python:spending_agents:NAME``.

They ask a fake provider, whose address a test puts into :data:`ADDRESS`, by models that they get
themselves, as a user's agent may.
"""

from __future__ import annotations

import contextlib
import json

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessageAssistant, GenerateConfig, Model, get_model

from expbench.agents import Workspace
from expbench.budgets import Remaining, remaining
from expbench.schema import PromptView

MODEL = "openai-api/fake/m"
ADDRESS: list[str] = []
LEFT: list[Remaining] = []
"""What agents were told to be left, in order."""

DONE = json.dumps({"design": "Measured.", "conclusion": "It is 0.5."})


def model() -> Model:
    return get_model(MODEL, base_url=ADDRESS[0], api_key="x", memoize=False, max_retries=0)


async def ask(question: str = "What now?", most: int | None = 100, **config: object) -> str:
    """The provider's answer."""
    settings = GenerateConfig(max_tokens=most, **config)  # type: ignore[arg-type]
    return (await model().generate(question, config=settings)).completion


async def hand_in(workspace: Workspace) -> None:
    await workspace.write("notes.txt", "what I did")
    await workspace.write("response.json", DONE)


async def asks_thrice(task: PromptView, workspace: Workspace) -> None:
    for _ in range(3):
        LEFT.append(remaining())
        await ask()
    await hand_in(workspace)


async def hands_in_first(task: PromptView, workspace: Workspace) -> None:
    """Hands in, then asks without an end; it takes every error for a reason to go on."""
    await hand_in(workspace)
    while True:
        with contextlib.suppress(Exception):
            await ask()
        await anyio.sleep(0.01)


async def asks_unbounded(task: PromptView, workspace: Workspace) -> None:
    """As ``hands_in_first``, by a model whose longest answer nobody knows."""
    await hand_in(workspace)
    while True:
        await ask(most=None)


async def asks_many_at_once(task: PromptView, workspace: Workspace) -> None:
    await hand_in(workspace)
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask)


async def asks_once(task: PromptView, workspace: Workspace) -> None:
    """Asks once, and hands in whatever comes of it."""
    await hand_in(workspace)
    await ask()


async def does_not_mind(task: PromptView, workspace: Workspace) -> None:
    """Asks once, swallows the error, and says that all is well."""
    await hand_in(workspace)
    with contextlib.suppress(Exception):
        await ask()


async def sleeps(task: PromptView, workspace: Workspace) -> None:
    await hand_in(workspace)
    await workspace.run("sleep 300")


async def fails_all_calls(task: PromptView, workspace: Workspace) -> None:
    """What ``react`` looks like to a model that calls tools by the wrong arguments."""
    for _ in range(5):
        await workspace.run("no-such-command")
    await hand_in(workspace)


def inspect_agent() -> object:
    """An Inspect agent that needs a model and never asks it."""

    async def run(state: AgentState) -> AgentState:
        state.messages.append(ChatMessageAssistant(content="I am done."))
        return state

    return run


async def asks_the_cache(task: PromptView, workspace: Workspace) -> None:
    """The same question twice, the second time answered by Inspect's cache."""
    question = f"What is it, {task.task_id}?"
    for _ in range(2):
        await model().generate(question, config=GenerateConfig(max_tokens=100, cache=True))
    await hand_in(workspace)
