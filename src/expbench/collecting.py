"""From an agent's end to its stored submission, so that a kill in between loses nothing.

That an agent has ended is journaled before anything is done with its work, and its workspace is kept
until it has been collected: what was killed on the way is collected by the next one, and no agent is
asked twice.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from expbench.errors import InfrastructureError
from expbench.evaluation import Evaluation
from expbench.patience import bounded_thread
from expbench.runs import Attempt, Generated, Key
from expbench.sandboxes.bwrap import BwrapSandboxEnvironment
from expbench.schema import ResearchTask
from expbench.validity import doubts_of_submission
from expbench.workspace import View, collect, record_submission
from expbench.workspace.keeping import keep, kept_of, let_go
from expbench.workspace.opening import reopened

_SHARED = tuple(set(Attempt.model_fields) & set(Generated.model_fields))


_CLOSING = 300.0
"""Seconds in which a sandbox ends that is told to."""


@dataclass(frozen=True)
class Left:
    """An ended agent's work, not collected yet; ``view`` is how its files lie, where that is known."""

    ended: Generated
    view: View | None = None


async def put_by(
    evaluation: Evaluation, environment: BwrapSandboxEnvironment, ended: Generated
) -> Left:
    """Journal that an agent has ended, then kill what is left of it.

    Files that do not lie on this machine are taken back when the sandbox is closed, so there the journal
    comes last.
    """
    session, here = environment.session, evaluation.host.provider.here
    with anyio.move_on_after(_CLOSING, shield=True) as scope:
        if here:
            await to_thread.run_sync(_journal, evaluation, environment.folder, ended)
        await to_thread.run_sync(session.close, abandon_on_cancel=True)
        if not here:
            await to_thread.run_sync(_journal, evaluation, environment.folder, ended)
    if scope.cancelled_caught:
        raise InfrastructureError(f"the sandbox does not end: it was told to {_CLOSING:g} s ago")
    return Left(ended, session.view)


def uncollected(evaluation: Evaluation, key: Key) -> Left | None:
    """The work of an agent that ended when its harness was killed, if it is still there."""
    ended = evaluation.run.generated.get(key)
    return Left(ended) if ended is not None and _folder(evaluation, ended).is_dir() else None


async def gather(evaluation: Evaluation, task: ResearchTask, left: Left) -> Attempt:
    """Collect a submission from what an agent left, journal it, and remove the workspace.

    Raises:
        InfrastructureError: it cannot be collected now; the workspace stays.
    """
    with evaluation.phase((task.id, left.ended.epoch), "collect") as bound:
        return await bounded_thread(bound, "collect", partial(_gather, evaluation, task, left))


def release(evaluation: Evaluation) -> None:
    """Remove the workspaces that were kept for this run and that nobody will collect."""
    host, run = evaluation.host, evaluation.run
    wanted = {ended.workspace for ended in run.generated.values()}
    for folder in kept_of(host.cache.work, run.paths.root):
        if folder.name not in wanted:
            host.discard(folder)
            let_go(folder)


def _journal(evaluation: Evaluation, folder: Path, ended: Generated) -> None:
    keep(folder, evaluation.run.paths.root)
    evaluation.run.add(ended)


def _folder(evaluation: Evaluation, ended: Generated) -> Path:
    return evaluation.host.cache.work / Path(ended.workspace).name


def _gather(
    evaluation: Evaluation, task: ResearchTask, left: Left, cancelled: threading.Event
) -> Attempt:
    prepared = evaluation.prepared(task)
    ended, folder = left.ended, _folder(evaluation, left.ended)
    view = left.view or reopened(prepared, folder, ended.view)
    found = collect(view, prepared)
    submission, _ = record_submission(
        found, ended.task_id, prepared, evaluation.run.store, ended.trajectory
    )
    facts = {name: getattr(ended, name) for name in _SHARED}
    facts["doubts"] = (*ended.doubts, *doubts_of_submission(submission))
    done = Attempt(submission=submission, **facts)
    if cancelled.is_set():
        raise InfrastructureError("collecting was given up")
    evaluation.run.add(done)
    evaluation.host.discard(folder)
    let_go(folder)
    return done
