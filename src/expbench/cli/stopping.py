"""What Ctrl-C does to a run: once, it stops soon and in order; twice, at once.

At the first one no new work is begun, what is under way is dropped, sandboxes end, and what is finished
is kept. When that takes too long, or at the second one, the process is left where it is, with its
sandboxes killed and its folders removed. A polite kill counts as a Ctrl-C. The run can be resumed
whatever happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from rich.console import Console

from expbench.activity import Progress
from expbench.cli.boundary import EXIT_FAILED, EXIT_INTERRUPTED
from expbench.evaluation import Evaluation, Listener
from expbench.leaving import leave
from expbench.patience import wait_for_abandoned
from expbench.schema import Outcome

_PATIENCE = 22.0
"""Seconds for an orderly end; leaving takes a few more."""
_ENOUGH = 10.0
"""Seconds for what was given up to end by itself when everything else is done."""

Handler = Callable[[int, FrameType | None], object]


class Stopping:
    """Watches over one run; used as a context manager around it."""

    def __init__(self, evaluation: Evaluation, console: Console) -> None:
        self._evaluation = evaluation
        self._console = console
        self._sentence = f"go on with `expbench resume {evaluation.run.paths.root}`."
        self._asked = False
        self._engine: Handler | None = None
        self._leaving = threading.Lock()

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Handle interruptions until the end, which waits for nothing that hangs."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        try:
            yield
            if not wait_for_abandoned(_ENOUGH):
                self.left("something that was given up does not end")
        finally:
            for number, handler in before.items():
                # What is left to do is to say so, and the interpreter's end would take handlers away.
                signal.signal(number, signal.SIG_IGN if self._asked else handler)

    def hearing(self, listener: Listener) -> Listener:
        """The listener; from the first that it is told on, interruptions come here."""

        def told(task_id: str, epoch: int, phase: Progress, outcome: Outcome | None) -> None:
            self._listen()
            listener(task_id, epoch, phase, outcome)

        return told

    def _listen(self) -> None:
        """Hear of interruptions while the engine's loop runs, before the engine does."""
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and handler != self._interrupt:
            self._engine = handler if callable(handler) else None
            signal.signal(signal.SIGINT, self._interrupt)

    def left(self, why: str) -> None:
        """Leave because of something that nothing else ends."""
        self._leave(EXIT_FAILED, f"{why}; {self._sentence}")

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            self._leave(EXIT_INTERRUPTED, f"interrupted; {self._sentence}")
        self._asked = True
        self._evaluation.activity.stopping = True
        threading.Thread(target=self._leave_late, daemon=True).start()
        if self._engine is not None and _loop_runs():
            self._engine(number, frame)
        else:
            raise KeyboardInterrupt

    def _leave_late(self) -> None:
        time.sleep(_PATIENCE)
        self._leave(EXIT_INTERRUPTED, f"interrupted; {self._sentence}")

    def _leave(self, code: int, sentence: str) -> NoReturn:
        # Held for good: who comes second waits for the end that the first one brings.
        self._leaving.acquire()
        with contextlib.suppress(OSError, ValueError):
            self._console.show_cursor(True)
            sys.stderr.flush()
            os.write(sys.stderr.fileno(), f"expbench: {sentence}\n".encode())
        leave(self._evaluation, code)


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
