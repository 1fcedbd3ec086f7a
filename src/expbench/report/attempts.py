"""One attempt as a reader sees it: scores, submission beside ground truth, execution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import get_args

from expbench.judges.rubric import rubric
from expbench.report.cells import Cell, Tone, cells, notes, tags
from expbench.report.claimed import ShownClaim, with_claims
from expbench.report.facts import Fact
from expbench.report.inputs import ReportInput
from expbench.report.quoting import Quoted, quoted
from expbench.report.rerun import disturbed, execution_facts, output
from expbench.report.text import Cut, cut, dollars, percent, seconds
from expbench.report.timeline import Timeline, timeline
from expbench.schema import (
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

_STATES: dict[str, tuple[str, str, Tone]] = {
    "met": ("met", "✓", "full"),
    "not_met": ("not met", "✗", "zero"),
    "unscored": ("unscored", "–", "none"),
}
"""In words, as a sign and as a colour."""
_NOT_AT_HAND = "not at hand"
Decided = tuple[str, RubricItem, Verdict | None]
"""An item by its name, its phase's letter and its place there (D1); its truth, and the verdict on it."""


@dataclass(frozen=True)
class Item:
    """One thing that was decided: the ground truth's text, and the verdict with its evidence."""

    name: str
    """Its phase's letter and its place there: D1."""
    kind: str
    text: str
    essential: bool
    state: str
    """In words."""
    mark: str
    tone: Tone
    evidence: str
    reason: str
    alternative: bool
    marked: bool
    """Whether the evidence is marked in what was handed in."""


@dataclass(frozen=True)
class PhaseView:
    """One phase: what was asked for item by item, and what was handed in."""

    name: Phase
    items: tuple[Item, ...]
    tally: str
    submitted: Quoted
    whole: str
    """The reference's conclusion in full, where its claims were decided one by one."""


@dataclass(frozen=True)
class Attempt:
    """One task in one epoch."""

    anchor: str
    name: str
    outcome: Outcome
    title: str
    kind: str
    """Category and type of the task."""
    first: str
    """The anchor of the task's first attempt, which has the question; empty for that attempt itself."""
    question: str
    method: str
    cells: tuple[Cell, ...]
    tags: tuple[str, ...]
    """What it can be picked by."""
    notes: tuple[str, ...]
    phases: tuple[PhaseView, ...]
    diff: Quoted
    script: Quoted
    changed: tuple[str, ...]
    execution: tuple[Fact, ...]
    claims: tuple[ShownClaim, ...]
    disturbed: tuple[str, ...]
    effort: tuple[Fact, ...]
    stdout: Quoted
    stderr: Quoted
    timeline: Timeline | None
    outputs: tuple[tuple[str, Quoted], ...]
    """Texts that the re-run wrote, by their paths."""
    pictures: tuple[tuple[str, str], ...]
    """Pictures that it drew."""
    viewer: str
    """Where Inspect's viewer shows the trajectory while it is served; empty where no log has it."""

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The monitor's findings."""
        return self.outcome.monitor.violations if self.outcome.monitor else ()


def build_attempt(
    index: int, outcome: Outcome, run: ReportInput, most: int, first: str = ""
) -> Attempt:
    """The view of one outcome; texts are cut after ``most`` bytes."""
    task = run.tasks.get(outcome.task_id)
    submission = run.submissions.get(outcome.submission) or SubmissionText()
    shown = cells(outcome, run.threshold)
    execution = outcome.execution
    anchor = anchor_of(index)
    decided = _decided(outcome, task)
    code = _evidence(decided["implementation"])
    diff = quoted(cut(submission.diff, most), code)
    in_script = {name: text for name, text in code.items() if name not in diff.places}
    script = quoted(cut(submission.script, most), in_script)
    places = {*diff.places, *script.places}
    made = execution.made if execution else ()
    contents = [(each.path, each.content.digest) for each in made if each.content is not None]
    written = {
        path: cut(run.outputs[digest], most) for path, digest in contents if digest in run.outputs
    }
    printed = {
        "stdout": output(execution.stdout if execution else None, run.outputs, most),
        "stderr": output(execution.stderr if execution else None, run.outputs, most),
    }
    claims, outputs = with_claims(_claims(outcome), written | printed)
    return Attempt(
        anchor=anchor,
        name=attempt_name(outcome, run),
        outcome=outcome,
        title=task.title if task else "",
        kind=", ".join(filter(None, (task.category, f"type {task.type}"))) if task else "",
        first=first,
        question=task.question if task else _NOT_AT_HAND,
        method=task.method if task else "",
        cells=shown,
        tags=tags(outcome, run.threshold),
        notes=notes(outcome, shown),
        phases=tuple(
            _phase(name, own, outcome, run, most, places) for name, own in decided.items()
        ),
        diff=diff,
        script=script,
        changed=submission.changed,
        execution=execution_facts(outcome),
        claims=claims,
        disturbed=disturbed(outcome),
        effort=_effort_facts(outcome),
        stdout=outputs["stdout"],
        stderr=outputs["stderr"],
        timeline=timeline(execution),
        outputs=tuple((path, outputs[path]) for path in written if path not in printed),
        pictures=tuple(
            (path, run.pictures[digest]) for path, digest in contents if digest in run.pictures
        ),
        viewer=run.viewer.get((outcome.task_id, outcome.epoch), ""),
    )


