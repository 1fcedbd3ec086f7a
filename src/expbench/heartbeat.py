"""The harness's heartbeat: a thread that writes what every task does, and sees who does not answer.

One small file, replaced as a whole every few seconds whatever happens in between, tells other processes
what the tasks of a run are at. It goes when the run ends; after a kill it stays and says what was going on.
The thread also finds a task whose phase goes on long after it was told to end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import Transcript

from expbench.activity import Activity, Pulse
from expbench.paths import RunPaths
from expbench.runs import write_atomically

EVERY = 2.0
"""Seconds between two beats."""
DEAF = 120.0
"""Seconds after the end of its bound in which a phase that was told to end does."""

Spent = Callable[[], tuple[float | None, int]]
"""Dollars so far and requests without a price."""


def _unknown() -> tuple[float | None, int]:
    return None, 0


@dataclass
class Heartbeat:
    """Writes the pulse of one harness while :meth:`beating`.

    ``deaf`` is told in a sentence of a task that does not end when it is told to.
    """

    paths: RunPaths
    activity: Activity
    at_once: int
    spent: Spent = _unknown
    deaf: Callable[[str], None] | None = None
    every: float = field(default_factory=lambda: EVERY)
    _started: float = field(default_factory=time.time)
    _answered: float = field(default_factory=time.time)
    _asked: bool = False
    _loop: asyncio.AbstractEventLoop | None = None
    _end: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat while this lasts."""
        thread = threading.Thread(target=self._beat, name="expbench-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()
            self.paths.pulse.unlink(missing_ok=True)

    def watch_loop(self) -> None:
        """Watch whether the running event loop answers."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()

    def pulse(self) -> Pulse:
        """What is going on now."""
        charged, unpriced = self.spent()
        return Pulse(
            pid=os.getpid(),
            host=socket.gethostname(),
            started=self._started,
            written=time.time(),
            answered=self._answered if self._loop is not None else time.time(),
            every=self.every,
            at_once=self.at_once,
            finished=self.activity.finished,
            charged=charged,
            unpriced=unpriced,
            stopping=self.activity.stopping,
            tasks=self.activity.tasks(),
        )

    def _beat(self) -> None:
        while True:
            self._ask_loop()
            pulse = self.pulse()
            # A full disk or a folder that is gone is found by those who have something to lose.
            with contextlib.suppress(OSError), self.activity.writing:
                write_atomically(self.paths.pulse, pulse.model_dump_json().encode(), sync=False)
            self._look_for_the_deaf(pulse)
            if self._end.wait(self.every):
                return

    def _ask_loop(self) -> None:
        if self._loop is not None and not self._asked:
            self._asked = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self._answered = time.time()
        self._asked = False

    def _look_for_the_deaf(self, pulse: Pulse) -> None:
        for each in pulse.tasks:
            late = pulse.written - each.since - (each.bound or 0.0)
            if self.deaf is not None and each.bound is not None and late > DEAF:
                self.deaf(
                    f"{each.task_id}, epoch {each.epoch}, does not end phase {each.phase} though it was "
                    f"told to {late:.0f} seconds ago"
                )


def waits_of(transcript: Transcript) -> tuple[str, float]:
    """What a sample waits for by its transcript: an answer of a model, or the end of a tool's call."""
    for event in reversed(transcript.pending_events):
        if isinstance(event, ModelEvent):
            again = f", asked again {event.retries} times" if event.retries else ""
            return f"answer of {event.model}{again}", event.timestamp.timestamp()
        if isinstance(event, ToolEvent):
            return f"tool {event.function}", event.timestamp.timestamp()
    return "", 0.0
