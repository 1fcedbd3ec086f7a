"""Progress of long work: a live bar with an estimate on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from expbench.activity import Progress as Phase
from expbench.schema import SCORE_NAMES, Outcome

_LETTERS: dict[str, str] = {
    "produced": "E+",
    **{name: name[0].upper() for name in (*SCORE_NAMES, "grounding")},
}


class ProgressView(Protocol):
    """Shows a run's progress; used as a context manager and as a run's listener."""

    def __enter__(self) -> ProgressView: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def __call__(self, task_id: str, epoch: int, phase: Phase, outcome: Outcome | None) -> None: ...


def progress_view(console: Console, total: int, done: int, title: str) -> ProgressView:
    """The view that fits the console. ``total`` attempts are planned, ``done`` were so before."""
    kind = _Live if console.is_terminal else _Plain
    return kind(console, total, done, title)


class _Estimate:
    """Time left, from the pace of this process."""

    def __init__(self, left: int) -> None:
        self._started = time.monotonic()
        self._left = left
        self._finished = 0

    def step(self) -> None:
        self._finished += 1

    def text(self) -> str:
        left = self._left - self._finished
        if not self._finished or left <= 0:
            return ""
        seconds = (time.monotonic() - self._started) / self._finished * left
        return f"about {duration(seconds)} left"


class _Plain:
    """One line for each finished task."""

    def __init__(self, console: Console, total: int, done: int, title: str) -> None:
        self._console, self._total, self._done, self._title = console, total, done, title
        self._estimate = _Estimate(total - done)
        self._lock = threading.Lock()

    def __enter__(self) -> _Plain:
        self._console.print(f"{self._title}: {self._total} tasks, {self._done} done before")
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, task_id: str, epoch: int, phase: Phase, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        with self._lock:
            self._done += 1
            self._estimate.step()
            left = self._estimate.text()
            line = f"[{self._done}/{self._total}] {task_id} #{epoch}: {short(outcome)}"
            text = f"{line}  ({left})" if left else line
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class _Live:
    """A bar with an estimate, and below it the tasks at work with their phase."""

    def __init__(self, console: Console, total: int, done: int, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        )
        self._bar = self._progress.add_task(title, total=total, completed=done, left="")
        self._live = Live(self._progress, console=console)
        self._estimate = _Estimate(total - done)
        self._busy: dict[tuple[str, int], Phase] = {}

    def __enter__(self) -> _Live:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.update(self._progress, refresh=True)
        self._live.stop()

    def __call__(self, task_id: str, epoch: int, phase: Phase, outcome: Outcome | None) -> None:
        if outcome is None:
            self._busy[task_id, epoch] = phase
        else:
            self._busy.pop((task_id, epoch), None)
            self._estimate.step()
            self._progress.update(self._bar, advance=1, left=self._estimate.text())
            self._live.console.print(
                f"{task_id} #{epoch}: {short(outcome)}", markup=False, highlight=False
            )
        busy = ", ".join(f"{task} ({phase})" for (task, _), phase in sorted(self._busy.items())[:4])
        self._live.update(Group(self._progress, Text(busy, style="dim")))


def short(outcome: Outcome) -> str:
    """An outcome in a line: ``M ✓ D 100 % I 90 % C ✗ E –``, the limit that ended it, and doubts."""
    if not outcome.scores:
        return f"{outcome.status}: {outcome.reason}"
    parts = []
    for name, score in outcome.scores.items():
        value = "–" if score.value is None else f"{score.value:.0%}"
        parts.append(f"{_LETTERS.get(name, name)} {value}")
    if outcome.limit:
        parts.append(f"limit: {outcome.limit}")
    said = "; ".join(doubt.sentence for doubt in outcome.doubts)
    return " ".join([*parts, f"doubtful: {said}"] if said else parts)


def duration(seconds: float) -> str:
    """A time in words: ``2 h 5 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
