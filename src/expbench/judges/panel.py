"""Several answers to each question, and what they come to.

A judge may be asked several times (its samples), and several judges may be asked (a panel); judges of
different families err on different items, so a panel is worth more than samples of one judge
(RuVerBench, arXiv 2606.29920). On each item the majority decides, twice: of a judge's samples what the
judge says, and of the judges what the panel says. An unscored answer is no vote; a tie decides nothing
and is unscored, with the reason. Every single answer is kept in the verdict's votes.

A phase's mark (protocol ``paper``) is the middle one of the marks, and for the conclusion, which is
right or wrong, that of the majority.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from expbench.judges.base import PHASES, Judge, JudgeContext, decided_without_judge, unscored
from expbench.schema import (
    Judgement,
    Mark,
    Phase,
    Protocol,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Usage,
    Verdict,
    Vote,
)


@dataclass(frozen=True)
class Member:
    """One judge of a panel; ``samples`` are the judge itself, once for each time that it is asked."""

    name: str
    samples: tuple[Judge, ...]


class Panel:
    """The judge that the members are together; ``label`` is its name.

    A judge's first sample is awaited before its others are asked, so that providers which cache
    prompts read the submission once.
    """

    def __init__(
        self,
        members: Sequence[Member],
        label: str,
        protocol: Protocol = "itemised",
        warnings: Sequence[str] = (),
    ) -> None:
        self._members = tuple(members)
        self._label = label
        self._protocol: Protocol = protocol
        self._warnings = tuple(warnings)

    @property
    def name(self) -> str:
        """All judges, with what is unusual about how they are asked."""
        return self._label

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """One verdict for each item, in their order, or one mark for each phase."""

        async def ask(member: Member) -> tuple[Judgement, ...]:
            first, *others = member.samples
            answered = [await first.judge(items, submission, task, context)]
            rest = [sample.judge(items, submission, task, context) for sample in others]
            return (*answered, *await asyncio.gather(*rest))

        given = await asyncio.gather(*map(ask, self._members))
        answers = dict(zip((member.name for member in self._members), given, strict=True))
        every = [judgement for judgements in given for judgement in judgements]
        without = decided_without_judge(items, submission)
        itemised = self._protocol == "itemised"
        return Judgement(
            judge=self._label,
            protocol=self._protocol,
            prompt_digest=_one_digest([j.prompt_digest for j in every]),
            verdicts=tuple(without.get(i.id) or _verdict(i, answers) for i in items)
            if itemised
            else (),
            marks=() if itemised else _marks(given),
            usage=sum((j.usage for j in every), Usage()),
            cached=sum(j.cached for j in every),
            warnings=tuple(
                dict.fromkeys((*self._warnings, *(w for j in every for w in j.warnings)))
            ),
        )


def majority(item: RubricItem, verdicts: Sequence[Verdict], who: str) -> Verdict:
    """The verdict of the majority of those that decided; ``who`` gave them, in the plural.

    Evidence and reason are of one of the majority. It is an alternative when most of the ``met`` say
    so. A tie, and a lack of any decision, are unscored with the reason.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    met = [v for v in verdicts if v.state == "met"]
    not_met = [v for v in verdicts if v.state == "not_met"]
    if len(met) == len(not_met):
        split = f"the {who} are split {len(met)} to {len(not_met)}"
        return unscored(item, split if met else _why_none([v.reason for v in verdicts], who))
    if len(not_met) > len(met):
        return not_met[0]
    alternative = 2 * sum(v.alternative for v in met) > len(met)
    best = max(met, key=lambda v: (v.alternative == alternative, bool(v.evidence)))
    return best.model_copy(update={"alternative": alternative})


def middle(phase: Phase, marks: Sequence[Mark], who: str) -> Mark:
    """The middle one of those marks that have a value; ``who`` gave them, in the plural."""
    if len(marks) == 1:
        return marks[0]
    values = [mark.value for mark in marks if mark.value is not None]
    if not values:
        return Mark(phase=phase, reason=_why_none([mark.reason for mark in marks], who))
    value = median(values)
    if phase == "conclusion" and value not in values:
        return Mark(phase=phase, reason=f"the {who} are split in half")
    nearest = min(
        (mark for mark in marks if mark.value is not None),
        key=lambda mark: abs((mark.value or 0.0) - value),
    )
    each = ", ".join(f"{v:.0%}" for v in values)
    return Mark(phase=phase, value=value, reason=f"{nearest.reason} (the {who}: {each})".lstrip())


def _verdict(item: RubricItem, answers: Mapping[str, Sequence[Judgement]]) -> Verdict:
    votes, opinions = [], []
    for judge, judgements in answers.items():
        found = [_of(judgement, item) for judgement in judgements]
        opinions.append(majority(item, found, "samples"))
        votes += [
            Vote(judge=judge, state=verdict.state, sample=sample, reason=verdict.reason)
            for sample, verdict in enumerate(found)
        ]
    decided = majority(item, opinions, "judges")
    return decided.model_copy(update={"votes": tuple(votes)}) if len(votes) > 1 else decided


def _of(judgement: Judgement, item: RubricItem) -> Verdict:
    found = (verdict for verdict in judgement.verdicts if verdict.item == item.id)
    return next(found, None) or unscored(item, "the judge gave no verdict")


def _marks(given: Sequence[Sequence[Judgement]]) -> tuple[Mark, ...]:
    found = []
    for phase in PHASES:
        opinions = []
        for judgements in given:
            marks = [mark for j in judgements for mark in j.marks if mark.phase == phase]
            if marks:
                opinions.append(middle(phase, marks, "samples"))
        if opinions:
            found.append(middle(phase, opinions, "judges"))
    return tuple(found)


def _why_none(reasons: Sequence[str], who: str) -> str:
    each = "; ".join(dict.fromkeys(reason or "no reason given" for reason in reasons))
    return f"none of the {who} decided: {each}"


def _one_digest(digests: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(filter(None, digests)))
    if len(distinct) < 2:
        return "".join(distinct)
    return hashlib.sha256("".join(distinct).encode()).hexdigest()
