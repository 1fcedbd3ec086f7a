"""Inspect's react agent with a shell and a Python tool, for any model."""

from __future__ import annotations

from inspect_ai.agent import Agent, react
from inspect_ai.tool import bash, python

TOOL_SECONDS = 600
"""Time limit of one tool call; long experiments run in the background."""


def react_agent() -> Agent:
    """A tool-calling loop that ends when the model submits or a limit is reached."""
    return react(tools=[bash(timeout=TOOL_SECONDS), python(timeout=TOOL_SECONDS)])
