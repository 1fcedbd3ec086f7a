"""Letting an agent work: in its sandbox, within its limits, and what its end means.

Working time is the time that passes without waiting for a provider (R48): Inspect takes out back-off,
requests that failed and were repeated, and waiting for a free connection, also while an agent's program
waits for its model through the bridge. Time, turns, tokens and dollars stop the agent wherever it is, by
cancelling it; an exception would be swallowed by code that is not ours, and ends the whole sample when it
passes Inspect's bridge.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.util import LimitExceededError, SandboxUnavailableError, working_limit

from expbench.budgets import Account, spending
from expbench.errors import (
    AgentExit,
    InfrastructureError,
    SpentError,
    UnreachableModelError,
)
from expbench.evaluation import Evaluation
from expbench.metering import meter_evaluated
from expbench.redaction import redacted_error
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment
from expbench.schema import Doubt, ResearchTask, Usage
from expbench.trajectory import to_turns
from expbench.validity import doubts_of_work

_LONGEST_SLEEP = 30.0
_REASON = 500


@dataclass(frozen=True)
class End:
    """How an agent's work ended; see :class:`~expbench.runs.Ended`."""

    status: str = "finished"
    reason: str = ""
    limit: str = ""
    doubts: tuple[Doubt, ...] = ()
    seconds: float = 0.0
    working_seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


async def let_work(
    evaluation: Evaluation,
    task: ResearchTask,
    epoch: int,
    state: AgentState,
    environment: BwrapSandboxEnvironment,
) -> End:
    """Have the run's agent work on a task until it ends, or a limit ends it.

    A sandbox that a limit of its own has ended is the agent's doing, any other that ends is not (R25).

    Raises:
        SpentError: the run's cap on dollars was reached.
        UnreachableModelError: the provider of its model did not answer the last that it asked.
        SandboxUnavailableError: the sandbox died, whatever the agent made of it.
    """
    account = evaluation.books.account("agent", task.id, epoch)
    meter_evaluated()
    started = time.monotonic()
    with working_limit(None) as working:
        account.working = working
        raised = await _until_end(evaluation, task, state, environment, account)
    turns = to_turns(state.messages)
    status, reason, limit = _meaning(evaluation, environment, account, raised)
    return End(
        status,
        reason,
        limit,
        doubts_of_work(turns, raised, evaluation.agent.needs_model, account.usage.calls),
        round(time.monotonic() - started, 3),
        round(working.usage, 3),
        account.usage,
    )


async def _until_end(
    evaluation: Evaluation,
    task: ResearchTask,
    state: AgentState,
    environment: BwrapSandboxEnvironment,
    account: Account,
) -> Exception | None:
    """Let the agent run to its end, its sandbox's or a limit's; what it raised.

    Inspect tells a model of a dead sandbox as of any tool's error, and it would be asked on for nothing.
    """
    raised = None
    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            account.on_limit = scope.cancel

            async def end_with_sandbox() -> None:
                await environment.death()
                scope.cancel()

            group.start_soon(end_with_sandbox)
            group.start_soon(_end_in_time, account, scope)
            try:
                with spending(account):
                    await evaluation.agent.run(evaluation.told(task), state)
            except Exception as error:
                raised = error
        group.cancel_scope.cancel()
    return raised


async def _end_in_time(account: Account, scope: anyio.CancelScope) -> None:
    """Cancel the agent when its working time or its wall-clock time is over."""
    limits = account.limits
    assert limits is not None
    account.wall_ends = anyio.current_time() + limits.agent_wall_minutes * 60
    # Nobody tells when working time stands still, so it has to be looked at.
    while (left := account.seconds_left()) > 0:  # noqa: ASYNC110
        await anyio.sleep(min(left, _LONGEST_SLEEP))
    if account.wall_ends <= anyio.current_time():
        account.limit = f"{limits.agent_wall_minutes:g} minutes of wall-clock time"
    else:
        account.limit = f"{limits.minutes:g} minutes"
    account.timed_out = True
    scope.cancel()


def _meaning(
    evaluation: Evaluation,
    environment: BwrapSandboxEnvironment,
    account: Account,
    raised: Exception | None,
) -> tuple[str, str, str]:
    """(status, reason, limit) of an agent that has ended; raises what is not its own doing."""
    if account.spent:
        raise SpentError(evaluation.books.sentence)
    if (excess := environment.session.excess) is not None:
        return "finished", "", f"{excess.limit}: {excess.sentence}"
    if account.limit and not account.timed_out:
        return "finished", "", account.limit
    if not environment.alive:
        raise SandboxUnavailableError("the sandbox is dead: it ended while the agent worked")
    if account.failure:
        # Also where time has ended the agent: waiting for the provider may be what used it up.
        raise UnreachableModelError(f"the agent's model could not be reached: {account.failure}")
    if account.limit:
        return "finished", "", account.limit
    if raised is None:
        return "finished", "", ""
    if isinstance(raised, LimitExceededError):
        return "finished", "", f"{raised.type}: {raised.message}"
    if isinstance(raised, AgentExit):
        return "agent_error", redacted_error(raised.sentence)[:_REASON], ""
    if isinstance(raised, InfrastructureError) or not evaluation.agent.own_code:
        raise raised
    return "agent_error", redacted_error(f"{type(raised).__name__}: {raised}")[:_REASON], ""
