"""A run's scores without the texts behind them: for metrics and boards, in a third of the time and memory.

An outcome is some twenty kilobytes, of which its scores are one. The records are those that
:func:`expbench.runs.load` gives, but what judges, re-runs and the grounding said item by item is not read,
and neither are the findings of single phases.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from expbench.allocator import uncollected
from expbench.errors import DataError
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
    with uncollected():
        found = {(each.task_id, each.epoch): each for each in _outcomes(paths.journal)}
    return Run(paths, manifest, outcomes=dict(found))


def light(line: bytes) -> Outcome:
    """An outcome's JSON without what was said item by item. Raises ValueError where it is none."""
    return _Outcome.model_validate_json(line)


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
