"""What the executions of a run's submissions gave, in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from expbench.reexecute.folder import Reexecution
from expbench.runs import Key
from expbench.schema import Execution, Record


class ExecutedSubmission(Record):
    """What the executions of one submission gave, and the state that it has in the run.

    ``states`` counts how often each state came out, ``produced`` how often there were outputs that were not
    submitted, ``reused`` how many were taken from other folders. ``seconds`` and ``outputs`` are of the
    first that the harness did not fail in; ``said`` is its cause, and what is suspicious about it.
    ``grounding`` is G over all of them, ``perturbations`` what each disturbed re-run showed.
    """

    task_id: str
    epoch: int
    before: str
    states: dict[str, int]
    produced: int
    reused: int
    seconds: float | None = None
    outputs: int = 0
    said: str = ""
    grounding: float | None = None
    perturbations: tuple[str, ...] = ()


class ExecutedRun(Record):
    """What ``expbench execute --json`` prints."""

    folder: str
    sandbox: str
    repeat: int
    submissions: tuple[ExecutedSubmission, ...]


def summary(work: Reexecution) -> ExecutedRun:
    """What came out, in the planned order."""
    manifest = work.into.manifest
    return ExecutedRun(
        folder=str(work.into.paths.root),
        sandbox=manifest.sandbox,
        repeat=manifest.repeat,
        submissions=tuple(_summary(work, key) for key in work.keys),
    )


def _summary(work: Reexecution, key: Key) -> ExecutedSubmission:
    numbered = [each for _, each in sorted(work.into.executions.get(key, {}).items())]
    executions = [each.execution for each in numbered]
    first = counted(executions)
    before = work.run.outcomes.get(key)
    now = work.into.outcomes.get(key)
    grounding = now.scores.get("grounding") if now else None
    told = (
        [first.cause, *first.adapted, *(each.explanation for each in first.suspicions)]
        if first
        else []
    )
    return ExecutedSubmission(
        task_id=key[0],
        epoch=key[1],
        before=before.execution.state if before and before.execution else "none",
        states=dict(Counter(each.state for each in executions)),
        produced=sum(each.produced for each in executions),
        reused=sum(bool(each.reused) for each in numbered),
        seconds=first.seconds if first else None,
        outputs=len(first.made) + first.made_more if first else 0,
        said="; ".join(filter(None, told)),
        grounding=grounding.value if grounding else None,
        perturbations=tuple(p.told for each in numbered for p in each.perturbations),
    )


def counted(executions: Sequence[Execution]) -> Execution | None:
    """The first execution that the harness did not fail in, else the first."""
    scored = [each for each in executions if each.state != "infrastructure"]
    return next(iter(scored or executions), None)
