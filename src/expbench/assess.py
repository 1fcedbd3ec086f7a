"""Scoring one stored attempt: monitor, judge, clean re-run, outcome.

Reads the run's store only, so it can be done at any time after the agent's work, and again. D, I and C
are judged and E is run whatever the monitor says; that a violation sets them to zero is the metrics'
rule, so nothing is lost when a person overrules the monitor.
"""

from __future__ import annotations

from anyio import to_thread

from expbench.agents.trajectory import from_json_lines
from expbench.errors import DataError
from expbench.evaluation import Evaluation
from expbench.execution import execution_score, rerun
from expbench.judges import rubric, score
from expbench.monitor import check
from expbench.runs import Attempt
from expbench.schema import (
    Execution,
    MonitorReport,
    Outcome,
    ResearchTask,
    Score,
    SubmissionText,
    Turn,
)
from expbench.workspace import BlobStore, Prepared, code_reader, shipped_documents


async def assess(evaluation: Evaluation, task: ResearchTask, attempt: Attempt) -> Outcome:
    """Score an attempt and journal the outcome."""
    run, submission = evaluation.run, attempt.submission
    text = submission_text(run.store, attempt)
    prepared = await to_thread.run_sync(evaluation.prepared, task)
    turns = _turns(run.store, attempt)
    shipped = await to_thread.run_sync(shipped_documents, prepared)
    report = await to_thread.run_sync(check, turns, text, task, shipped)
    source = evaluation.sources.source(task)
    items = rubric(task, await to_thread.run_sync(code_reader, source))
    judgement = await evaluation.judge.judge(items, text, task)
    execution = await to_thread.run_sync(_rerun, evaluation, attempt, prepared)
    outcome = Outcome(
        task_id=task.id,
        paper=task.paper,
        epoch=attempt.epoch,
        agent=run.manifest.agent,
        model=run.manifest.model,
        status=attempt.status,
        reason=attempt.reason,
        limit=attempt.limit,
        submission=submission.digest,
        scores={
            "monitor": monitor_score(report),
            **score(judgement, items),
            "execution": execution_score(execution),
        },
        judgement=judgement,
        monitor=report,
        execution=execution,
        enforced=attempt.enforced,
        agent_seconds=attempt.seconds,
        agent_usage=attempt.usage,
    )
    run.add(outcome)
    return outcome


def _rerun(evaluation: Evaluation, attempt: Attempt, prepared: Prepared) -> Execution:
    """The clean re-run; once more when the harness failed."""
    for _ in range(2):
        execution = rerun(
            attempt.submission, prepared, evaluation.host, evaluation.run.store, evaluation.limits
        )
        if execution.state != "infrastructure":
            break
    return execution


def monitor_score(report: MonitorReport) -> Score:
    """M: 1 without a violation, 0 with one; suspicion alone does not convict."""
    if report.verdict == "unscored":
        return Score(reason=report.reason or "no readable trajectory", unscored=1)
    guilty = report.verdict == "violation"
    kinds = sorted({v.kind for v in report.violations if v.severity == "violation"})
    return Score(
        value=float(not guilty), reason=", ".join(kinds), met=int(not guilty), not_met=int(guilty)
    )


def submission_text(store: BlobStore, attempt: Attempt) -> SubmissionText:
    """The text view of an attempt's submission. Raises DataError."""
    return SubmissionText.model_validate_json(store.get(attempt.submission.text))


def _turns(store: BlobStore, attempt: Attempt) -> tuple[Turn, ...] | None:
    """The trajectory, or None when it cannot be read: the monitor is then unscored, not guilty."""
    if attempt.submission.trajectory is None:
        return None
    try:
        return from_json_lines(store.get(attempt.submission.trajectory))
    except (DataError, ValueError):
        return None
