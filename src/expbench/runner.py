"""Doing a run: hand what is not done yet to Inspect, then see that every task has an explicit state."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread

from inspect_ai import eval as inspect_eval

from expbench.books import Books
from expbench.collecting import release
from expbench.comparing import compare_epochs
from expbench.errors import ExpbenchError, InfrastructureError
from expbench.evaluation import Evaluation
from expbench.execution.tracing import choose
from expbench.heartbeat import Heartbeat
from expbench.logs import failed_whole, failures, interrupted, recover, scrub
from expbench.patience import wait_for_abandoned
from expbench.planning import NO_MODEL
from expbench.runs import locked
from expbench.sandboxes.host import SandboxHost
from expbench.tasks import build_task


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: whether its user stopped it, and how many tasks are left for a resumption."""

    interrupted: bool
    open: int


_ENOUGH = 15.0
"""Seconds for what was dropped to end by itself, before another process may have the run."""
TRIES = 3
"""How often a task is begun in one run, when the harness or a provider fails."""


def execute(
    evaluation: Evaluation, max_samples: int, deaf: Callable[[str], None] | None = None
) -> RunEnd:
    """Do everything of a run that is not done, and write its outcomes.

    A task's crash never stops the others: it is tried again, ends as ``infrastructure``, and a resumption
    tries it again.

    Args:
        deaf: told of a task that does not end when it is told to, which nothing but the end of this
            process ends; called in another thread.

    Raises:
        InfrastructureError: the evaluation as a whole could not be done.
    """
    run = evaluation.run
    with locked(run):
        books = evaluation.books
        todo = {task for task, epoch in run.planned if not run.final((task, epoch))}
        stopped = False
        recover(run.paths.logs)
        run.store.sweep()
        release(evaluation)
        try:
            if todo:
                heart = Heartbeat(
                    run.paths, evaluation.activity, max_samples, partial(_spent, books), deaf
                )
                evaluation.activity.entered = heart.watch_loop
                with heart.beating(), _tracers_tried(evaluation.host):
                    stopped = _evaluate(evaluation, todo, max_samples)
            else:
                _tidy(evaluation)
            stopped = stopped or compare_epochs(evaluation)
        finally:
            scrub(run.paths.logs)
        wait_for_abandoned(_ENOUGH)
        run.write_outcomes()
        return RunEnd(stopped, sum(not run.final(key) for key in run.planned))


def _tidy(evaluation: Evaluation) -> None:
    """Remove what a harness left that was killed when all was done; else the evaluation's start does."""
    evaluation.run.paths.pulse.unlink(missing_ok=True)
    with suppress(ExpbenchError):
        evaluation.host.sweep()


@contextmanager
def _tracers_tried(host: SandboxHost) -> Iterator[None]:
    """Have the tracer of re-runs chosen while Inspect is loaded: the first re-runs would wait for it."""
    trial = Thread(target=choose, args=(host,), name="tracers", daemon=True)
    trial.start()
    try:
        yield
    finally:
        trial.join(_ENOUGH)


def _spent(books: Books) -> tuple[float | None, int]:
    return books.ledger.charged, books.ledger.unpriced


def _evaluate(evaluation: Evaluation, todo: set[str], max_samples: int) -> bool:
    """Have Inspect do the tasks; whether the user stopped it."""
    run = evaluation.run
    evaluation.tries.most = TRIES
    try:
        logs = inspect_eval(
            build_task(evaluation, only=sorted(todo)),
            model=run.manifest.model or NO_MODEL,
            epochs=run.manifest.epochs,
            log_dir=str(run.paths.logs),
            log_header_only=True,
            ctl_server=False,  # it takes the signals, and leaves its socket behind when it is killed
            display="none",
            log_level="error",
            max_samples=max_samples,
            max_sandboxes=max_samples,
            fail_on_error=False,
            retry_on_error=TRIES - 1,
        )
    except KeyboardInterrupt:
        return True
    stopped = interrupted(logs)
    if (why := failed_whole(logs)) and not stopped:
        raise InfrastructureError(f"the evaluation failed: {why}")
    for key, reason in failures(logs).items():
        # An outcome with scores of which one phase failed says more than that it failed.
        before = run.outcomes.get(key)
        if not run.final(key) and not (before is not None and before.scores):
            why = evaluation.tries.why(key) or reason
            run.add(run.unfinished(key, "infrastructure", why))
    return stopped


def default_max_samples() -> int:
    """Tasks at the same time when the user does not say: one for each processor."""
    return max(1, len(os.sched_getaffinity(0)))
