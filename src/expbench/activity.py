"""What each task of a run is doing now: a table in the harness, and the small file that others read.

The harness keeps an :class:`Activity` and writes it every few seconds as a :class:`Pulse` into the run's
folder (:mod:`expbench.heartbeat`); ``expbench status`` reads that (:mod:`expbench.status`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from pydantic import Field

from expbench.journal import Key
from expbench.schema import Record

Phase = Literal["prepare", "agent", "collect", "monitor", "judge", "execute", "ground"]
"""What is done with a task, in this order; what the journal has of it is not done again."""

Progress = Phase | Literal["done"]
"""What is told of a task as it goes on."""

Probe = Callable[[], tuple[str, float]]
"""What a task waits for, and since when (seconds since 1970); an empty text where it does not wait."""


class Working(Record):
    """One task at work. ``since`` and ``waiting_since`` are seconds since 1970.

    ``bound`` are the seconds after which the phase counts as hanging and is ended.
    """

    task_id: str
    epoch: int
    phase: Phase
    since: float
    bound: float | None = None
    waiting: str = ""
    waiting_since: float | None = None


class Pulse(Record):
    """One heartbeat of a harness; times are seconds since 1970.

    ``every`` seconds it is written anew. ``answered`` is when the part that does the work was last seen
    to answer. ``finished`` counts the tasks that got an outcome since ``started``.
    """

    format: Literal[1] = 1
    pid: int
    host: str
    started: float
    written: float
    answered: float
    every: float = Field(gt=0)
    at_once: int = Field(ge=1)
    finished: int = 0
    charged: float | None = None
    """Dollars that the run has cost so far, where the harness keeps a ledger."""
    unpriced: int = 0
    """Requests to models of which the dollars are not known."""
    stopping: bool = False
    tasks: tuple[Working, ...] = ()


@dataclass
class _Busy:
    phase: Phase
    since: float
    bound: float | None
    probe: Probe | None


@dataclass
class Activity:
    """The tasks at work in this process, and what each does; safe to read from another thread.

    ``finished`` counts those that got an outcome; ``stopping`` says that no new work is begun.
    """

    finished: int = 0
    stopping: bool = False
    entered: Callable[[], None] | None = None
    """Called whenever a phase begins, by the code that works."""
    writing: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while the pulse is written; who keeps it has the last word."""
    _busy: dict[Key, _Busy] = field(default_factory=dict)
    _notes: dict[Key, tuple[str, float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @contextmanager
    def doing(
        self, key: Key, phase: Phase, bound: float | None = None, probe: Probe | None = None
    ) -> Iterator[None]:
        """A task is in a phase while this lasts; ``probe`` says what it waits for."""
        if self.entered is not None:
            self.entered()
        token = _current.set((self, key))
        with self._lock:
            before = self._busy.get(key)
            self._busy[key] = _Busy(phase, time.time(), bound, probe)
        try:
            yield
        finally:
            _current.reset(token)
            with self._lock:
                self._notes.pop(key, None)
                if before is None:
                    self._busy.pop(key, None)
                else:
                    self._busy[key] = before

    @contextmanager
    def waiting(self, key: Key, what: str) -> Iterator[None]:
        """A task waits for something that no probe sees."""
        self.note(key, what, inf)
        try:
            yield
        finally:
            self._notes.pop(key, None)

    def note(self, key: Key, what: str, seconds: float) -> None:
        """A task waits so many seconds for something."""
        now = time.time()
        self._notes[key] = (what, now, now + seconds)

    def tasks(self) -> tuple[Working, ...]:
        """All tasks at work, by their start."""
        with self._lock:
            busy = dict(self._busy)
        return tuple(
            self._row(key, each) for key, each in sorted(busy.items(), key=lambda row: row[1].since)
        )

    def _row(self, key: Key, busy: _Busy) -> Working:
        what, since, until = self._notes.get(key, ("", 0.0, 0.0))
        if until < time.time():
            what, since = busy.probe() if busy.probe is not None else ("", 0.0)
        return Working(
            task_id=key[0],
            epoch=key[1],
            phase=busy.phase,
            since=busy.since,
            bound=busy.bound,
            waiting=what,
            waiting_since=since if what else None,
        )


_current: ContextVar[tuple[Activity, Key] | None] = ContextVar("expbench_activity", default=None)


def note_here(what: str, seconds: float) -> None:
    """Note what the task waits for that this code works for; nothing outside of one."""
    found = _current.get()
    if found is not None:
        found[0].note(found[1], what, seconds)
