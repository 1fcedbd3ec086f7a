"""Reasons to doubt an attempt: a status that says *finished* proves nothing about the agent.

An agent whose every tool call failed, or whose program died, ends as quietly as one that worked. What
looks like that is marked with :class:`~expbench.schema.Doubt`, in the attempt and its outcome, and shown
wherever the attempt is shown. It changes no score: the agent's own failures are results.
"""

from __future__ import annotations

from collections.abc import Sequence

from expbench.errors import AgentExit
from expbench.schema import RESPONSE_NAME, Doubt, Submission, Turn

FEWEST_CALLS = 4
"""Tool calls from which it says something that most of them failed."""


def doubts_of_work(
    turns: Sequence[Turn],
    raised: Exception | None = None,
    needs_model: bool = False,
    asked: int = 0,
) -> tuple[Doubt, ...]:
    """What is doubtful in how an agent worked and ended.

    Args:
        turns: its trajectory.
        raised: what ended it, if anything did.
        needs_model: whether it is an agent that asks a model.
        asked: how many requests the model has answered.
    """
    found = []
    calls = [turn for turn in turns if turn.role == "tool"]
    failed = sum(turn.failed for turn in calls)
    if len(calls) >= FEWEST_CALLS and failed > len(calls) / 2:
        sentence = f"{failed} of {len(calls)} tool calls failed"
        found.append(Doubt(kind="tool_calls", sentence=sentence))
    if isinstance(raised, AgentExit):
        found.append(Doubt(kind="agent_exit", sentence=raised.sentence[:500]))
    if needs_model and not asked:
        sentence = "the agent ended without an answer of its model"
        found.append(Doubt(kind="model_unreachable", sentence=sentence))
    return tuple(found)


def doubts_of_submission(submission: Submission) -> tuple[Doubt, ...]:
    """What is doubtful in what an agent handed in: no file changed, no response."""
    found = []
    if not set(submission.changed) - {RESPONSE_NAME}:
        sentence = "the agent changed no file of the repository"
        found.append(Doubt(kind="empty_patch", sentence=sentence))
    if submission.response is None:
        sentence = f"the agent handed in no {RESPONSE_NAME}"
        found.append(Doubt(kind="no_response", sentence=sentence))
    return tuple(found)
