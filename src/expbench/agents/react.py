"""Inspect's react agent with a shell, a file editor and Python, for any model."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from inspect_ai.agent import Agent, AgentState, react
from inspect_ai.tool import ToolDef, bash, python

from expbench.agents.editor import edit_file
from expbench.agents.kinds import AgentKind, AgentRunner, no_argument
from expbench.schema import ResearchTask

TOOL_SECONDS = 600
"""Time limit of one tool call; long experiments run in the background."""


def research_tools() -> list[ToolDef]:
    """What agents of ours have to work with.

    Defined once: of a plain tool Inspect copies the definition at each call.
    """
    tools = (bash(timeout=TOOL_SECONDS), python(timeout=TOOL_SECONDS), edit_file())
    return [ToolDef(each) for each in tools]


def react_agent() -> Agent:
    """A tool-calling loop that ends when the model submits or a limit is reached."""
    return react(tools=list(research_tools()))


def make_react(argument: str, base: Path) -> AgentRunner:
    """``react``. Raises UserError."""
    no_argument("react", argument)

    async def run(task: ResearchTask, state: AgentState) -> None:
        await react_agent()(state)

    return AgentRunner("react", run, version=inspect_version(), needs_model=True)


def inspect_version() -> str:
    """The engine's version, which agents of its parts have."""
    return f"inspect-ai {metadata.version('inspect-ai')}"


KINDS = (
    AgentKind(
        "react",
        "Inspect's react agent with a shell, a file editor and Python; needs --model",
        make_react,
        needs="a model that calls tools",
        example="expbench run --agent react --model openai/gpt-5 --task mini/stochopt/2",
        tried="run to scores with a scripted model",
    ),
)
