"""Agents: whose work is evaluated, and the fakes that test the evaluation."""

from expbench.agents.registry import AGENTS, AgentRunner, get_agent
from expbench.agents.workspace import Result, Workspace

__all__ = ["AGENTS", "AgentRunner", "Result", "Workspace", "get_agent"]
