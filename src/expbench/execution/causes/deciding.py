"""Why a script failed, by rule from what it printed, and the line that shows it.

The kinds are those of the publication's map of execution errors, a little finer. The line is the one that
decides, which is seldom the last: the last exception of a chain, or the one before it where that only
wraps; the first of a compiler's or an installer's errors; what made an earlier step fail, when the last
one misses what that step should have made. What cannot be told is ``other``.

How the kinds that touch each other are told apart: ``network`` is whatever could not be reached or was
refused on the way, also when it was for a data set, a model or a package; ``checkpoint`` is a model that
is missing or does not fit; ``gpu`` has its memory and drivers too; ``environment`` is a program, library or
version; ``syntax`` is code that its compiler refuses; ``other`` are exceptions of the code, wrong arguments
and a full disk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from expbench.execution.causes.events import SHOWN, is_noise, stream_events
from expbench.execution.causes.lines import lines_of
from expbench.execution.causes.rules import FAILED, PRINTED, Event
from expbench.schema import Failure, FailureKind

_SIGNALS = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}
_FIRST = ("installer", "compiler")
"""Families of whose errors in a row the first is the cause."""

_MISSED: tuple[FailureKind, ...] = ("missing_file", "input_data", "checkpoint")
_PROMPT = re.compile(
    r"(?:\[[yY](?:es)?/[nN]o?\]|\((?:y|Y|yes)/(?:n|N|no)\)|\b(?:Enter|Type|Input|Continue|Proceed|"
    r"Password|Username|Choose|Select|Press)\b[^\n]{0,80}[:?>])\s*$"
)


def decide(stdout: bytes, stderr: bytes, exit_code: int | None, state: str) -> Failure | None:
    """What :func:`expbench.execution.causes.cause_of` says."""
    if state in ("ran", "infrastructure") or (exit_code == 0 and state == "failed"):
        return None
    if state == "no_script":
        return Failure(kind="missing_file", line="", detail="script")
    out, err = lines_of(stdout), lines_of(stderr)
    last = _last_line(err) or _last_line(out)
    if state == "timed_out" or exit_code == 124:
        return Failure(kind="time", line=last)
    streams = (stream_events(out), stream_events(err))
    if by_code := _of_exit_code(exit_code, [*streams[0], *streams[1]], last):
        return by_code
    events = _deciding_stream(*streams)
    unsure = all(event.sure < PRINTED for event in events)
    if unsure and (asked := _prompt(stdout, stderr)):
        return Failure(kind="interactive", line=asked, detail="stdin")
    if not events:
        return Failure(kind="other", line=last)
    chosen = _root(_deciding(events), [*streams[0], *streams[1]])
    return Failure(kind=chosen.kind, line=chosen.line, detail=chosen.detail)


def _of_exit_code(code: int | None, events: Sequence[Event], last: str) -> Failure | None:
    """The failure where the exit code alone tells it; the line is one that fits, else the last."""
    if code in (137, -9):
        fit = [event for event in events if event.kind == "memory"]
        return Failure(kind="memory", line=fit[-1].line if fit else last, detail="SIGKILL")
    if code in (126, 127):
        fit = [event for event in events if event.family == "shell" and event.sure == FAILED]
        if fit:
            return Failure(kind=fit[-1].kind, line=fit[-1].line, detail=fit[-1].detail)
    if code in _SIGNALS and all(event.sure < FAILED for event in events):
        return Failure(kind="other", line=last, detail=_SIGNALS[code])
    return None


def _deciding_stream(out: list[Event], err: list[Event]) -> list[Event]:
    """The events of the stream that shows more surely why; of standard error where both do alike."""
    surest = [max((event.sure for event in events), default=0) for events in (out, err)]
    return out if surest[0] > surest[1] else err


def _deciding(events: Sequence[Event]) -> Event:
    """The last sure event, or the first of those in a row with it from one compiler or installer."""
    sure = [event for event in events if event.sure >= PRINTED] or list(events)
    number = len(sure) - 1
    if sure[number].family in _FIRST:
        while number and sure[number - 1].family == sure[number].family:
            number -= 1
    return sure[number]


def _root(chosen: Event, events: Sequence[Event]) -> Event:
    """What made the chosen failure: an earlier one that it only follows from, else itself."""
    earlier = list(events[: events.index(chosen)])
    network = [event for event in events if event.kind == "network"]
    if chosen.family == "installer" and chosen.kind == "environment" and network:
        return next((event for event in network if event.detail), network[0])
    if chosen.kind == "missing_module" or (chosen.kind, chosen.family) == ("environment", "shell"):
        failed = [each for each in earlier if each.family == "installer" and each.sure >= PRINTED]
        return _root(failed[0], events) if failed else chosen
    if chosen.kind not in _MISSED:
        return chosen
    reached = [event for event in earlier if event.kind == "network" and event.sure >= PRINTED]
    if reached:
        return next((event for event in reached if event.detail), reached[0])
    steps = [
        each
        for each in earlier
        if each.sure == FAILED and each.family in ("python", "compiler", "language", "signal")
    ]
    return _root(steps[0], events) if steps else chosen


def _prompt(stdout: bytes, stderr: bytes) -> str:
    """A question at an output's end, without an end of line: the script was waiting for an answer."""
    for raw in (stderr, stdout):
        tail = raw[-2000:].decode("utf-8", "replace").rpartition("\n")[2]
        if _PROMPT.search(tail):
            return tail.strip()[:SHOWN]
    return ""


def _last_line(lines: Sequence[str]) -> str:
    """The last line that is no warning, else the last with anything in it."""
    told = [line for line in lines[-200:] if line.strip()]
    return next(
        (each for each in reversed(told) if not is_noise(each)), told[-1] if told else ""
    ).strip()[:SHOWN]
