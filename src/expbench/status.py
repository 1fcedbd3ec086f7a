"""How a run stands: what each of its tasks is at, what it waits for, and what is stuck.

Only files are read (manifest, journal, ledger and the harness's pulse), so that it can be asked at any
time, while the run goes on or long after. Lines of the journal are not parsed but looked at: a run of a
thousand tasks answers in less than a second.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from expbench.activity import Phase, Pulse, Working
from expbench.journal import Entry, Key
from expbench.paths import RunPaths
from expbench.runs import held, read_manifest, settled
from expbench.schema import Record

GRACE = 60.0
"""Seconds after its bound from which a phase counts as stuck."""
SILENT = 30.0
"""Seconds without an answer of the harness from which it counts as stuck."""

RunState = Literal["running", "stopping", "stopped", "killed", "finished"]
TaskState = Literal["done", "infrastructure", "at work", "queue", "stopped"]

_HEAD = re.compile(
    rb'\{"(generated|attempt|finding|outcome|executed)":\{"task_id":"([^"\\]*)",'
    rb'(?:"paper":"[^"\\]*",)?"epoch":(\d+),'
)
_FOUND = re.compile(rb'"submission":"[^"]*","(monitor|judgement|execution|grounding)":')
_DOLLARS = re.compile(rb'"dollars":([0-9][0-9.eE+-]*)')
_WORST = re.compile(rb'"at_most":([0-9][0-9.eE+-]*)')
_DOUBTFUL = (b'"state":"infrastructure"', b'"reason":"model error: ')
"""What an outcome may hold that does not settle its task; strings in JSON cannot hold it."""
_NEXT: dict[str, Phase] = {
    "generated": "collect",
    "attempt": "monitor",
    "monitor": "judge",
    "judgement": "execute",
    "execution": "ground",
    "grounding": "ground",
}
"""The phase that comes after what the journal has."""
_WAITS: dict[Phase, str] = {"prepare": "sandbox start", "execute": "re-run of its script"}
"""What a phase is known to wait for."""


class TaskStatus(Record):
    """One task in one epoch. Times are in seconds.

    ``phase`` is the one that it is in, or that comes next; ``seconds`` for how long it is in it, ``left``
    until the phase is ended. ``stuck`` says in words what is wrong, where something is.
    """

    task_id: str
    epoch: int
    state: TaskState
    phase: Phase | None = None
    seconds: float | None = None
    waiting: str = ""
    waiting_seconds: float | None = None
    left: float | None = None
    stuck: str = ""


class RunStatus(Record):
    """A whole run. ``left`` are seconds until it is done, by its pace so far.

    ``alive`` says whether a harness works on it; ``stuck`` what is wrong with the harness itself, in
    words. ``dollars`` is what all calls of models have cost, of which ``unpriced`` calls are not known.
    """

    run: str
    folder: str
    agent: str
    model: str
    judge: str
    state: RunState
    alive: bool
    planned: int
    done: int
    infrastructure: int
    at_work: int
    waiting: int
    """Tasks that wait for their turn."""
    left: float | None = None
    dollars: float | None = None
    unpriced: int = 0
    pid: int | None = None
    stuck: str = ""
    tasks: tuple[TaskStatus, ...] = ()

    @property
    def all_stuck(self) -> tuple[str, ...]:
        """Everything that is stuck, each in a sentence without a full stop."""
        return tuple(filter(None, (self.stuck, *(task.stuck for task in self.tasks))))


@dataclass
class _Seen:
    """What a journal says: the last phase of each task, and whether it is done for good."""

    last: dict[Key, str] = field(default_factory=dict)
    settled: dict[Key, bool] = field(default_factory=dict)
    dollars: float | None = None


def status(root: Path, now: float | None = None) -> RunStatus:
    """How the run in a folder stands.

    Raises:
        NotFoundError: there is no run.
        DataError: its manifest is damaged.
    """
    paths = RunPaths(root)
    manifest = read_manifest(root)
    now = time.time() if now is None else now
    seen = _seen(paths)
    alive = held(paths)
    pulse = _pulse(paths)
    working = {(each.task_id, each.epoch): each for each in pulse.tasks} if pulse else {}
    epochs = range(1, manifest.epochs + 1)
    keys = [(task, epoch) for task in manifest.tasks for epoch in epochs]
    tasks = tuple(_task(key, seen, working.get(key), alive, now) for key in keys)
    counts = Counter(task.state for task in tasks)
    dollars, unpriced = _spent(paths, seen, pulse if alive else None)
    done = counts["done"]
    return RunStatus(
        run=manifest.name,
        folder=str(root),
        agent=manifest.agent,
        model=manifest.model,
        judge=manifest.judge,
        state=_state(alive, pulse, done == len(tasks)),
        alive=alive,
        planned=len(tasks),
        done=done,
        infrastructure=counts["infrastructure"],
        at_work=counts["at work"],
        waiting=counts["queue"],
        left=_left(pulse, counts["queue"] + counts["at work"], now) if alive else None,
        dollars=dollars,
        unpriced=unpriced,
        pid=pulse.pid if pulse and alive else None,
        stuck=_silent(pulse, now) if alive and pulse else "",
        tasks=tasks,
    )


def _state(alive: bool, pulse: Pulse | None, done: bool) -> RunState:
    if alive:
        return "stopping" if pulse is not None and pulse.stopping else "running"
    if done:
        return "finished"
    return "killed" if pulse is not None else "stopped"


def _task(key: Key, seen: _Seen, working: Working | None, alive: bool, now: float) -> TaskStatus:
    task_id, epoch = key
    if seen.settled.get(key):
        return TaskStatus(task_id=task_id, epoch=epoch, state="done")
    if alive and working is not None:
        return _at_work(working, now)
    state: TaskState = "queue" if alive else "stopped"
    if key in seen.settled:
        state = "infrastructure"
    phase = working.phase if working is not None else _NEXT.get(seen.last.get(key, ""))
    waiting = "queue" if alive else ""
    return TaskStatus(task_id=task_id, epoch=epoch, state=state, phase=phase, waiting=waiting)


def _at_work(working: Working, now: float) -> TaskStatus:
    seconds = max(0.0, now - working.since)
    waiting = working.waiting or _WAITS.get(working.phase, "")
    since = working.waiting_since if working.waiting_since is not None else working.since
    left = None if working.bound is None else working.bound - seconds
    stuck = ""
    if left is not None and left < -GRACE:
        stuck = (
            f"{working.task_id}, epoch {working.epoch}: phase {working.phase} goes on {-left:.0f} s after "
            f"its bound of {working.bound:.0f} s"
        )
    return TaskStatus(
        task_id=working.task_id,
        epoch=working.epoch,
        state="at work",
        phase=working.phase,
        seconds=round(seconds, 1),
        waiting=waiting,
        waiting_seconds=round(max(0.0, now - since), 1) if waiting else None,
        left=None if left is None else round(max(0.0, left), 1),
        stuck=stuck,
    )


def _silent(pulse: Pulse, now: float) -> str:
    """What is wrong with a harness that lives, in words; empty when nothing is."""
    if (silent := now - pulse.written) > pulse.every + SILENT:
        return f"the harness (process {pulse.pid}) has not written its pulse for {silent:.0f} s"
    if (silent := pulse.written - pulse.answered) > pulse.every + SILENT:
        return (
            f"the harness (process {pulse.pid}) does not answer for {silent:.0f} s: something in it works "
            "without a pause"
        )
    return ""


def _left(pulse: Pulse | None, open_tasks: int, now: float) -> float | None:
    """Seconds until all is done, by the pace of the harness at work."""
    if pulse is None or not pulse.finished:
        return None
    return round((now - pulse.started) / pulse.finished * open_tasks, 1)


def _pulse(paths: RunPaths) -> Pulse | None:
    try:
        return Pulse.model_validate_json(paths.pulse.read_bytes())
    except (OSError, ValidationError):
        return None


def _seen(paths: RunPaths) -> _Seen:
    """What the journal says; a run that was judged or executed again has its attempts in another's."""
    seen = _Seen()
    for line in _lines(paths.journal):
        match = _HEAD.match(line)
        if match is None:
            _parsed(line, seen)
            continue
        kind, key = match[1].decode(), (match[2].decode(), int(match[3]))
        if kind == "outcome":
            _outcome(line, key, seen)
        elif kind == "finding":
            found = _FOUND.search(line, match.end())
            seen.last[key] = found[1].decode() if found else "attempt"
        elif kind != "executed":
            seen.last[key] = kind
    return seen


