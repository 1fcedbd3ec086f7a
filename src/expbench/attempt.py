"""The agent's part of a task: prepare its workspace, let it work, take what it hands in.

Whatever ends the agent (its own end, a limit, an error of its code), everything in its sandbox is
killed and what it left is collected from outside, so that every attempt ends in a stored submission.
Failures of the harness or of a model's provider rise as exceptions instead, and are tried again.
"""

from __future__ import annotations

import time

import anyio
from anyio import to_thread
from inspect_ai.agent import AgentState
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import TaskState
from inspect_ai.util import (
    LimitExceededError,
    SandboxUnavailableError,
    apply_limits,
    sandbox,
    time_limit,
)

from expbench.agents.trajectory import to_json_lines, to_turns
from expbench.evaluation import Evaluation, agent_prompt
from expbench.runs import Attempt
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment
from expbench.schema import ResearchTask, Submission, SubmissionText, Usage
from expbench.workspace import BlobStore, Prepared, collect, parse_response


async def attempt(evaluation: Evaluation, task: ResearchTask, state: TaskState) -> Attempt:
    """Run the agent on one task and journal its submission.

    Raises:
        InfrastructureError, SandboxUnavailableError: the harness failed; the task is retried.
    """
    environment = sandbox().as_type(BwrapSandboxEnvironment)
    prepared = await to_thread.run_sync(evaluation.prepared, task)
    await to_thread.run_sync(environment.open, prepared)
    prompt = agent_prompt(task, evaluation.limits, evaluation.host.package_names())
    agent_state = AgentState(messages=[ChatMessageUser(content=prompt)])
    started = time.monotonic()
    status, reason, limit = await _work(evaluation, task, agent_state)
    seconds = time.monotonic() - started
    state.messages = agent_state.messages
    with anyio.CancelScope(shield=True):
        enforced = environment.session.enforced
        await to_thread.run_sync(environment.session.close)
        trajectory = to_json_lines(to_turns(agent_state.messages))
        submission = await to_thread.run_sync(
            _collect, environment, prepared, task, evaluation.run.store, trajectory
        )
        done = Attempt(
            task_id=task.id,
            epoch=state.epoch,
            submission=submission,
            status=status,
            reason=reason,
            limit=limit,
            seconds=round(seconds, 3),
            usage=_usage(),
            enforced=enforced,
        )
        evaluation.run.add(done)
    return done


async def _work(
    evaluation: Evaluation, task: ResearchTask, agent_state: AgentState
) -> tuple[str, str, str]:
    """Let the agent run; (status, reason, limit that ended it)."""
    bound = time_limit(evaluation.limits.minutes * 60)
    try:
        with apply_limits([bound], catch_errors=True) as scope:
            await evaluation.agent.run(task, agent_state)
    except SandboxUnavailableError:
        raise
    except LimitExceededError as error:
        return "finished", "", f"{error.type}: {error.message}"
    except Exception as error:
        if not evaluation.agent.own_code:
            raise
        return "agent_error", f"{type(error).__name__}: {error}"[:500], ""
    if scope.limit_error:
        return "finished", "", f"{evaluation.limits.minutes:g} minutes"
    return "finished", "", ""


def _collect(
    environment: BwrapSandboxEnvironment,
    prepared: Prepared,
    task: ResearchTask,
    store: BlobStore,
    trajectory: bytes,
) -> Submission:
    found = collect(environment.session.view, prepared)
    response = parse_response(found.response)
    text = SubmissionText(
        design=response.design or "",
        conclusion=response.conclusion or "",
        diff=found.diff,
        script=(found.script or b"").decode("utf-8", errors="replace"),
        changed=found.changed,
    )
    return Submission(
        task_id=task.id,
        base_tree=prepared.tree,
        design=response.design,
        conclusion=response.conclusion,
        patch=store.put(found.patch),
        text=store.put(text.model_dump_json().encode()),
        script=store.put(found.script) if found.script is not None else None,
        response=store.put(found.response) if found.response is not None else None,
        trajectory=store.put(trajectory),
        changed=found.changed,
        left_out=found.left_out,
        problems=response.problems,
    )


def _usage() -> Usage:
    """Tokens of all model calls of the sample so far."""
    used = [e.output.usage for e in transcript().events if isinstance(e, ModelEvent)]
    counted = [each for each in used if each is not None]
    return Usage(
        input_tokens=sum(each.input_tokens for each in counted),
        output_tokens=sum(each.output_tokens for each in counted),
        calls=len(used),
    )
