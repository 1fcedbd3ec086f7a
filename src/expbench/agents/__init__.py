"""Agents: whose work is evaluated, and the fakes that test the evaluation."""

from expbench.agents.kinds import AgentKind, AgentRunner
from expbench.agents.registry import AGENTS, agent_kind, all_kinds, get_agent
from expbench.agents.workspace import Result, Workspace
from expbench.errors import AgentExit

__all__ = [
    "AGENTS",
    "AgentExit",
    "AgentKind",
    "AgentRunner",
    "Result",
    "Workspace",
    "agent_kind",
    "all_kinds",
    "get_agent",
]
