"""What Inspect finds by the entry point: the task, the sandbox provider, the scripted model."""

from expbench.agents.scripted_model import ScriptedModel
from expbench.cli.inspecting import expbench
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment

__all__ = ["BwrapSandboxEnvironment", "ScriptedModel", "expbench"]
