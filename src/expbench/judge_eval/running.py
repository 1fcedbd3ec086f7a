"""Asking a judge about every case of a set: several at a time, and never twice for the same.

What is finished is written to a journal at once, so an evaluation that was stopped goes on where it
was. Verdicts that a stopped or broken provider left undecided are asked for again then; decided ones
never are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from expbench import __version__
from expbench.durable import append_line, held_journal
from expbench.errors import UserError
from expbench.judge_eval.measures import Decision
from expbench.judge_eval.sets import LabelledSet, ReadyCase
from expbench.judges.base import Judge, unscored
from expbench.schema import Judgement, Record, RubricItem

JOURNAL = "journal.jsonl"
Progress = Callable[[str, int, int], None]
"""Called with a contestant's label, how many of its cases are done, and of how many."""


@dataclass(frozen=True)
class Contestant:
    """One judge to be evaluated.

    ``make`` gives the judge for a sample's number: the caller sees to it that every sample is a new
    question. ``kept`` says whether its verdicts go into the journal; what is free and quick does not,
    so that it is always today's.
    """

    label: str
    make: Callable[[int], Judge]
    samples: int = 1
    kept: bool = True


class Judged(Record):
    """One judgement on one case; a line of the journal."""

    contestant: str
    case: str
    digest: str
    """Of all that was judged."""
    sample: int = 0
    version: str = __version__
    judgement: Judgement


@dataclass
class Journal:
    """The finished judgements of an evaluation, by contestant, case digest and sample."""

    known: dict[tuple[str, str, int], Judged] = field(default_factory=dict)
    _path: Path | None = None

    def find(self, contestant: str, case: ReadyCase, sample: int) -> Judgement | None:
        judged = self.known.get((contestant, case.digest, sample))
        return judged.judgement if judged else None

    def add(self, judged: Judged) -> None:
        """Keep it; where there is a file, it is there when this returns."""
        self.known[judged.contestant, judged.digest, judged.sample] = judged
        if self._path is not None:
            append_line(self._path, judged.model_dump_json().encode() + b"\n")


@contextmanager
def open_journal(folder: Path | None) -> Iterator[Journal]:
    """The journal of an evaluation's folder, or one in memory only.

    Raises:
        PrerequisiteError: the folder cannot be written, or another process writes to it.
    """
    if folder is None:
        yield Journal()
        return
    with held_journal(folder / JOURNAL) as path:
        yield Journal(_read(path), path)


def _read(path: Path) -> dict[tuple[str, str, int], Judged]:
    found = {}
    for line in path.read_bytes().splitlines():
        try:
            judged = Judged.model_validate_json(line)
        except ValidationError:  # damaged: it is asked again
            continue
        if judged.version == __version__:
            found[judged.contestant, judged.digest, judged.sample] = judged
    return found


async def judge_set(
    contestant: Contestant,
    labelled: LabelledSet,
    journal: Journal,
    concurrency: int = 4,
    progress: Progress | None = None,
) -> tuple[Judged, ...]:
    """Every case judged as often as the contestant has samples, in the set's order."""
    makers = {sample: contestant.make(sample) for sample in range(contestant.samples)}
    work = [(case, sample) for case in labelled.cases for sample in makers]
    gate = asyncio.Semaphore(max(1, concurrency))
    done = 0

    async def one(case: ReadyCase, sample: int) -> Judged:
        nonlocal done
        async with gate:
            judgement = await _judgement(contestant, makers[sample], case, sample, journal)
        done += 1
        if progress is not None:
            progress(contestant.label, done, len(work))
        return judgement

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(case, sample)) for case, sample in work]
    except BaseExceptionGroup as group_error:
        raise group_error.exceptions[0] from None
    return tuple(task.result() for task in tasks)


