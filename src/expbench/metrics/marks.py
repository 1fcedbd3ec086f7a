"""What metrics read of an outcome, and how to read no more than that of a run's outcomes.

An outcome is some twenty kilobytes, of which its scores are one. Seven runs of 461 tasks in three epochs
are read in about a seventh of the processor time when only the marks are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from expbench.errors import DataError
from expbench.schema import Status, Usage


class HasValue(Protocol):
    """A score: a number in [0, 1], or ``None`` for unscored."""

    @property
    def value(self) -> float | None: ...


class HasVerdict(Protocol):
    """The monitor's word on an attempt."""

    @property
    def verdict(self) -> str: ...


class Scored(Protocol):
    """What metrics ask of an outcome; :class:`expbench.schema.Outcome` and :class:`Marks` have it."""

    @property
    def task_id(self) -> str: ...
    @property
    def paper(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def agent(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def scores(self) -> Mapping[str, HasValue]: ...
    @property
    def monitor(self) -> HasVerdict | None: ...


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Mark(_Part):
    """One score, without its reason."""

    value: float | None = Field(default=None, ge=0.0, le=1.0)


class Verdict(_Part):
    """The monitor's verdict, without what it found."""

    verdict: str


class Marks(_Part):
    """An outcome without its evidence: who did what, how it ended, the scores and what it used."""

    task_id: str
    paper: str
    epoch: int = Field(ge=1)
    agent: str
    model: str
    status: Status
    scores: dict[str, Mark] = Field(default_factory=dict)
    monitor: Verdict | None = None
    agent_seconds: float = 0.0
    agent_usage: Usage = Usage()


def read_marks(outcomes: Path) -> list[Marks]:
    """The marks of a run's ``outcomes.jsonl``, in its order.

    Raises:
        DataError: a line is no outcome.
        OSError: the file cannot be read.
    """
    found = []
    with outcomes.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                found.append(Marks.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"])) or "the line"
                raise DataError(
                    f"{outcomes}, line {number} is no outcome: {place}: {first['msg']}."
                ) from None
    return found
