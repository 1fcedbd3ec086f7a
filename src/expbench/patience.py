"""Trying again and giving up: back-off between tries at a task, and bounds for every phase.

Errors of infrastructure are tried again inside a run, a few times with growing pauses; what still fails
is left for a resumption. What trying again cannot mend is not tried again. A phase that takes longer than
its bound hangs, and is ended as an error of infrastructure with that reason (R50).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from expbench.activity import Activity, Phase
from expbench.errors import ExpbenchError, InfrastructureError, SpentError, UserError
from expbench.redaction import redacted_error
from expbench.runs import Key
from expbench.schema import Judging, Limits

_Result = TypeVar("_Result")

_HOPELESS = (UserError, SpentError)
"""Errors that only the user mends."""
_GRACE = 120.0
"""Seconds after its own limit in which a phase has ended."""
_HOUR = 3600.0
_ASKED = 6
"""Questions to a model about one item at most: files it asks for, and a reply that cannot be used."""
_RUNS = 4
"""Runs of a script at most: with and without its results, and all once more when the harness failed."""

PAUSES = (5.0, 30.0)
"""Seconds before the second try, the third, …; the last one also before all further ones."""


@dataclass
class Tries:
    """How often each task was tried in this process; ``most`` tries, with ``pauses`` between them."""

    most: int = 1
    pauses: tuple[float, ...] = field(default_factory=lambda: PAUSES)
    """As :data:`PAUSES`."""
    _failed: dict[Key, tuple[int, Exception]] = field(default_factory=dict)

    def last(self, key: Key) -> bool:
        """Whether there is no further try after this one."""
        return self._failed.get(key, (0, None))[0] + 1 >= self.most

    async def pause(self, key: Key, activity: Activity) -> None:
        """Wait before a further try. Raises the error again that a further try cannot mend."""
        count, error = self._failed.get(key, (0, None))
        if isinstance(error, _HOPELESS):
            raise error
        if count:
            seconds = self.pauses[min(count, len(self.pauses)) - 1]
            what = f"try {count + 1} of {self.most} after {seconds:g} s: {_line(error)}"
            with activity.waiting(key, what):
                await anyio.sleep(seconds)

    def why(self, key: Key) -> str:
        """The first line of a task's last error; empty without one."""
        return _line(self._failed[key][1]) if key in self._failed else ""

    @contextmanager
    def counted(self, key: Key) -> Iterator[None]:
        """Count an error that leaves this as a try."""
        try:
            yield
        except Exception as error:
            count, before = self._failed.get(key, (0, None))
            if error is not before:
                self._failed[key] = (count + 1, error)
            raise


@dataclass(frozen=True)
class Bounds:
    """Seconds that phases may take at most.

    A phase with limits of its own (the agent's, the judge's, the re-run's) ends by them; the bound is
    what holds when that fails.
    """

    prepare: float = 3 * _HOUR
    agent: float = _HOUR
    collect: float = _HOUR
    monitor: float = _HOUR
    judge: float = _HOUR
    execute: float = _HOUR
    ground: float = _HOUR

    @classmethod
    def of(cls, limits: Limits, judging: Judging, items: int = 64) -> Bounds:
        """The bounds of a run; ``items`` are those of one task that are judged, at most."""
        calls = math.ceil(items / judging.concurrency) * judging.samples * _ASKED
        return cls(
            agent=limits.agent_wall_minutes * 60 + _GRACE,
            judge=calls * judging.deadline + _GRACE,
            execute=_RUNS * (limits.minutes * 60 + _GRACE) + _HOUR,
        )

    def of_phase(self, phase: Phase) -> float:
        """The bound of one phase."""
        return float(getattr(self, phase))


async def bounded(seconds: float, phase: Phase, work: Awaitable[_Result]) -> _Result:
    """The result of asynchronous work. Raises InfrastructureError when it hangs."""
    with anyio.move_on_after(seconds):
        return await work
    raise _hangs(phase, seconds)


async def bounded_thread(
    seconds: float, phase: Phase, work: Callable[[threading.Event], _Result]
) -> _Result:
    """The result of work in a thread, which is told to end by an event and left when it does not.

    Raises:
        InfrastructureError: it hangs.
    """
    thread = _Threaded(work)
    try:
        with anyio.move_on_after(seconds):
            return await to_thread.run_sync(thread.call, abandon_on_cancel=True)
    finally:
        thread.give_up()
    raise _hangs(phase, seconds)


class _Threaded(Generic[_Result]):
    """Work in a thread that may be given up, and is then not begun or told to end."""

    def __init__(self, work: Callable[[threading.Event], _Result]) -> None:
        self._work = work
        self._cancelled = threading.Event()
        self._begun = False
        self.ended = threading.Event()
        self._lock = threading.Lock()

    def call(self) -> _Result:
        with self._lock:
            if self._cancelled.is_set():
                raise InfrastructureError("it was given up before it began")
            self._begun = True
        try:
            return self._work(self._cancelled)
        finally:
            self.ended.set()
            _given_up.discard(self.ended)

    def give_up(self) -> None:
        """Tell it to end, and remember it while it does not; nothing for what has ended."""
        with self._lock:
            self._cancelled.set()
            if self._begun:
                _given_up.add(self.ended)
        if self.ended.is_set():
            _given_up.discard(self.ended)


_given_up: set[threading.Event] = set()
"""The ends of work in threads that nobody waits for any more."""


def wait_for_abandoned(seconds: float) -> bool:
    """Wait for work in threads that was told to end and left; whether all of it has ended."""
    deadline = time.monotonic() + seconds
    return all(ended.wait(max(0.0, deadline - time.monotonic())) for ended in tuple(_given_up))


def _hangs(phase: Phase, seconds: float) -> InfrastructureError:
    return InfrastructureError(f"phase {phase} hangs: no end after {seconds:.0f} seconds")


def _line(error: Exception | None) -> str:
    lines = redacted_error(str(error or "")).strip().splitlines()
    kind = "" if isinstance(error, ExpbenchError) else type(error).__name__
    return ": ".join(filter(None, (kind, *lines[:1])))[:500]
