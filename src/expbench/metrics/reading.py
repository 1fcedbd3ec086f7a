"""What metrics need of a run's outcomes, read from the file and nothing else.

An outcome is some twenty kilobytes, of which its scores are one: reading only these takes a quarter of the
time.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from expbench.allocator import uncollected
from expbench.errors import DataError
from expbench.schema import Status

_PARTS = ConfigDict(extra="ignore", frozen=True)


class Mark(BaseModel):
    """A score's number in [0, 1], or ``None`` for unscored."""

    model_config = _PARTS
    value: float | None = Field(ge=0.0, le=1.0)


class Word(BaseModel):
    """The monitor's word on an attempt."""

    model_config = _PARTS
    verdict: str


class Marks(BaseModel):
    """An outcome as metrics see it (:class:`expbench.metrics.scored.Scored`)."""

    model_config = _PARTS
    task_id: str
    paper: str
    epoch: int
    agent: str
    model: str
    status: Status
    scores: dict[str, Mark]
    monitor: Word | None = None


def read_scores(outcomes: Path) -> list[Marks]:
    """The scores of a run's ``outcomes.jsonl``, in its order.

    Raises:
        DataError: a line is no outcome.
        OSError: the file cannot be read.
    """
    with uncollected(), outcomes.open("rb") as file:
        return [_of_line(line, f"{outcomes}, line {n}") for n, line in enumerate(file, start=1)]


def _of_line(line: bytes, where: str) -> Marks:
    try:
        return Marks.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise DataError(f"{where} is no outcome: {place}: {first['msg']}.") from None
