"""One attempt as a reader sees it: scores, submission beside ground truth, execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from expbench.judges.rubric import rubric
from expbench.report.cells import Cell, cells, notes
from expbench.report.facts import Fact
from expbench.report.inputs import ReportInput
from expbench.report.text import Cut, cut, percent, seconds
from expbench.report.timeline import Timeline, timeline
from expbench.schema import (
    Blob,
    Execution,
    GroundedClaim,
    Mark,
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
    claims: tuple[GroundedClaim, ...]
    disturbed: tuple[str, ...]
    effort: tuple[Fact, ...]
    stdout: Cut
    stderr: Cut
    timeline: Timeline | None
    outputs: tuple[tuple[str, Cut], ...]
    """Texts that the re-run wrote, by their paths."""
    pictures: tuple[tuple[str, str], ...]
    """Pictures that it drew."""

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
        claims=_claims(outcome),
        disturbed=_disturbed(outcome),
        effort=_effort_facts(outcome),
        stdout=_output(execution.stdout if execution else None, run.outputs, most),
        stderr=_output(execution.stderr if execution else None, run.outputs, most),
        timeline=timeline(execution),
        outputs=tuple(
            (each.path, cut(run.outputs[each.content.digest], most))
            for each in (execution.made if execution else ())
            if each.content is not None and each.content.digest in run.outputs
        ),
        pictures=tuple(
            (each.path, run.pictures[each.content.digest])
            for each in (execution.made if execution else ())
            if each.content is not None and each.content.digest in run.pictures
        ),
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
    by_claims = name == "conclusion" and len(truths) > 1
    marked = [m for m in outcome.judgement.marks if m.phase == name] if outcome.judgement else []
    return PhaseView(
        name=name,
        items=items,
        tally=_tally(states, marked),
        submitted=_submitted(name, outcome, submission, most),
        whole=task.reference.conclusion if task and by_claims else "",
    )


_STATES = (("met", "met"), ("not_met", "not met"), ("unscored", "unscored"))


def _reason(verdict: Verdict) -> str:
    """A verdict's reason, with what was not shown to the judge and how a panel voted."""
    parts = [verdict.reason]
    if (shown := verdict.shown) is not None:
        if shown.of:
            parts.append(f"the judge was shown {len(shown.parts)} of {shown.of} parts")
        if shown.files:
            parts.append(f"the judge asked for {', '.join(shown.files)}")
    if verdict.votes:
        states = [vote.state for vote in verdict.votes]
        parts.append("votes: " + _tally(states, ()))
    return "; ".join(filter(None, parts))


def _tally(states: Sequence[str], marked: Sequence[Mark]) -> str:
    if marked:
        given = percent(marked[0].value)
        return f"one mark for all items: {given}" + (
            f", {marked[0].reason}" * bool(marked[0].reason)
        )
    counts = ((states.count(state), words) for state, words in _STATES)
    return ", ".join(f"{count} {words}" for count, words in counts)


def _item(truth: RubricItem, verdict: Verdict | None) -> Item:
    state = verdict.state if verdict else "unscored"
    return Item(
        kind=truth.kind,
        text=truth.text,
        essential=truth.essential,
        state=state,
        mark=_MARKS[state],
        evidence=verdict.evidence if verdict else "",
        reason=_reason(verdict) if verdict else "the judge gave no verdict",
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
    if execution.failure is not None:
        detail = f" ({execution.failure.detail})" * bool(execution.failure.detail)
        facts.append(Fact("Kind of failure", execution.failure.kind.replace("_", " ") + detail))
    facts += _evidence_facts(execution)
    if execution.enforced is not None:
        limits = execution.enforced.limits.items()
        words = "; ".join(f"{name.replace('_', ' ')}: {how}" for name, how in limits)
        facts.append(Fact("Limits enforced", f"{execution.enforced.provider}: {words or 'none'}"))
        if execution.enforced.workspace:
            facts.append(Fact("Workspace", execution.enforced.workspace))
    return tuple(facts)


_LISTED = 12
"""Files, processes and claims of each kind that are listed."""


def _evidence_facts(execution: Execution) -> list[Fact]:
    """What the re-run used and made, and what is suspicious about it."""
    facts = [
        Fact("Suspicious", f"{each.explanation} {each.quote}") for each in execution.suspicions
    ]
    if execution.adapted:
        facts.append(Fact("Mended to start it", "; ".join(execution.adapted)))
    if execution.set_aside:
        facts.append(Fact("Set aside", _some(execution.set_aside)))
    if execution.cpu_seconds is not None:
        memory = execution.peak_memory_mib
        peak = f", at most {memory:.0f} MiB" if memory is not None else ""
        facts.append(Fact("Used", f"{execution.cpu_seconds:.1f} s of processor time{peak}"))
    if execution.made:
        made = [
            f"{each.path} ({each.size} bytes{', as submitted' * each.same})"
            for each in execution.made
        ]
        facts.append(Fact("Made", _some(made)))
    if (trace := execution.trace) is not None:
        ran = [each.path for each in trace.files if each.use == "executed"]
        seen = _some(ran) if trace.by != "none" else trace.reason
        facts.append(Fact("Source files that ran", seen or "none"))
        facts.append(Fact("Processes", _some([each.command for each in trace.processes]) or "–"))
    return facts


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(cut(name, 120).text for name in names[:_LISTED]) + more


def _claims(outcome: Outcome) -> tuple[GroundedClaim, ...]:
    return outcome.grounding.claims if outcome.grounding else ()


def _disturbed(outcome: Outcome) -> tuple[str, ...]:
    """What each disturbed re-run showed, in a sentence."""
    return tuple(
        f"{each.kind}: {each.identical} of {each.compared} numbers came out the same. "
        + (each.suspicion.explanation if each.suspicion else each.reason)
        for each in outcome.perturbations
    )


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
    dollars = "" if usage.dollars is None else f", {usage.dollars:.4f} dollars"
    return f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {usage.calls} calls{dollars}"