def _outcome(line: bytes, key: Key, seen: _Seen) -> None:
    if any(each in line for each in _DOUBTFUL) or b'"status":"infrastructure"' in line[:2000]:
        outcome = _entry(line).outcome
        seen.settled[key] = outcome is not None and settled(outcome)
    else:
        seen.settled[key] = True
    for found in _DOLLARS.findall(line):
        seen.dollars = (seen.dollars or 0.0) + float(found)


def _parsed(line: bytes, seen: _Seen) -> None:
    """A line that does not look like ours, read in full."""
    entry = _entry(line)
    for kind in ("generated", "attempt", "finding", "outcome"):
        record = getattr(entry, kind)
        if record is not None:
            key = (record.task_id, record.epoch)
            if kind == "outcome":
                _outcome(line, key, seen)
            else:
                seen.last[key] = kind


def _entry(line: bytes) -> Entry:
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        return Entry()


def _lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, which another process may be writing to; none where there is no file."""
    try:
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))
    except OSError:
        return


def _spent(paths: RunPaths, seen: _Seen, pulse: Pulse | None) -> tuple[float | None, int]:
    """Dollars so far and calls without a price: of the ledger, else of the outcomes."""
    if pulse is not None and pulse.charged is not None:
        return round(pulse.charged, 6), pulse.unpriced
    if not paths.ledger.exists():
        return seen.dollars, 0
    dollars, unpriced = 0.0, 0
    for line in _lines(paths.ledger):
        if (found := _DOLLARS.search(line) or _WORST.search(line)) is not None:
            dollars += float(found[1])
        elif b'"error":' not in line:
            unpriced += 1
    return round(dollars, 6), unpriced
