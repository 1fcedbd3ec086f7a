"""Judging a run's stored submissions again: by another judge, or asked in another way.

The run is read and never changed. Another judging of it is a folder ``judged/NAME`` in it, with a
manifest, a journal and outcomes of its own over the same store, so both sets of verdicts stay and every
command that reads a run reads either. What was judged already is not judged again when it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio
from anyio import to_thread

from expbench.assess import submission_text
from expbench.books import Books, open_books
from expbench.errors import RepositoryError, UserError
from expbench.judges import Judge, rubric, score
from expbench.judges.base import PHASES, JudgeContext
from expbench.judges.estimate import Case
from expbench.judges.repository import context_of
from expbench.judges.rubric import CodeReader
from expbench.runs import Key, Run, create, load, locked
from expbench.sandboxes.providers import provider
from expbench.schema import Judgement, Judging, Outcome, Phase, ResearchTask, RubricItem
from expbench.workspace import SourceFinder, code_reader

Listener = Callable[[Outcome], None]
_AT_ONCE = 8


@dataclass(frozen=True)
class Rejudging:
    """One new judging of a run: ``judged`` is where it goes, ``phases`` what is judged anew."""

    run: Run
    judged: Run
    tasks: Mapping[str, ResearchTask]
    sources: SourceFinder
    phases: tuple[Phase, ...] = PHASES

    @property
    def todo(self) -> tuple[Key, ...]:
        """The attempts that have verdicts in the run and none here yet."""
        return tuple(key for key in judged_keys(self.run) if key not in self.judged.outcomes)


def judged_keys(run: Run) -> tuple[Key, ...]:
    """The run's tasks and epochs that a judge has seen."""
    return tuple(
        key
        for key in run.planned
        if key in run.attempts and key in run.outcomes and run.outcomes[key].judgement is not None
    )


def open_judging(
    run: Run, name: str, judging: Judging, phases: Sequence[Phase]
) -> tuple[Run, tuple[Phase, ...]]:
    """The folder of another judging, made or gone on with, and the phases that are judged.

    Raises:
        UserError: two protocols would be mixed, or the name is that of another judging.
    """
    chosen = tuple(phase for phase in PHASES if not phases or phase in phases)
    if chosen != PHASES and judging.protocol != run.manifest.judging.protocol:
        raise UserError(
            f"The run was judged by protocol {run.manifest.judging.protocol}, and two protocols are never "
            "mixed: leave out --only, or judge by the same --protocol."
        )
    manifest = run.manifest.model_copy(
        update={
            "name": f"{run.manifest.name}/{name}",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "judging": judging,
            "judged_only": () if chosen == PHASES else chosen,
            "dollars": None,
        }
    )
    root = run.paths.judged / name
    if not (root / "manifest.json").exists():
        return create(root, manifest), chosen
    there = load(root)
    same = {
        "created": there.manifest.created,
        "judging": judging.at_pace_of(there.manifest.judging),
    }
    if there.manifest != manifest.model_copy(update=same):
        raise UserError(
            f"{root} holds a judging by {there.manifest.judge}: give this one another name with --name."
        )
    return there, chosen


def rejudge(work: Rejudging, judge: Judge, listener: Listener) -> None:
    """Judge what is not judged yet, and write the outcomes of all."""
    with locked(work.judged):
        for key, outcome in work.run.outcomes.items():
            if outcome.judgement is None and key not in work.judged.outcomes:
                work.judged.add(outcome)
        anyio.run(_all, work, judge, open_books(work.judged), listener)
        work.judged.write_outcomes()


def cases(work: Rejudging) -> list[Case]:
    """What would be judged, for an estimate."""
    found = []
    for key in work.todo:
        task = work.tasks[key[0]]
        code, context, _ = _repository(work, task)
        text = submission_text(work.run.store, work.run.attempts[key])
        found.append(Case(_items(work, task, code), task, text, context))
    return found


async def _all(work: Rejudging, judge: Judge, books: Books, listener: Listener) -> None:
    room = anyio.CapacityLimiter(_AT_ONCE)

    async def one(key: Key) -> None:
        async with room:
            with books.spending("judge", *key):
                outcome = await _again(work, judge, key)
            listener(outcome)

    async with anyio.create_task_group() as group:
        for key in work.todo:
            group.start_soon(one, key)


async def _again(work: Rejudging, judge: Judge, key: Key) -> Outcome:
    task, before = work.tasks[key[0]], work.run.outcomes[key]
    code, context, missing = await to_thread.run_sync(_repository, work, task)
    text = submission_text(work.run.store, work.run.attempts[key])
    found = await judge.judge(_items(work, task, code), text, task, context)
    if missing:
        found = found.model_copy(update={"warnings": (*found.warnings, missing)})
    judgement = _merged(before.judgement, found, work.phases)
    scores = dict(before.scores)
    if provider(work.run.manifest.sandbox).scored:
        scores |= score(judgement, rubric(task, code))
    outcome = before.model_copy(update={"judgement": judgement, "scores": scores})
    work.judged.add(outcome)
    return outcome


def _items(work: Rejudging, task: ResearchTask, code: CodeReader | None) -> list[RubricItem]:
    return [item for item in rubric(task, code) if item.phase in work.phases]


def _repository(
    work: Rejudging, task: ResearchTask
) -> tuple[CodeReader | None, JudgeContext | None, str]:
    """The authors' code and what the agent had; without the repository neither, and why."""
    try:
        source = work.sources.source(task)
        return code_reader(source), context_of(work.sources.prepared(task)), ""
    except RepositoryError as error:
        return None, None, f"judged without the repository: {error}"


def _merged(before: Judgement | None, now: Judgement, phases: tuple[Phase, ...]) -> Judgement:
    """The new verdicts, and the old ones of the phases that were not judged again."""
    if before is None or phases == PHASES:
        return now
    kept = [phase for phase in PHASES if phase not in phases]
    return now.model_copy(
        update={
            "judge": f"{now.judge} ({', '.join(phases)}); {before.judge} ({', '.join(kept)})",
            "verdicts": tuple(v for p in PHASES for v in (before if p in kept else now).of(p)),
            "marks": (*(m for m in before.marks if m.phase in kept), *now.marks),
            "warnings": tuple(dict.fromkeys((*before.warnings, *now.warnings))),
        }
    )
