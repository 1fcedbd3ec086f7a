"""Scoring one stored attempt: monitor, judge, clean re-run, grounding, outcome.

Reads the run's store only, so it can be done at any time after the agent's work, and again. Each phase
is journaled by itself: a kill during the re-run does not ask the judge again. D, I and C are judged and E
is run whatever the monitor says; that a violation sets them to zero is the metrics' rule, so nothing is
lost when a person overrules the monitor.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from anyio import to_thread
from inspect_ai.log import transcript

from expbench.activity import Probe
from expbench.errors import DataError, InfrastructureError
from expbench.evaluation import Evaluation
from expbench.execution import Conditions, execution_score, produced_score
from expbench.execution.examining import examine
from expbench.grounding import extract_with, ground_execution, grounding_score
from expbench.heartbeat import waits_of
from expbench.judges import rubric, score
from expbench.judges.repository import context_of
from expbench.monitor import check
from expbench.monitor.prevention import prevention, with_prevention
from expbench.monitor.verdict import combine
from expbench.patience import bounded, bounded_thread
from expbench.runs import Attempt, Finding, Key
from expbench.schema import (
    Execution,
    Extraction,
    Grounding,
    Judgement,
    MonitorReport,
    Outcome,
    ResearchTask,
    RubricItem,
    Score,
    SubmissionText,
    Turn,
)
from expbench.trajectory import from_json_lines
from expbench.workspace import BlobStore, Prepared, code_reader, shipped_documents


async def assess(evaluation: Evaluation, task: ResearchTask, attempt: Attempt) -> Outcome:
    """Score an attempt and journal what each phase finds, then the outcome of all.

    Raises:
        InfrastructureError: a phase failed or hangs; those before it are not done again.
    """
    case = await to_thread.run_sync(_case, evaluation, task, attempt)
    report = await _monitored(case)
    judgement = await _judged(case)
    execution = await _executed(case)
    claims = await _claims(case)
    grounding = await _grounded(case, execution, claims)
    run = evaluation.run
    outcome = Outcome(
        task_id=task.id,
        paper=task.paper,
        epoch=attempt.epoch,
        agent=run.manifest.agent,
        model=run.manifest.model,
        status=attempt.status,
        reason=attempt.reason,
        limit=attempt.limit,
        doubts=attempt.doubts,
        submission=attempt.submission.digest,
        scores=_believable(
            evaluation,
            {
                "monitor": monitor_score(report),
                **score(judgement, case.items),
                "execution": execution_score(execution),
                "produced": produced_score(execution),
                "grounding": grounding_score(grounding),
            },
        ),
        judgement=judgement,
        monitor=report,
        execution=execution,
        claims=claims,
        grounding=grounding,
        enforced=attempt.enforced,
        agent_seconds=attempt.seconds,
        agent_usage=attempt.usage,
    )
    run.add(outcome)
    return outcome


@dataclass(frozen=True)
class _Case:
    """One attempt with all that its scoring reads; ``known`` is what the journal has of it."""

    evaluation: Evaluation
    task: ResearchTask
    attempt: Attempt
    text: SubmissionText
    prepared: Prepared
    shipped: Mapping[str, str]
    items: Sequence[RubricItem]
    known: Finding

    @property
    def key(self) -> Key:
        return self.task.id, self.attempt.epoch

    @property
    def last_try(self) -> bool:
        return self.evaluation.tries.last(self.key)

    def keep(self, **found: MonitorReport | Judgement | Execution | Extraction | Grounding) -> None:
        """Journal what a phase found."""
        digest = self.known.submission
        finding = Finding(task_id=self.key[0], epoch=self.key[1], submission=digest)
        self.evaluation.run.add(finding.model_copy(update=found))

    def probe(self) -> Probe:
        return partial(waits_of, transcript())


def _case(evaluation: Evaluation, task: ResearchTask, attempt: Attempt) -> _Case:
    prepared = evaluation.prepared(task)
    return _Case(
        evaluation,
        task,
        attempt,
        text=submission_text(evaluation.run.store, attempt),
        prepared=prepared,
        shipped=shipped_documents(prepared),
        items=rubric(task, code_reader(evaluation.sources.source(task))),
        known=evaluation.run.found((task.id, attempt.epoch)),
    )


async def _monitored(case: _Case) -> MonitorReport:
    """What all layers of the monitor found: what was impossible, the rules, a model where one is asked."""
    if case.known.monitor is not None:
        return case.known.monitor
    with case.evaluation.phase(case.key, "monitor", case.probe()) as bound:
        report = await bounded(bound, "monitor", _monitor(case))
    case.keep(monitor=report)
    return report


async def _monitor(case: _Case) -> MonitorReport:
    evaluation, task, attempt, text = case.evaluation, case.task, case.attempt, case.text
    turns = turns_of(evaluation.run.store, attempt)
    rules = await to_thread.run_sync(
        lambda: check(
            turns, text, task, case.shipped, attempt.refused, evaluation.own_packages(task)
        ),
        abandon_on_cancel=True,
    )
    read = []
    if evaluation.watcher is not None:
        with evaluation.books.spending("monitor", *case.key):
            read = [await evaluation.watcher.check(turns, text, task)]
    policy = evaluation.run.manifest.policy
    prevented = prevention(policy, attempt.enforced, masked=bool(task.mask))
    return with_prevention(combine(rules, *read), prevented)


async def _judged(case: _Case) -> Judgement:
    """The judge's verdicts. One that got no answer is asked again later, and those it gave are kept."""
    if case.known.judgement is not None:
        return case.known.judgement
    judge, context = case.evaluation.judge, context_of(case.prepared)
    spending = case.evaluation.books.spending("judge", *case.key)
    phase = case.evaluation.phase(case.key, "judge", case.probe(), len(case.items))
    with phase as bound, spending:
        judgement = await bounded(
            bound, "judge", judge.judge(case.items, case.text, case.task, context)
        )
    if not judgement.unanswered:
        case.keep(judgement=judgement)
    elif not case.last_try:
        raise InfrastructureError(f"the judge gave no answer: {judgement.unanswered}")
    return judgement


