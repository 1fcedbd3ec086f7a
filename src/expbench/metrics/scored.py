"""What metrics ask of an outcome: its scores, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from expbench.schema import Status


class HasValue(Protocol):
    """A score: a number in [0, 1], or ``None`` for unscored."""

    @property
    def value(self) -> float | None: ...


class HasVerdict(Protocol):
    """The monitor's word on an attempt."""

    @property
    def verdict(self) -> str: ...


class Scored(Protocol):
    """What metrics ask of an outcome; :class:`expbench.schema.Outcome` has it."""

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