def anchor_of(index: int) -> str:
    """The name by which the page links to an attempt; short, since a page has thousands of such links."""
    return f"a{index}"


def attempt_name(outcome: Outcome, run: ReportInput) -> str:
    """The task, and which attempt at it where there are several."""
    repeated = run.manifest.epochs > 1
    return f"{outcome.task_id} · epoch {outcome.epoch}" if repeated else outcome.task_id


def _phase(
    name: Phase,
    decided: Sequence[Decided],
    outcome: Outcome,
    run: ReportInput,
    most: int,
    places: Set[str],
) -> PhaseView:
    task = run.tasks.get(outcome.task_id)
    marked = [m for m in outcome.judgement.marks if m.phase == name] if outcome.judgement else []
    handed_in = _submitted(name, outcome, run.submissions.get(outcome.submission), most)
    submitted = quoted(handed_in, _evidence(decided))
    known = places | submitted.places.keys()
    items = tuple(_item(*each, each[0] in known) for each in decided)
    by_claims = name == "conclusion" and len(items) > 1
    return PhaseView(
        name=name,
        items=items,
        tally=_tally([item.state for item in items], marked),
        submitted=submitted,
        whole=task.reference.conclusion if task and by_claims else "",
    )


def _decided(outcome: Outcome, task: ResearchTask | None) -> dict[Phase, tuple[Decided, ...]]:
    """What there was to decide in each phase: the ground truth's items, and verdicts on others."""
    truths: dict[Phase, list[RubricItem]] = {name: [] for name in get_args(Phase)}
    for item in rubric(task) if task else ():
        truths[item.phase].append(item)
    return {name: tuple(_of_phase(name, own, outcome)) for name, own in truths.items()}


def _of_phase(name: Phase, truths: Sequence[RubricItem], outcome: Outcome) -> Iterator[Decided]:
    verdicts = {v.item: v for v in outcome.judgement.of(name)} if outcome.judgement else {}
    known = {item.id for item in truths}
    unknown = [
        RubricItem(id=v.item, phase=name, kind="", text=f"item {v.item}, ground truth not at hand")
        for v in verdicts.values()
        if v.item not in known
    ]
    letter = name[0].upper()
    for number, truth in enumerate((*truths, *unknown), 1):
        yield f"{letter}{number}", truth, verdicts.get(truth.id)


def _evidence(decided: Iterable[Decided]) -> dict[str, str]:
    """What the judge quoted, by the item's name."""
    return {name: verdict.evidence for name, _, verdict in decided if verdict is not None}


def _reason(verdict: Verdict) -> str:
    """A verdict's reason, with what was not shown to the judge and how a panel voted."""
    parts = [verdict.reason]
    if (shown := verdict.shown) is not None:
        if shown.of:
            parts.append(f"the judge was shown {len(shown.parts)} of {shown.of} parts")
        if shown.files:
            parts.append(f"the judge asked for {', '.join(shown.files)}")
    if verdict.votes:
        states = [_STATES[vote.state][0] for vote in verdict.votes]
        parts.append("votes: " + _tally(states, ()))
    return "; ".join(filter(None, parts))


def _tally(states: Sequence[str], marked: Sequence[Mark]) -> str:
    if marked:
        given = percent(marked[0].value)
        return f"one mark for all items: {given}" + (
            f", {marked[0].reason}" * bool(marked[0].reason)
        )
    counts = ((states.count(words), words) for words, *_ in _STATES.values())
    return ", ".join(f"{count} {words}" for count, words in counts)


def _item(name: str, truth: RubricItem, verdict: Verdict | None, marked: bool) -> Item:
    state, mark, tone = _STATES[verdict.state if verdict else "unscored"]
    return Item(
        name=name,
        kind=truth.kind,
        text=truth.text,
        essential=truth.essential,
        state=state,
        mark=mark,
        tone=tone,
        evidence=verdict.evidence if verdict else "",
        reason=_reason(verdict) if verdict else "the judge gave no verdict",
        alternative=verdict.alternative if verdict else False,
        marked=marked,
    )


def _submitted(name: Phase, outcome: Outcome, submission: SubmissionText | None, most: int) -> Cut:
    if submission is None:
        return Cut(note=_NOT_AT_HAND if outcome.submission else "nothing was collected")
    if name == "implementation":
        handed_in = submission.diff or submission.script
        return Cut(note="" if handed_in else "nothing was handed in")
    text = submission.design if name == "design" else submission.conclusion
    return cut(text, most) if text.strip() else Cut(note="nothing was handed in")


def _claims(outcome: Outcome) -> tuple[GroundedClaim, ...]:
    return outcome.grounding.claims if outcome.grounding else ()


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
    cost = "" if usage.dollars is None else f", {dollars(usage.dollars)}"
    return (
        f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {usage.calls} calls{cost}"
    )
