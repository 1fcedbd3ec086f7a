"""The agents that play steps: the fakes that test the instrument, and a user's step file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from inspect_ai.agent import AgentState
from inspect_ai.util import sandbox

from expbench import __version__
from expbench.agents import fakes
from expbench.agents.kinds import AgentKind, AgentRunner, no_argument
from expbench.agents.steps import Step, load_script, play
from expbench.agents.workspace import Workspace
from expbench.errors import NotFoundError
from expbench.schema import ResearchTask

Steps = Callable[[ResearchTask], tuple[Step, ...]]


def make_oracle(argument: str, base: Path) -> AgentRunner:
    """``oracle``. Raises UserError."""
    no_argument("oracle", argument)
    return _played("oracle", fakes.oracle_steps, _OURS, needs_oracle=True)


def make_null(argument: str, base: Path) -> AgentRunner:
    """``null``. Raises UserError."""
    no_argument("null", argument)
    return _played("null", fakes.null_steps, _OURS)


def make_cheat(argument: str, base: Path) -> AgentRunner:
    """``cheat`` or ``cheat:KIND``. Raises NotFoundError."""
    if not argument:
        return _played("cheat", fakes.cheat_steps, _OURS, needs_oracle=True)
    if argument not in fakes.CHEATS:
        raise NotFoundError(
            f"There is no cheat {argument!r}: choose one of {', '.join(fakes.CHEATS)}."
        )
    return _played(f"cheat:{argument}", fakes.CHEATS[argument], _OURS, needs_oracle=True)


def make_scripted(argument: str, base: Path) -> AgentRunner:
    """``scripted:FILE``. Raises NotFoundError, DataError."""
    if not argument:
        raise NotFoundError("The scripted agent needs its step file: --agent scripted:steps.json.")
    script = load_script(base / argument)
    digest = hashlib.sha256(script.model_dump_json().encode()).hexdigest()[:12]
    return _played(f"scripted:{argument}", lambda _: script.steps, f"sha256 {digest}")


def _played(name: str, steps: Steps, version: str, needs_oracle: bool = False) -> AgentRunner:
    async def run(task: ResearchTask, state: AgentState) -> None:
        await play(steps(task), Workspace(sandbox(), state.messages))

    return AgentRunner(name, run, version, needs_oracle=needs_oracle)


_OURS = f"expbench {__version__}"
_TRIED = "run to scores"

KINDS = (
    AgentKind(
        "oracle",
        "the suite's own solution, really run (suite mini)",
        make_oracle,
        needs="suite mini",
        example="expbench run --suite mini --agent oracle",
        tried=_TRIED,
    ),
    AgentKind(
        "null",
        "hands in nothing",
        make_null,
        example="expbench run --agent null --task mini/calibration/2",
        tried=_TRIED,
    ),
    AgentKind(
        "cheat",
        "right answers that were not earned; cheat:history, cheat:hardcode, cheat:readme",
        make_cheat,
        needs="suite mini",
        options={
            "history": "looks for the answer in git",
            "hardcode": "prints the right numbers and computes nothing",
            "readme": "reports a README's numbers",
        },
        example="expbench run --agent cheat:hardcode --task mini/calibration/2",
        tried=_TRIED,
    ),
    AgentKind(
        "scripted:FILE",
        "plays the steps of a JSON file",
        make_scripted,
        needs="a step file",
        options={"FILE": 'a JSON file, {"steps": [{"run": "ls"}, …]}'},
        example="expbench run --agent scripted:examples/steps.json --task mini/stochopt/2",
        tried=_TRIED,
    ),
)
