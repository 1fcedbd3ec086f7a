"""mini-swe-agent and OpenHands: Python programs that drivers of ours run inside."""

from __future__ import annotations

from pathlib import Path

from expbench.agents.bridged.running import Start, driver, runner
from expbench.agents.bridging import Bridge
from expbench.agents.kinds import AgentKind, AgentRunner, no_argument
from expbench.errors import UserError
from expbench.programs import MOUNT
from expbench.schema import ResearchTask

PYTHON = (f"{MOUNT}/bin/python", "-I")
"""The program's own Python; what the sandbox has on ``PYTHONPATH`` is not for it."""

PAPER_STEPS = 30
"""Steps that OpenHands may take in the publication (section 4)."""


def make_mini_swe_agent(argument: str, base: Path) -> AgentRunner:
    """``mini-swe-agent``. Raises UserError."""
    no_argument("mini-swe-agent", argument)

    def start(way: Bridge, task: ResearchTask) -> Start:
        place, files = driver("run_mini_swe_agent.py")
        # The harness tries again itself what a provider refuses.
        return Start([*PYTHON, place], {"MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "2"}, files)

    return runner("mini-swe-agent", "mini-swe-agent", start)


def make_openhands(argument: str, base: Path) -> AgentRunner:
    """``openhands``, ``openhands:unlimited`` or ``openhands:STEPS``. Raises UserError."""
    steps = _steps(argument)

    def start(way: Bridge, task: ResearchTask) -> Start:
        place, files = driver("run_openhands.py")
        return Start([*PYTHON, place, str(steps)], {}, files)

    preset = f"at most {steps} steps" if steps else "any number of steps"
    return runner(f"openhands:{argument}".rstrip(":"), "openhands", start, preset=preset)


def _steps(argument: str) -> int:
    if not argument:
        return PAPER_STEPS
    if argument == "unlimited":
        return 0
    if not argument.isdecimal() or not 0 < int(argument) < 1_000_000:
        raise UserError(
            f"Agent openhands takes a number of steps or the word unlimited, not {argument!r}."
        )
    return int(argument)


KINDS = (
    AgentKind(
        "mini-swe-agent",
        "mini-swe-agent, a loop with one shell tool",
        make_mini_swe_agent,
        needs="`expbench agents install mini-swe-agent`, a model, the package openai",
        example="expbench run --agent mini-swe-agent --model openai/gpt-5 --task mini/stochopt/2",
        tried="run to scores in bwrap with a scripted model",
    ),
    AgentKind(
        "openhands",
        "OpenHands' agent by its SDK, 30 steps as in the publication",
        make_openhands,
        needs="`expbench agents install openhands` (Python 3.12 or newer), a model, the package openai",
        options={
            "openhands:unlimited": "as many steps as its time allows",
            "openhands:N": "at most N steps",
        },
        example="expbench run --agent openhands:unlimited --model openai/gpt-5 --task mini/stochopt/2",
        tried="run to scores in bwrap with a scripted model",
    ),
)
