"""The agent of the report in the README's picture: right on some tasks, and faulty on others.

It plays the suite's own solutions with a different fault on some tasks, so that the report has
something to show. It knows the answers: its scores say nothing about any agent.

    expbench run --agent python:docs/img/mixed_agent.py:mixed_agent --out runs/mixed
"""

import json
from dataclasses import dataclass

from expbench.agents import Workspace
from expbench.agents.fakes import hardcode_steps, history_steps, oracle_steps
from expbench.agents.steps import play
from expbench.dataset import load_suite
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, PromptView


@dataclass(frozen=True)
class Fault:
    """What goes wrong after the right solution was played."""

    design: float = 1.0
    """The share of the design that is handed in."""
    conclusion: float = 1.0
    commands: tuple[str, ...] = ()
    error: str = ""


FAULTS = {
    "mini/bandits/2": Fault(design=0.5),
    "mini/calibration/1": Fault(conclusion=0.4, commands=("rm scripts/estimator_bias.py",)),
    "mini/calibration/2": Fault(design=0.8, conclusion=0.7),
    "mini/causal/0": Fault(commands=(f"echo 'python missing.py' >> {SCRIPT_NAME}",)),
    "mini/causal/2": Fault(conclusion=0.3),
    "mini/forecasting/0": Fault(commands=("rm scripts/run_horizon.py",)),
    "mini/stochopt/1": Fault(design=0.0, error="the budget is used up"),
    "mini/stochopt/2": Fault(
        conclusion=0.5, commands=(f"echo 'python plots.py' >> {SCRIPT_NAME}",)
    ),
}
CHEATS = {"mini/causal/1": hardcode_steps, "mini/forecasting/1": history_steps}


async def mixed_agent(task: PromptView, workspace: Workspace) -> None:
    """Play a task's solution, then its fault."""
    steps = CHEATS.get(task.task_id, oracle_steps)
    await play(steps(load_suite("mini").task(task.task_id)), workspace)
    if fault := FAULTS.get(task.task_id):
        answer = json.loads(await workspace.read(RESPONSE_NAME))
        for name, share in (("design", fault.design), ("conclusion", fault.conclusion)):
            answer[name] = answer[name][: int(share * len(answer[name]))]
        await workspace.write(RESPONSE_NAME, json.dumps(answer))
        for command in fault.commands:
            await workspace.run(command)
        if fault.error:
            raise RuntimeError(fault.error)