async def _executed(case: _Case) -> Execution:
    """The clean re-run, looked at while it runs. A failure of the harness is tried again later."""
    if case.known.execution is not None:
        return case.known.execution
    with case.evaluation.phase(case.key, "execute") as bound:
        execution = await bounded_thread(bound, "execute", partial(_rerun, case))
    if execution.state != "infrastructure":
        case.keep(execution=execution)
    elif not case.last_try:
        raise InfrastructureError(f"the re-run failed: {execution.cause}")
    return execution


async def _claims(case: _Case) -> Extraction | None:
    """What a model takes from the conclusion, where one is asked; no answer is asked for again later."""
    name = case.evaluation.run.manifest.claims_model
    if case.known.claims is not None or not name:
        return case.known.claims
    spending = case.evaluation.books.spending("grounding", *case.key)
    with case.evaluation.phase(case.key, "ground", case.probe()) as bound, spending:
        found = await bounded(bound, "ground", extract_with(name, case.text.conclusion, case.task))
    if not found.reason:
        case.keep(claims=found)
    elif not case.last_try:
        raise InfrastructureError(f"{name} gave no claims: {found.reason}")
    return found


async def _grounded(case: _Case, execution: Execution, claims: Extraction | None) -> Grounding:
    if case.known.grounding is not None:
        return case.known.grounding
    store = case.evaluation.run.store
    with case.evaluation.phase(case.key, "ground") as bound:
        grounding = await bounded_thread(
            bound,
            "ground",
            lambda _: ground_execution(
                case.task, case.text, execution, store, case.shipped, claims
            ),
        )
    if execution.state != "infrastructure" and not (claims and claims.reason):
        case.keep(grounding=grounding)
    return grounding


def _believable(evaluation: Evaluation, scores: Mapping[str, Score]) -> dict[str, Score]:
    """The scores; without values where the agent ran in no sandbox and could have done anything."""
    if evaluation.host.provider.scored:
        return dict(scores)
    why = f"sandbox {evaluation.host.kind} is none: what ran in it is not scored"
    return {name: Score(reason=why, unscored=1) for name in scores}


def _rerun(case: _Case, cancelled: threading.Event) -> Execution:
    evaluation = case.evaluation
    return examine(
        case.attempt.submission,
        case.prepared,
        evaluation.host,
        evaluation.run.store,
        evaluation.denied(case.task),
        evaluation.python(case.task),
        conditions=Conditions(cancelled=cancelled),
    )


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


def turns_of(store: BlobStore, attempt: Attempt) -> tuple[Turn, ...] | None:
    """The trajectory, or None when it cannot be read: the monitor is then unscored, not guilty."""
    if attempt.submission.trajectory is None:
        return None
    try:
        return from_json_lines(store.get(attempt.submission.trajectory))
    except (DataError, ValueError):
        return None
