"""Doing a run: hand what is not done yet to Inspect, then see that every task has an explicit state."""

from __future__ import annotations

import os
from dataclasses import dataclass

from inspect_ai import eval as inspect_eval

from expbench.errors import InfrastructureError
from expbench.evaluation import Evaluation
from expbench.logs import failed_whole, failures, interrupted, recover
from expbench.planning import NO_MODEL
from expbench.runs import locked
from expbench.tasks import build_task


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: whether its user stopped it, and how many tasks are left for a resumption."""

    interrupted: bool
    open: int


def execute(evaluation: Evaluation, max_samples: int) -> RunEnd:
    """Do everything of a run that is not done, and write its outcomes.

    A task's crash never stops the others: it ends as ``infrastructure``, and a resumption tries it again.

    Raises:
        InfrastructureError: the evaluation as a whole could not be done.
    """
    run = evaluation.run
    with locked(run):
        todo = {task for task, epoch in run.planned if not run.final((task, epoch))}
        stopped = False
        recover(run.paths.logs)
        if todo:
            stopped = _evaluate(evaluation, todo, max_samples)
        run.write_outcomes()
        return RunEnd(stopped, sum(not run.final(key) for key in run.planned))


def _evaluate(evaluation: Evaluation, todo: set[str], max_samples: int) -> bool:
    """Have Inspect do the tasks; whether the user stopped it."""
    run = evaluation.run
    try:
        logs = inspect_eval(
            build_task(evaluation, only=sorted(todo)),
            model=run.manifest.model or NO_MODEL,
            epochs=run.manifest.epochs,
            log_dir=str(run.paths.logs),
            display="none",
            log_level="error",
            max_samples=max_samples,
            max_sandboxes=max_samples,
            fail_on_error=False,
            retry_on_error=1,
        )
    except KeyboardInterrupt:
        return True
    stopped = interrupted(logs)
    if (why := failed_whole(logs)) and not stopped:
        raise InfrastructureError(f"the evaluation failed: {why}")
    for key, reason in failures(logs).items():
        if not run.final(key):
            run.add(run.unfinished(key, "infrastructure", reason))
    return stopped


def default_max_samples() -> int:
    """Tasks at the same time when the user does not say: one for each processor."""
    return max(1, len(os.sched_getaffinity(0)))
