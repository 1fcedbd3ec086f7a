"""The agent's part of a task: prepare its workspace, let it work, and put by what it leaves.

Whatever ends the agent (its own end, a limit, an error of its code), everything in its sandbox is
killed and what it left is collected from outside (:mod:`expbench.collecting`), so that every attempt ends
in a stored submission. Failures of the harness or of a model's provider rise as exceptions instead, and
are tried again.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from inspect_ai.agent import AgentState
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import TaskState
from inspect_ai.util import sandbox

from expbench.collecting import Left, put_by
from expbench.evaluation import Evaluation
from expbench.heartbeat import waits_of
from expbench.patience import bounded, bounded_thread
from expbench.runs import Generated
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment
from expbench.schema import ResearchTask
from expbench.trajectory import to_json_lines, to_turns
from expbench.working import let_work


async def run_agent(evaluation: Evaluation, task: ResearchTask, state: TaskState) -> Left:
    """Run the agent on one task and journal that it has ended.

    Raises:
        SpentError: the run's cap on dollars is reached.
        InfrastructureError, SandboxUnavailableError: the harness failed; the task is retried.
    """
    evaluation.books.check()
    environment = sandbox().as_type(BwrapSandboxEnvironment)
    key = (task.id, state.epoch)
    with evaluation.phase(key, "prepare") as bound:
        made, prompt = await bounded_thread(
            bound, "prepare", lambda _: _open(evaluation, task, environment)
        )
    agent_state = AgentState(messages=[ChatMessageUser(content=prompt)])
    with evaluation.phase(key, "agent", partial(waits_of, transcript())) as bound:
        end = await bounded(
            bound, "agent", let_work(evaluation, task, state.epoch, agent_state, environment)
        )
    state.messages = agent_state.messages
    ended = Generated(
        task_id=task.id,
        epoch=state.epoch,
        **vars(end),
        enforced=environment.session.enforced,
        environment=made,
        refused=tuple(environment.refused),
        trajectory=evaluation.run.store.put(to_json_lines(to_turns(agent_state.messages))),
        workspace=environment.folder.name,
        view=environment.session.view.kind,
    )
    return await put_by(evaluation, environment, ended)


def _open(
    evaluation: Evaluation, task: ResearchTask, environment: BwrapSandboxEnvironment
) -> tuple[str, str]:
    """Start the sandbox on the task's workspace; the digest of its own environment, and the prompt."""
    prepared, denied = evaluation.prepared(task), evaluation.denied(task)
    made = evaluation.environment(task)
    python = made.python() if made is not None else None
    folders: dict[str, Path | None] = dict.fromkeys(evaluation.agent.scratch)
    if evaluation.program is not None:
        folders |= evaluation.program.folders()
    environment.open(prepared, denied, python, folders)
    prompt = evaluation.prompt(task, environment.session.workspace)
    return made.digest if made is not None else "", prompt
