"""What of a bundle is true as far as it can be known: every number is computed again from its outcomes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from expbench.board import Contender, Spend, TaskFacts
from expbench.board.contenders import StageSpend
from expbench.bundle.evidence import beyond_belief, misfit
from expbench.bundle.layout import (
    CLAIMS,
    JUDGE_EVAL,
    LEDGER,
    MANIFEST,
    OUTCOMES,
    SEALED,
    SUBMISSIONS,
    TASKS,
    Claims,
    SubmissionLine,
)
from expbench.bundle.make import handed_in
from expbench.bundle.opening import Opened
from expbench.errors import DataError, InfrastructureError
from expbench.judge_eval.known import KnownEval
from expbench.judges.rubric import rubric
from expbench.metrics import Metric, Summary, summarise
from expbench.packing.layout import name_in_store
from expbench.paths import RunPaths
from expbench.redaction import looking_secret
from expbench.runs import Key, Manifest, Run
from expbench.sandboxes.providers import provider
from expbench.schema import Outcome, ResearchTask
from expbench.scores import light

_R = TypeVar("_R", bound=BaseModel)
_ATTEMPTS = 1_000_000
_EXACT = 1e-9
_MOST = 1e15

Tasks = Callable[[Manifest], Mapping[str, ResearchTask]]
"""The tasks of a run's suite, where they are at hand in the run's version; else nothing."""


@dataclass(frozen=True)
class Verified:
    """A bundle that verifies: its run, and what was checked, in words. ``identity`` is of what it says."""

    opened: Opened
    contender: Contender
    identity: str
    submissions: int
    sealed: bool
    checks: tuple[str, ...]


def verified(bundle: Opened, tasks_of: Tasks) -> Verified:
    """Check a bundle whose files' digests are right.

    Raises:
        DataError: naming the file and what in it does not verify.
    """
    manifest = _record(bundle, MANIFEST, Manifest)
    if manifest.name != bundle.index.run:
        raise _refused(MANIFEST, "names another run than the index")
    if len(manifest.tasks) * manifest.epochs > _ATTEMPTS:
        raise _refused(MANIFEST, f"plans more than {_ATTEMPTS:,} attempts")
    known = tasks_of(manifest)
    facts = _facts(bundle, manifest, known)
    outcomes, followed = _outcomes(bundle, manifest, known)
    run = Run(RunPaths(Path(bundle.file.name)), manifest, outcomes=outcomes)
    _check_papers(run, facts)
    summary = _summary(run)
    claims = _claims(bundle, manifest, summary)
    submissions = _submissions(bundle, run)
    spend = _spend(bundle, run)
    judge_eval = _judge_eval(bundle, manifest)
    counts = summary.counts
    return Verified(
        opened=bundle,
        contender=Contender(
            run=run,
            label=manifest.name,
            facts=facts,
            judge_eval=judge_eval.sentence if judge_eval else "",
            spend=spend,
        ),
        identity=_identity(bundle),
        submissions=submissions,
        sealed=any(each.name == SEALED for each in bundle.index.files),
        checks=(
            f"digests of {len(bundle.index.files)} files",
            f"accounting of {counts.planned} attempts",
            f"{followed} scores from their evidence" + ("" if known else ", without ground truth"),
            f"{claims} claimed numbers",
            f"{submissions} submissions by their digests",
            "tasks against the suite" if known else "the suite is not at hand in that version",
        ),
    )


def _record(bundle: Opened, name: str, kind: type[_R]) -> _R:
    content = bundle.read(name)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "top"
        raise _refused(name, f"is of another version, or damaged at {where}") from None


def _lines(bundle: Opened, name: str, kind: type[_R]) -> Iterator[tuple[bytes, _R]]:
    with (bundle.root / name).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield line, kind.model_validate_json(line)
            except ValidationError as error:
                where = ".".join(map(str, error.errors()[0]["loc"])) or "top"
                raise _refused(name, f"line {number} is damaged at {where}") from None


def _facts(
    bundle: Opened, manifest: Manifest, known: Mapping[str, ResearchTask]
) -> dict[str, TaskFacts]:
    from expbench.board import facts_of

    try:
        listed = TypeAdapter(tuple[TaskFacts, ...]).validate_json(bundle.read(TASKS))
    except ValidationError:
        raise _refused(TASKS, "is damaged") from None
    found = {each.task_id: each for each in listed}
    if strange := sorted(found.keys() - set(manifest.tasks)):
        raise _refused(TASKS, f"has {strange[0][:80]!r}, which the run does not have")
    if not known:
        return found
    own = facts_of(known[task] for task in manifest.tasks if task in known)
    if lacking := [task for task in manifest.tasks if task not in known]:
        raise _refused(MANIFEST, f"has {lacking[0][:80]!r}, which is no task of {manifest.suite}")
    if wrong := [task for task, each in found.items() if each != own[task]]:
        raise _refused(TASKS, f"says of {wrong[0]} what the suite does not")
    return own


def _outcomes(
    bundle: Opened, manifest: Manifest, known: Mapping[str, ResearchTask]
) -> tuple[dict[Key, Outcome], int]:
    """The outcomes, in the planned order, without what no board shows; and how many scores follow."""
    believable = provider(manifest.sandbox).scored
    items = {task_id: rubric(task) for task_id, task in known.items()}
    planned = iter(Run(RunPaths(Path()), manifest).planned)
    found: dict[Key, Outcome] = {}
    followed = 0
    for line, outcome in _lines(bundle, OUTCOMES, Outcome):
        key = (outcome.task_id, outcome.epoch)
        where = f"{outcome.task_id[:80]!r}, epoch {outcome.epoch},"
        if next(planned, None) != key:
            raise _refused(OUTCOMES, f"{where} does not stand where the plan has it")
        if (outcome.agent, outcome.model) != (manifest.agent, manifest.model):
            raise _refused(OUTCOMES, f"{where} is of another agent or model")
        if why := beyond_belief(outcome):
            raise _refused(OUTCOMES, f"{where} {why}")
        if why := misfit(outcome, items.get(outcome.task_id), believable):
            raise _refused(OUTCOMES, f"{where} {why}")
        if seen := looking_secret(line.decode("utf-8", errors="replace")):
            raise _refused(OUTCOMES, f"{where} holds what looks like a key ({seen})")
        followed += len(outcome.scores)
        found[key] = light(line)
    if (left := next(planned, None)) is not None:
        raise _refused(OUTCOMES, f"lacks {left[0]!r}, epoch {left[1]}, which was planned")
    return found, followed


def _check_papers(run: Run, facts: Mapping[str, TaskFacts]) -> None:
    for outcome in run.outcomes.values():
        fact = facts.get(outcome.task_id)
        if fact is not None and fact.paper != outcome.paper:
            raise _refused(OUTCOMES, f"{outcome.task_id!r} is of another paper than {TASKS} says")


def _summary(run: Run) -> Summary:
    try:
        return summarise(run.planned, run.ordered())
    except InfrastructureError as error:
        raise _refused(OUTCOMES, f"does not account for all attempts: {error}") from None


def _claims(bundle: Opened, manifest: Manifest, summary: Summary) -> int:
    claims = _record(bundle, CLAIMS, Claims)
    said = {
        name: getattr(manifest, name) for name in Claims.model_fields if hasattr(manifest, name)
    }
    said["expbench"] = manifest.versions.get("expbench", "")
    for name, value in said.items():
        if getattr(claims, name) != value:
            raise _refused(CLAIMS, f"says another {name} than {MANIFEST}")
    if claims.summary.counts != summary.counts or claims.summary.threshold != summary.threshold:
        raise _refused(CLAIMS, "counts other attempts than there are")
    ours = (*summary.metrics, *summary.collapse)
    theirs = (*claims.summary.metrics, *claims.summary.collapse)
    if [each.key for each in ours] != [each.key for each in theirs]:
        raise _refused(CLAIMS, "has other metrics than this version")
    for one, other in zip(ours, theirs, strict=True):
        if (why := _unequal(one, other)) or claims.summary.convicted != summary.convicted:
            raise _refused(CLAIMS, f"{other.label}: {why or 'convicts other attempts'}")
    return len(ours)


def _unequal(ours: Metric, theirs: Metric) -> str:
    exact = ("n", "tasks", "papers", "successes", "unscored", "left_out", "over")
    for name in exact:
        if getattr(ours, name) != getattr(theirs, name):
            return f"{name} is {getattr(theirs, name)}, and {getattr(ours, name)} by the outcomes"
    pairs = {
        "value": (ours.value, theirs.value),
        "interval's low end": (ours.interval.low, theirs.interval.low),
        "interval's high end": (ours.interval.high, theirs.interval.high),
    }
    for name, (one, other) in pairs.items():
        if (one is None) != (other is None) or abs((one or 0.0) - (other or 0.0)) > _EXACT:
            return f"{name} is {other}, and {one} by the outcomes"
    return ""


def _submissions(bundle: Opened, run: Run) -> int:
    """Every submission that an outcome names, by its digest, with all its files, and no others."""
    sizes = {each.name: each.size for each in bundle.index.files if each.name.startswith("store/")}
    named: set[str] = set()
    seen: set[Key] = set()
    for _, line in _lines(bundle, SUBMISSIONS, SubmissionLine):
        key = (line.task_id, line.epoch)
        outcome = run.outcomes.get(key)
        if outcome is None or key in seen or line.submission.task_id != line.task_id:
            raise _refused(SUBMISSIONS, f"{line.task_id[:80]!r} is of no attempt, or there twice")
        if outcome.submission != line.submission.digest:
            raise _refused(SUBMISSIONS, f"{line.task_id!r}, epoch {line.epoch}, was changed")
        for blob in handed_in(line.submission):
            if sizes.get(name_in_store(blob)) != blob.size:
                raise _refused(
                    SUBMISSIONS, f"{line.task_id!r} names {blob.digest[:12]!r}, which is not there"
                )
            named.add(name_in_store(blob))
        seen.add(key)
    if lacking := [k for k, each in run.outcomes.items() if each.submission and k not in seen]:
        raise _refused(SUBMISSIONS, f"lacks that of {lacking[0][0]!r}, epoch {lacking[0][1]}")
    if strange := sorted(sizes.keys() - named):
        raise _refused(strange[0], "belongs to no submission")
    return len(seen)


def _spend(bundle: Opened, run: Run) -> Spend:
    """The sums; they cannot be less than what the outcomes' last tries used."""
    spend = _record(bundle, LEDGER, Spend)
    amounts = [number for each in spend.stages for number in _amounts(each)]
    if not all(0 <= number <= _MOST for number in amounts):
        raise _refused(LEDGER, "has sums that are none")
    agents = [each for each in spend.stages if each.stage == "agent"]
    if not spend.stages:
        return spend
    used = sum(each.agent_usage.output_tokens for each in run.outcomes.values())
    paid = sum(each.agent_usage.dollars or 0.0 for each in run.outcomes.values())
    if sum(each.output_tokens for each in agents) < used:
        raise _refused(LEDGER, f"has fewer tokens of the agent than the outcomes' {used:,}")
    if sum(each.dollars for each in agents) < paid * (1 - 1e-6) - 1e-6:
        raise _refused(LEDGER, f"has fewer dollars of the agent than the outcomes' {paid:.2f}")
    return spend


def _amounts(each: StageSpend) -> Iterator[float]:
    yield from (each.requests, each.failed, each.unpriced, each.dollars)
    yield from (each.input_tokens, each.output_tokens)


def _judge_eval(bundle: Opened, manifest: Manifest) -> KnownEval | None:
    if bundle.read(JUDGE_EVAL).strip() == b"null":
        return None
    found = _record(bundle, JUDGE_EVAL, KnownEval)
    if found.judge != manifest.judge:
        raise _refused(JUDGE_EVAL, "is of another judge than the run's")
    return found


def _identity(bundle: Opened) -> str:
    """Of what happened, whatever it is called: the same outcomes twice are one run."""
    return hashlib.sha256(bundle.read(OUTCOMES)).hexdigest()


def _refused(name: str, why: str) -> DataError:
    return DataError(f"{name} {why}.")
