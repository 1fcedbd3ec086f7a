"""Curie, by its public function, driven inside the sandbox.

The published package starts containers of its own on the host's Docker, which no sandbox has: it ends with an
error there. What runs is a Curie that works where it is called, installed from a folder of wheels.
"""

from __future__ import annotations

from pathlib import Path

from expbench.agents.bridged.python_programs import PYTHON
from expbench.agents.bridged.running import Start, driver, runner
from expbench.agents.bridging import Bridge
from expbench.agents.kinds import AgentKind, AgentRunner
from expbench.errors import UserError
from expbench.schema import ResearchTask

USUAL_STEPS = 30
"""Curie's own default of ``max_global_steps``."""


def make_curie(argument: str, base: Path) -> AgentRunner:
    """``curie`` or ``curie:STEPS``. Raises UserError."""
    if argument and not (argument.isdecimal() and 0 < int(argument) < 10_000):
        raise UserError(f"Agent curie takes its number of global steps, not {argument!r}.")
    steps = int(argument or USUAL_STEPS)

    def start(way: Bridge, task: ResearchTask) -> Start:
        place, files = driver("run_curie.py")
        return Start([*PYTHON, place, str(steps)], {}, files)

    name = f"curie:{argument}".rstrip(":")
    return runner(name, "curie", start, preset=f"at most {steps} global steps")


KINDS = (
    AgentKind(
        "curie",
        "Curie, by its public function; plans become the design, its concluder's record the conclusion",
        make_curie,
        needs="`expbench agents install curie --wheels DIR` with a Curie that needs no Docker, a model, "
        "the package openai",
        options={"curie:N": "at most N global steps; 30 without"},
        example="expbench run --agent curie --model openai/gpt-5 --task mini/stochopt/2",
        tried="run to scores in bwrap with a stand-in that has its functions and files; the published "
        "package, which starts Docker containers of its own, untested",
    ),
)
