"""One attempt as a reader sees it: scores, submission beside ground truth, execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from expbench.judges.rubric import rubric
from expbench.report.cells import Cell, cells, notes
from expbench.report.facts import Fact
from expbench.report.inputs import ReportInput
from expbench.report.text import Cut, cut, seconds
from expbench.schema import (
    Blob,
    Outcome,
    Phase,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Usage,
    Verdict,
    Violation,
)

_MARKS = {"met": "✓", "not_met": "✗", "unscored": "–"}
_NOT_AT_HAND = "not at hand"


@dataclass(frozen=True)
class Item:
    """One thing that was decided: the ground truth's text, and the verdict with its evidence."""

    kind: str
    text: str
    essential: bool
    state: str
    mark: str
    evidence: str
    reason: str
    alternative: bool


@dataclass(frozen=True)
class PhaseView:
    """One phase: what was asked for item by item, and what was handed in."""

    name: Phase
    items: tuple[Item, ...]
    tally: str
    submitted: Cut
    whole: str
    """The reference's conclusion in full, where its claims were decided one by one."""


@dataclass(frozen=True)
class Attempt:
    """One task in one epoch."""

    anchor: str
    name: str
    outcome: Outcome
    title: str
    question: str
    method: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]
    phases: tuple[PhaseView, ...]
    diff: Cut
    script: Cut
    changed: tuple[str, ...]
    execution: tuple[Fact, ...]
    effort: tuple[Fact, ...]
    stdout: Cut
    stderr: Cut

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The monitor's findings."""
        return self.outcome.monitor.violations if self.outcome.monitor else ()


def build_attempt(index: int, outcome: Outcome, run: ReportInput, most: int) -> Attempt:
    """The view of one outcome; texts are cut after ``most`` bytes."""
    task = run.tasks.get(outcome.task_id)
    submission = run.submissions.get(outcome.submission)
    shown = cells(outcome)
    execution = outcome.execution
    repeated = run.manifest.epochs > 1
    return Attempt(
        anchor=f"attempt-{index}",
        name=f"{outcome.task_id} · epoch {outcome.epoch}" if repeated else outcome.task_id,
        outcome=outcome,
        title=task.title if task else "",
        question=task.question if task else _NOT_AT_HAND,
        method=task.method if task else "",
        cells=shown,
        notes=notes(outcome, shown),
        phases=tuple(_phase(name, outcome, task, submission, most) for name in get_args(Phase)),
        diff=cut(submission.diff, most) if submission else Cut(),
        script=cut(submission.script, most) if submission else Cut(),
        changed=submission.changed if submission else (),
        execution=_execution_facts(outcome),
        effort=_effort_facts(outcome),
        stdout=_output(execution.stdout if execution else None, run.outputs, most),
        stderr=_output(execution.stderr if execution else None, run.outputs, most),
    )


def _phase(
    name: Phase,
    outcome: Outcome,
    task: ResearchTask | None,
    submission: SubmissionText | None,
    most: int,
) -> PhaseView:
    truths = [item for item in rubric(task) if item.phase == name] if task else []
    verdicts = {v.item: v for v in outcome.judgement.of(name)} if outcome.judgement else {}
    known = {item.id for item in truths}
    unknown = [
        RubricItem(id=v.item, phase=name, kind="", text=f"item {v.item}, ground truth not at hand")
        for v in verdicts.values()
        if v.item not in known
    ]
    items = tuple(_item(truth, verdicts.get(truth.id)) for truth in (*truths, *unknown))
    states = [item.state for item in items]
    by_claims = name == "conclusion" and task is not None and bool(task.reference.claims)
    return PhaseView(
        name=name,
        items=items,
        tally=f"{states.count('met')} met, {states.count('not_met')} not met, "
        f"{states.count('unscored')} unscored",
        submitted=_submitted(name, outcome, submission, most),
        whole=task.reference.conclusion if task and by_claims else "",
    )


def _item(truth: RubricItem, verdict: Verdict | None) -> Item:
    state = verdict.state if verdict else "unscored"
    return Item(
        kind=truth.kind,
        text=truth.text,
        essential=truth.essential,
        state=state,
        mark=_MARKS[state],
        evidence=verdict.evidence if verdict else "",
        reason=verdict.reason if verdict else "the judge gave no verdict",
        alternative=verdict.alternative if verdict else False,
    )


def _submitted(name: Phase, outcome: Outcome, submission: SubmissionText | None, most: int) -> Cut:
    if submission is None:
        return Cut(note=_NOT_AT_HAND if outcome.submission else "nothing was collected")
    if name == "implementation":
        handed_in = submission.diff or submission.script
        return Cut(note="" if handed_in else "nothing was handed in")
    text = submission.design if name == "design" else submission.conclusion
    return cut(text, most) if text.strip() else Cut(note="nothing was handed in")


def _output(blob: Blob | None, outputs: Mapping[str, str], most: int) -> Cut:
    if blob is None or blob.size == 0:
        return Cut()
    text = outputs.get(blob.digest)
    return Cut(note=f"{blob.size:,} bytes, {_NOT_AT_HAND}") if text is None else cut(text, most)


def _execution_facts(outcome: Outcome) -> tuple[Fact, ...]:
    execution = outcome.execution
    if execution is None:
        return (Fact("State", "not executed"),)
    facts = [
        Fact("State", execution.state.replace("_", " ")),
        Fact("Exit code", "–" if execution.exit_code is None else str(execution.exit_code)),
        Fact("Time", seconds(execution.seconds)),
    ]
    if execution.cause:
        facts.append(Fact("Cause", execution.cause))
    if execution.enforced is not None:
        limits = execution.enforced.limits.items()
        words = "; ".join(f"{name.replace('_', ' ')}: {how}" for name, how in limits)
        facts.append(Fact("Limits enforced", f"{execution.enforced.provider}: {words or 'none'}"))
        if execution.enforced.workspace:
            facts.append(Fact("Workspace", execution.enforced.workspace))
    return tuple(facts)


def _effort_facts(outcome: Outcome) -> tuple[Fact, ...]:
    judge = outcome.judgement.usage if outcome.judgement else Usage()
    facts = [
        Fact("Agent", f"{seconds(outcome.agent_seconds)}, {_tokens(outcome.agent_usage)}"),
        Fact("Judge", _tokens(judge)),
        Fact("Submission", outcome.submission[:12] or "none"),
    ]
    return tuple(facts)


def _tokens(usage: Usage) -> str:
    if usage == Usage():
        return "no model calls"
    return f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {usage.calls} calls"
