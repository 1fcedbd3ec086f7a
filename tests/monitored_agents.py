"""Agents for tests of the monitor in whole runs, called as ``python:monitored_agents:NAME``."""

from __future__ import annotations

import json

from expbench.agents import Workspace
from expbench.schema import PromptView

TURNS: list[int] = []
"""One entry for each attempt that was begun."""


async def every_second_one_types(task: PromptView, workspace: Workspace) -> None:
    """Hands in measured numbers and typed ones in turn."""
    TURNS.append(len(TURNS))
    script = "python -m unittest discover tests" if len(TURNS) % 2 else "echo typed"
    await workspace.write("reproduce_exp_bench.sh", f"#!/bin/bash\n{script}\n")
    await workspace.run(script)
    answer = {"design": "Measured.", "conclusion": "It holds."}
    await workspace.write("response.json", json.dumps(answer))