async def _judgement(
    contestant: Contestant, judge: Judge, case: ReadyCase, sample: int, journal: Journal
) -> Judged:
    before = journal.find(contestant.label, case, sample) if contestant.kept else None
    digest = getattr(judge, "prompt_digest", "")
    if before is not None and digest and before.prompt_digest != digest:
        before = None
    items = [item for item in case.items if before is None or _open(before, item.id)]
    if before is not None and before.protocol == "paper":
        items = list(case.items) if any(mark.value is None for mark in before.marks) else []
    judgement = before
    if items or before is None:
        new = await _asked(judge, items, case)
        judgement = new if before is None else _merged(before, new)
    assert judgement is not None
    judged = Judged(
        contestant=contestant.label,
        case=case.id,
        digest=case.digest,
        sample=sample,
        judgement=judgement,
    )
    if contestant.kept and judgement is not before:
        journal.add(judged)
    return judged


async def _asked(judge: Judge, items: Sequence[RubricItem], case: ReadyCase) -> Judgement:
    """The judge's verdicts. That it breaks is what is measured here: its items are then undecided."""
    try:
        return await judge.judge(items, case.submission, case.task, case.context)
    except UserError:
        raise
    except Exception as error:
        why = f"the judge failed: {type(error).__name__}"
        return Judgement(
            judge=judge.name,
            verdicts=tuple(unscored(item, why) for item in items),
            warnings=(f"{why} on {case.id} ({error})",),
        )


def _open(judgement: Judgement, item: str) -> bool:
    return not any(v.item == item and v.state != "unscored" for v in judgement.verdicts)


def _merged(before: Judgement, new: Judgement) -> Judgement:
    """What was decided before with what is new; what both rounds used."""
    replaced = {verdict.item: verdict for verdict in new.verdicts}
    marked = {mark.phase: mark for mark in before.marks if mark.value is not None}
    return new.model_copy(
        update={
            "verdicts": tuple(replaced.get(v.item, v) for v in before.verdicts),
            "marks": tuple(marked.get(mark.phase, mark) for mark in new.marks),
            "usage": before.usage + new.usage,
            "cached": before.cached + new.cached,
        }
    )


def decisions(labelled: LabelledSet, judged: Sequence[Judged]) -> tuple[Decision, ...]:
    """What was said about each labelled item; items without a label are left out."""
    cases = {case.id: case for case in labelled.cases}
    found = []
    for each in judged:
        case = cases[each.case]
        verdicts = {verdict.item: verdict for verdict in each.judgement.verdicts}
        for item, known in zip(case.items, case.case.items, strict=True):
            if known.label is None:
                continue
            verdict = verdicts.get(item.id) or unscored(item, "the judge gave no verdict")
            found.append(
                Decision(
                    case=case.id,
                    item=item.id,
                    phase=item.phase,
                    kind=known.kind,
                    paper=case.paper,
                    label=known.label,
                    state=verdict.state,
                    sample=each.sample,
                )
            )
    return tuple(found)


def members(judged: Sequence[Judged]) -> tuple[tuple[Judged, ...], ...]:
    """Each judge of a panel by itself, from the votes that the panel's verdicts keep.

    A panel that was asked several times is taken at its first time; what a judge used is not known.
    """
    first = [each for each in judged if each.sample == 0]
    votes = [
        vote for each in first for verdict in each.judgement.verdicts for vote in verdict.votes
    ]
    names = dict.fromkeys(vote.judge for vote in votes)
    if len(names) < 2:
        return ()
    samples = range(1 + max(vote.sample for vote in votes))
    return tuple(
        tuple(_alone(each, name, sample) for each in first for sample in samples) for name in names
    )


def _alone(judged: Judged, name: str, sample: int) -> Judged:
    verdicts = []
    for verdict in judged.judgement.verdicts:
        own = [v for v in verdict.votes if v.judge == name and v.sample == sample]
        if own:
            verdict = verdict.model_copy(update={"state": own[0].state, "reason": own[0].reason})
        verdicts.append(verdict.model_copy(update={"votes": ()}))
    judgement = Judgement(judge=name, verdicts=tuple(verdicts))
    return judged.model_copy(
        update={"contestant": f"{name} (of the panel)", "sample": sample, "judgement": judgement}
    )
