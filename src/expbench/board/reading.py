"""A run's scores without the texts behind them: what a board needs, in a third of the time and memory.

The same records as :func:`expbench.runs.load` gives, but what judges, re-runs and the grounding said item
by item is not read from the journal, and neither are the findings of single phases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from expbench.board.contenders import Spend, StageSpend
from expbench.errors import DataError
from expbench.ledger import read_ledger
from expbench.paths import RunPaths
from expbench.runs import Run, read_manifest
from expbench.schema import (
    Blob,
    Execution,
    Extraction,
    Grounding,
    Judgement,
    MadeFile,
    Outcome,
    Perturbation,
    Trace,
    Verdict,
)

_UNREAD = "-"
"""No key of any record: a field of this alias keeps its default, whatever is in the file."""
_OTHERS = (b'{"finding"', b'{"attempt"', b'{"generated"', b'{"executed"')
_LATER = ConfigDict(extra="ignore", frozen=True)


class _Judgement(Judgement):
    model_config = _LATER
    verdicts: tuple[Verdict, ...] = Field(default=(), validation_alias=_UNREAD)


class _Execution(Execution):
    model_config = _LATER
    trace: Trace | None = Field(default=None, validation_alias=_UNREAD)
    made: tuple[MadeFile, ...] = Field(default=(), validation_alias=_UNREAD)
    stdout: Blob | None = Field(default=None, validation_alias=_UNREAD)
    stderr: Blob | None = Field(default=None, validation_alias=_UNREAD)


class _Outcome(Outcome):
    model_config = _LATER
    judgement: _Judgement | None = None
    execution: _Execution | None = None
    claims: Extraction | None = Field(default=None, validation_alias=_UNREAD)
    grounding: Grounding | None = Field(default=None, validation_alias=_UNREAD)
    perturbations: tuple[Perturbation, ...] = Field(default=(), validation_alias=_UNREAD)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")
    outcome: _Outcome | None = None


def load_scores(root: Path) -> Run:
    """Open a run's folder for its scores only.

    Raises:
        NotFoundError: there is no run.
        DataError: its files are not what they should be.
    """
    paths = RunPaths(root)
    manifest = read_manifest(root)
    found = {(each.task_id, each.epoch): each for each in _outcomes(paths.journal)}
    return Run(paths, manifest, outcomes=dict(found))


def light(line: bytes) -> Outcome:
    """An outcome's JSON without what was said item by item. Raises ValueError where it is none."""
    return _Outcome.model_validate_json(line)


def read_spend(ledger: Path) -> Spend:
    """What the requests of a ledger used, by stage in the order of the first of each. Raises DataError."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0, 0, 0, 0.0, 0])
    for request in read_ledger(ledger):
        own = sums[request.stage]
        own[0] += 1
        own[1] += bool(request.error)
        if (tokens := request.tokens) is not None and not request.error:
            own[2] += tokens.input + tokens.cache_read + tokens.cache_write
            own[3] += tokens.output
        own[4] += request.dollars or 0.0
        own[5] += request.dollars is None and not request.error
    return Spend(
        stages=tuple(
            StageSpend(
                stage=stage,
                requests=int(requests),
                failed=int(failed),
                input_tokens=int(sent),
                output_tokens=int(came),
                dollars=round(dollars, 9),
                unpriced=int(unpriced),
            )
            for stage, (requests, failed, sent, came, dollars, unpriced) in sums.items()
        )
    )


def _outcomes(journal: Path) -> Iterator[_Outcome]:
    if not journal.exists():
        return
    with journal.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            if line.startswith(_OTHERS):
                continue
            try:
                entry = _Entry.model_validate_json(line)
            except ValidationError:
                raise DataError(f"{journal}, line {number} is damaged: restore the file.") from None
            if entry.outcome is not None:
                yield entry.outcome
