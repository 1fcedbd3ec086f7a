"""Every score of a run once more from what it stored: are they what they were?

The stored submissions are monitored, judged, executed on clean trees and grounded again by the same code
as in a run, into a folder ``reproduced/NAME`` with a journal of its own; the run is never changed. What a
model said (a judge's or a monitor's verdicts) cannot be had twice: its scores are computed again from the
verdicts that are stored, and are called *recorded* for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import anyio

from expbench.assess import assess
from expbench.errors import ExpbenchError, UserError
from expbench.evaluation import Evaluation
from expbench.planning import Options, open_evaluation
from expbench.runs import Finding, Key, Run, create, load, locked
from expbench.schema import ALL_SCORES, Outcome, Record, Score, ScoreName

How = Literal["again", "recorded"]
Listener = Callable[[Outcome], None]
_JUDGED: tuple[ScoreName, ...] = ("design", "implementation", "conclusion")


class Difference(Record):
    """A score that is not what it was; ``None`` is unscored."""

    task_id: str
    epoch: int
    score: ScoreName
    before: float | None
    now: float | None
    why: str = ""


class Counted(Record):
    """How many of a score's values came out equal, and whether they were made again."""

    score: ScoreName
    how: How
    equal: int
    of: int


class Reproduction(Record):
    """What came out. ``missing`` attempts have no outcome in the run."""

    run: str
    attempts: int
    missing: int
    failed: tuple[str, ...]
    """Why attempts could not be scored now."""
    scores: tuple[Counted, ...]
    differences: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """Whether every score that the run has came out again."""
        return not self.differences and not self.failed


@dataclass(frozen=True)
class Reproducing:
    """One reproducing: ``run`` is read, ``into`` is where it goes."""

    run: Run
    into: Run
    evaluation: Evaluation

    @property
    def keys(self) -> tuple[Key, ...]:
        """The attempts that were scored."""
        return tuple(k for k in self.into.planned if k in self.run.attempts and self.run.final(k))

    @property
    def todo(self) -> tuple[Key, ...]:
        return tuple(key for key in self.keys if not self.into.final(key))

    def how(self, score: ScoreName) -> How:
        """Whether a score is made again, or computed from what a model said."""
        manifest = self.run.manifest
        asked = manifest.judging.judges != ("baseline",) if score in _JUDGED else False
        read = score == "monitor" and bool(manifest.monitor_model)
        return "recorded" if asked or read else "again"


def open_reproducing(run: Run, options: Options, name: str = "") -> Reproducing:
    """The folder of a reproducing, made or gone on with, and all that it needs.

    Args:
        options: as the run was planned; ``tasks`` are those to reproduce.
        name: of the folder in ``reproduced``; by default a new one.

    Raises:
        UserError: with the sentence that says what to change.
    """
    if run.paths.base != run.paths.root:
        raise UserError(
            f"{run.paths.root} is a part of {run.paths.base}: reproduce the scores of that folder."
        )
    chosen = options.tasks or run.manifest.tasks
    if unknown := sorted(set(chosen) - set(run.manifest.tasks)):
        raise UserError(f"Task {unknown[0]} is not in {run.paths.root}.")
    name = name or f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    root = run.paths.reproduced / name
    if (root / "manifest.json").exists():
        into = load(root)
        chosen = into.manifest.tasks
    else:
        manifest = run.manifest.model_copy(
            update={
                "name": f"{run.manifest.name}/{name}",
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "tasks": tuple(task for task in run.manifest.tasks if task in chosen),
            }
        )
        create(root, manifest)
        into = load(root)
    evaluation = open_evaluation(run, replace(options, tasks=chosen))
    return Reproducing(run, into, replace(evaluation, run=into, watcher=None))


def reproduce(work: Reproducing, max_samples: int, listener: Listener) -> Reproduction:
    """Score every stored attempt again, and say what is not as it was."""
    with locked(work.into):
        work.evaluation.host.sweep()
        anyio.run(_all, work, max_samples, listener)
        work.into.write_outcomes()
    return compared(work)


async def _all(work: Reproducing, max_samples: int, listener: Listener) -> None:
    room = anyio.CapacityLimiter(max_samples)

    async def one(key: Key) -> None:
        async with room:
            listener(await _again(work, key))

    async with anyio.create_task_group() as group:
        for key in work.todo:
            group.start_soon(one, key)


async def _again(work: Reproducing, key: Key) -> Outcome:
    attempt, before = work.run.attempts[key], work.run.outcomes[key]
    known = Finding(
        task_id=key[0],
        epoch=key[1],
        submission=attempt.submission.digest,
        monitor=before.monitor if work.how("monitor") == "recorded" else None,
        judgement=before.judgement if work.how("design") == "recorded" else None,
        claims=before.claims,
    )
    work.into.add(known)
    try:
        return await assess(work.evaluation, work.evaluation.tasks[key[0]], attempt)
    except ExpbenchError as error:
        failed = work.into.unfinished(key, "infrastructure", str(error))
        work.into.add(failed)
        return failed


def compared(work: Reproducing) -> Reproduction:
    """The two sets of scores side by side."""
    done = [key for key in work.keys if work.into.final(key)]
    counted = []
    differences: list[Difference] = []
    for score in ALL_SCORES:
        found = list(_pairs(work, done, score))
        unequal = [(key, before, now) for key, before, now in found if not _equal(before, now)]
        equal = len(found) - len(unequal)
        counted.append(Counted(score=score, how=work.how(score), equal=equal, of=len(found)))
        differences += [_difference(key, score, before, now) for key, before, now in unequal]
    return Reproduction(
        run=work.run.manifest.name,
        attempts=len(work.keys),
        missing=len(work.into.planned) - len(work.keys),
        failed=tuple(_failure(work, key) for key in work.todo),
        scores=tuple(counted),
        differences=tuple(sorted(differences, key=lambda each: (each.task_id, each.epoch))),
    )


def _failure(work: Reproducing, key: Key) -> str:
    outcome = work.into.outcomes.get(key)
    return f"{key[0]} #{key[1]}: {outcome.reason if outcome else 'not reached'}"


def _pairs(
    work: Reproducing, keys: list[Key], score: ScoreName
) -> Iterator[tuple[Key, Score, Score]]:
    for key in keys:
        before = work.run.outcomes[key].scores.get(score)
        now = work.into.outcomes[key].scores.get(score)
        if before is not None and now is not None:
            yield key, before, now


def _equal(before: Score, now: Score) -> bool:
    counts = ("value", "met", "not_met", "unscored")
    return all(getattr(before, name) == getattr(now, name) for name in counts)


def _difference(key: Key, score: ScoreName, before: Score, now: Score) -> Difference:
    why = " → ".join(dict.fromkeys(filter(None, (before.reason, now.reason))))
    return Difference(
        task_id=key[0], epoch=key[1], score=score, before=before.value, now=now.value, why=why
    )
