"""Executing what is not executed yet, several submissions at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

import expbench as package
from expbench.assess import submission_text
from expbench.errors import InfrastructureError, RepositoryError
from expbench.execution import Conditions, execution_score, produced_score
from expbench.execution.examining import examine
from expbench.execution.facts import facts_of_sandbox
from expbench.execution.perturbing import perturb
from expbench.execution.tracing import choose
from expbench.grounding import ground_execution, grounding_score
from expbench.packing.layout import blobs_in
from expbench.reexecute.folder import Reexecution
from expbench.reexecute.summary import counted
from expbench.runs import Executed, Key, locked
from expbench.sandboxes.providers import provider
from expbench.schema import (
    SCORE_NAMES,
    Execution,
    Extraction,
    Grounding,
    Outcome,
    Perturbation,
    Record,
    ResearchTask,
    Score,
)
from expbench.workspace import BlobStore, shipped_documents

Listener = Callable[[Executed], None]


def reexecute(work: Reexecution, at_once: int, listener: Listener) -> None:
    """Execute what is not executed yet, and write the outcomes.

    An interruption ends what runs; all that was finished before is kept.
    """
    with locked(work.into):
        _bring(work)
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="expbench-execute")
        try:
            running = [pool.submit(_do, work, *each, listener) for each in work.todo]
            for done in as_completed(running):
                done.result()
        finally:
            work.cancelled.set()
            pool.shutdown(cancel_futures=True)
            _write_outcomes(work)


def digest_of(work: Reexecution, task: ResearchTask, key: Key) -> str:
    """sha256 over everything that shapes the execution of a submission. Raises RepositoryError."""
    evaluation = work.evaluation
    prepared = evaluation.prepared(task)
    shaped = {
        "submission": work.run.attempts[key].submission.digest,
        "tree": prepared.tree,
        "environment": dict(prepared.environment),
        "policy": work.into.manifest.policy.model_dump(mode="json"),
        "sandbox": facts_of_sandbox(evaluation.host, evaluation.python(task)),
        "script": work.script,
        "tracer": choose(evaluation.host, work.trace).by,
        "expbench": package.__version__,
    }
    return hashlib.sha256(json.dumps(shaped, sort_keys=True).encode()).hexdigest()


def _one(work: Reexecution, key: Key, number: int) -> Executed:
    """Execute a submission, or take what came out before; once more when the harness failed."""
    task = work.evaluation.tasks[key[0]]
    try:
        digest = digest_of(work, task, key)
    except (RepositoryError, InfrastructureError) as error:
        return _executed(key, number, "", Execution(state="infrastructure", cause=str(error)))
    before = [] if work.fresh else work.known.get(digest, [])
    if len(before) >= number:
        old, folder = before[number - 1]
        if work.elsewhere:
            _copy_blobs(old, work.run.store, work.into.store)
        return _executed(key, number, digest, old.execution, folder)
    return _executed(key, number, digest, _rerun(work, task, key))


def _rerun(work: Reexecution, task: ResearchTask, key: Key) -> Execution:
    evaluation = work.evaluation
    return examine(
        work.run.attempts[key].submission,
        evaluation.prepared(task),
        evaluation.host,
        work.into.store,
        evaluation.denied(task),
        evaluation.python(task),
        conditions=_conditions(work),
        trace=work.trace,
    )


def _disturbed(work: Reexecution, key: Key, execution: Execution) -> tuple[Perturbation, ...]:
    evaluation, task = work.evaluation, work.evaluation.tasks[key[0]]
    return perturb(
        work.run.attempts[key].submission,
        evaluation.prepared(task),
        evaluation.host,
        work.into.store,
        execution,
        evaluation.denied(task),
        evaluation.python(task),
        conditions=_conditions(work),
    )


def _conditions(work: Reexecution) -> Conditions:
    conditions = Conditions(cancelled=work.cancelled)
    return replace(conditions, script=work.script) if work.script else conditions


def _executed(
    key: Key, number: int, digest: str, execution: Execution, reused: str = ""
) -> Executed:
    return Executed(
        task_id=key[0],
        epoch=key[1],
        number=number,
        key=digest,
        execution=execution,
        reused=reused,
    )


def _do(work: Reexecution, key: Key, number: int, listener: Listener) -> None:
    found = _one(work, key, number)
    if work.perturb and number == 1:
        found = found.model_copy(update={"perturbations": _disturbed(work, key, found.execution)})
    if found.execution.state != "infrastructure" or not work.cancelled.is_set():
        work.into.add(found)
        listener(found)


def _bring(work: Reexecution) -> None:
    """Bring the submissions into a store that is not the run's."""
    if not work.elsewhere:
        return
    for key in work.keys:
        if key not in work.into.attempts:
            attempt = work.run.attempts[key]
            _copy_blobs(attempt, work.run.store, work.into.store)
            if key in work.run.outcomes:
                _copy_blobs(work.run.outcomes[key], work.run.store, work.into.store)
            work.into.add(attempt)


