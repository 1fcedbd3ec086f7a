"""What a judge is, and how verdicts become scores.

A judge decides items one by one; scores are plain arithmetic over its verdicts. D and I are the
share of items met. C is 1 when every essential claim is met and 0 when one is not (EXP-Bench,
section 4). An item that could not be decided makes its phase unscored, with the counts kept, and is
never read as a failure: a judge that broke says nothing about the agent. For C one claim that is
not met decides, whatever the undecided ones would have been.

A deliverable that was not handed in needs no judge: its items are not met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, get_args

from expbench.judges.marks import score_marks
from expbench.schema import (
    Judgement,
    Phase,
    ResearchTask,
    RubricItem,
    Score,
    SubmissionText,
    Verdict,
)

PHASES: tuple[Phase, ...] = get_args(Phase)
NOTHING_SUBMITTED = "nothing was submitted"
NO_VERDICT = "the judge gave no verdict"


def _reads_nothing(path: str) -> str | None:
    return None


@dataclass(frozen=True)
class JudgeContext:
    """What the agent had, as a judge may know it.

    Attributes:
        masked: the files that the task hides; nobody hands them out.
        files: the files of the workspace before the agent's work, in the order of their paths.
        read: the text of one of ``files``; ``None`` for every other path, so for all masked ones.
    """

    masked: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    read: Callable[[str], str | None] = field(default=_reads_nothing, repr=False, compare=False)


class Judge(Protocol):
    """Decides rubric items about a submission."""

    @property
    def name(self) -> str:
        """What a run's record calls this judge."""
        ...

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One verdict for each item, in their order; what cannot be decided is unscored.

        ``context`` is what the agent had, where that is known.
        """
        ...


def verdict_on(
    item: RubricItem, met: bool, evidence: str = "", reason: str = "", alternative: bool = False
) -> Verdict:
    """A decided verdict on ``item``."""
    return Verdict(
        item=item.id,
        phase=item.phase,
        state="met" if met else "not_met",
        evidence=evidence,
        reason=reason,
        alternative=alternative,
    )


def unscored(item: RubricItem, reason: str) -> Verdict:
    """The verdict on an item that could not be decided, for ``reason``."""
    return Verdict(item=item.id, phase=item.phase, state="unscored", reason=reason)


def delivered(submission: SubmissionText, phase: Phase) -> bool:
    """Whether there is anything to judge for ``phase``."""
    texts = {
        "design": submission.design,
        "implementation": submission.diff + submission.script,
        "conclusion": submission.conclusion,
    }
    return bool(texts[phase].strip())


def decided_without_judge(
    items: Iterable[RubricItem], submission: SubmissionText
) -> dict[str, Verdict]:
    """Verdicts, by item id, on the items whose deliverable was not handed in."""
    return {
        item.id: verdict_on(item, met=False, reason=NOTHING_SUBMITTED)
        for item in items
        if not delivered(submission, item.phase)
    }


def alternatives(judgement: Judgement) -> dict[Phase, int]:
    """How many items of each phase were met in another way than the reference's; they are met."""
    ways = Counter(v.phase for v in judgement.verdicts if v.alternative and v.state == "met")
    return {phase: ways[phase] for phase in PHASES}


def score(judgement: Judgement, items: Sequence[RubricItem]) -> dict[str, Score]:
    """The scores "design", "implementation" and "conclusion", each in [0, 1] or unscored.

    An item on which the judgement has no verdict counts as unscored. By protocol ``paper`` the marks
    are the scores.
    """
    if judgement.protocol == "paper":
        return score_marks(judgement)
    found = {verdict.item: verdict for verdict in judgement.verdicts}
    scores: dict[str, Score] = {}
    for phase in PHASES:
        own = [item for item in items if item.phase == phase]
        verdicts = [
            found.get(item.id) or unscored(item, "the judge gave no verdict") for item in own
        ]
        scores[phase] = _phase_score(phase, own, verdicts)
    return scores


def _phase_score(phase: Phase, items: list[RubricItem], verdicts: list[Verdict]) -> Score:
    if not items:
        return Score(reason=f"no ground truth for {phase}")
    states = Counter(verdict.state for verdict in verdicts)
    deciding = verdicts
    if phase == "conclusion":
        essential = {item.id for item in items if item.essential}
        deciding = [v for v in verdicts if v.item in essential] or verdicts
    value = _conjunction(deciding) if phase == "conclusion" else _share(deciding)
    return Score(
        value=value,
        reason="" if value is not None else _why_unscored(deciding),
        met=states["met"],
        not_met=states["not_met"],
        unscored=states["unscored"],
    )


def _share(verdicts: list[Verdict]) -> float | None:
    if any(v.state == "unscored" for v in verdicts):
        return None
    return sum(v.state == "met" for v in verdicts) / len(verdicts)


def _conjunction(verdicts: list[Verdict]) -> float | None:
    states = {v.state for v in verdicts}
    if "not_met" in states:
        return 0.0
    return None if "unscored" in states else 1.0


def _why_unscored(verdicts: list[Verdict]) -> str:
    reasons = Counter(v.reason or "no reason given" for v in verdicts if v.state == "unscored")
    detail = "; ".join(f"{count}x {reason}" for reason, count in reasons.most_common())
    return f"{reasons.total()} of {len(verdicts)} items unscored: {detail}"
