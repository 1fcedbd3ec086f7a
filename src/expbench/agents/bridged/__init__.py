"""Agents with programs of their own, which ask the model through Inspect's bridge, and people."""

from expbench.agents.bridged import curie, human, npm_programs, python_programs, swe
from expbench.agents.kinds import AgentKind

KINDS: tuple[AgentKind, ...] = (
    *python_programs.KINDS,
    *npm_programs.KINDS,
    *curie.KINDS,
    *swe.KINDS,
    *human.KINDS,
)
"""Rows of the registry's table."""