def _copy_blobs(record: Record, source: BlobStore, target: BlobStore) -> None:
    for blob in blobs_in(record):
        target.put(source.get(blob))


def _write_outcomes(work: Reexecution) -> None:
    for key in work.keys:
        if key in work.into.executions:
            outcome = _outcome(work, key)
            if work.into.outcomes.get(key) != outcome:
                work.into.add(outcome)
    work.into.write_outcomes()


def _outcome(work: Reexecution, key: Key) -> Outcome:
    """The run's outcome with the first execution that the harness did not fail in.

    The conclusion is held against all of them.
    """
    numbered = sorted(work.into.executions[key].items())
    executions = [each.execution for _, each in numbered]
    execution = counted(executions)
    assert execution is not None
    grounding = _grounding(work, key, executions)
    kind = work.into.manifest.sandbox
    now = {
        "execution": execution_score(execution),
        "produced": produced_score(execution),
        "grounding": grounding_score(grounding),
    }
    if not provider(kind).scored:
        why = f"sandbox {kind} is none: what ran in it is not scored"
        now = {name: Score(reason=why, unscored=1) for name in now}
    before = work.run.outcomes.get(key) or _unscored(work, key)
    update = {
        "execution": execution,
        "grounding": grounding,
        "perturbations": numbered[0][1].perturbations,
        "scores": {**before.scores, **now},
    }
    return before.model_copy(update=update)


def _grounding(work: Reexecution, key: Key, executions: Sequence[Execution]) -> Grounding:
    task = work.evaluation.tasks[key[0]]
    try:
        shipped = shipped_documents(work.evaluation.prepared(task))
    except (RepositoryError, InfrastructureError) as error:
        return Grounding(reason=f"infrastructure: {error}")
    text = submission_text(work.run.store, work.run.attempts[key])
    claims = work.run.outcomes[key].claims if key in work.run.outcomes else None
    if claims is None and work.run.manifest.claims_model:
        claims = Extraction(claims=(), reason="the run has not asked its model for them yet")
    return ground_execution(task, text, executions, work.into.store, shipped, claims)


def _unscored(work: Reexecution, key: Key) -> Outcome:
    """An outcome of a submission that nobody has scored yet."""
    attempt, manifest = work.run.attempts[key], work.run.manifest
    none = Score(reason="it has not been judged", unscored=1)
    return Outcome(
        task_id=key[0],
        paper=key[0].rpartition("/")[0],
        epoch=key[1],
        agent=manifest.agent,
        model=manifest.model,
        status=attempt.status,
        reason=attempt.reason,
        limit=attempt.limit,
        submission=attempt.submission.digest,
        scores=dict.fromkeys(SCORE_NAMES, none),
        enforced=attempt.enforced,
        agent_seconds=attempt.seconds,
        agent_usage=attempt.usage,
    )
