"""The lines of a stream that show failures, in order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

from expbench.execution.causes.building import COMPILERS, DOWNLOADS, INSTALLERS
from expbench.execution.causes.lines import english
from expbench.execution.causes.python import PYTHON, WRAPPERS, started
from expbench.execution.causes.rules import FAILED, HINT, PRINTED, Event, Family, Rule, found
from expbench.execution.causes.tools import LANGUAGES, PRINTED_ERRORS, SHELL, SIGNALS
from expbench.execution.causes.tracebacks import Raised, Tracebacks, continued, short, tracebacks
from expbench.schema import FailureKind

T = TypeVar("T")

SHOWN = 300
"""Characters of a line that are kept."""

_MATCHED = 500
"""Characters of a line that rules are tried on."""

_HEAD, _TAIL = 40_000, 160_000
"""Characters of a stream's beginning and end that are looked at closely, of lines that could tell
something: a bound on time against output that is made to cost much."""

_CHAINS = (50, 200)
"""The same for tracebacks."""

_TELLING = re.compile(
    r"(?i)error|exception|fail|fatal|cannot|can't|could ?n[o']t|unable|not |no such|\bno |killed|"
    r"denied|memory|missing|"
    r"abort|invalid|require|syntax|conflict|unsatisf|retrying|resolv|refused|^\s*[EW]: |"
    r"segmentation|illegal|"
    r"provides|cuda|gpu|nvidia|exit\b|eof|unexpected|quota|panic|undefined|unbound|missing|tty|"
    r"bus |forbidden|"
    r"unauthorized|retry|sig[a-z]{3,4}\b|limit|timeout|find|terminate|alloc"
)
_NOISE = re.compile(
    r"^\+{1,5} |^[\w./<>-]*:?(?:\d+:)? ?(?:\w*Warning|warning|WARNING|WARN)\b|"
    r"^(?:\[?[\d/:., TZ-]{5,40}\]?[\s|:-]*)?(?:[\w.-]+[\s|:-]+)?\[?(?:DEBUG|INFO|NOTICE|WARN|"
    r"WARNING)\]?(?:[\s|:\]-]|$)|"
    r"^\d{4}-\d\d-\d\d [\d:.]+: [WIE] (?:external|tensorflow)/|^[WI]\d{4} [\d:.]+|"
    r": (?:\w*Warning|warning): |"
    r"^npm (?:warn|WARN)|^DEPRECATION:|^\s*(?:note|hint): |"
    # A resolver's complaint about what was installed before, after which pip ends well.
    r"^ERROR: pip's dependency resolver|^ERROR: .* but you(?:'ll)? have "
)
_NETWORK_WARNING = re.compile(
    r"^WARNING: Retrying|Temporary failure resolving|^WARNING: There was an error checking"
)
_PREFIX = re.compile(r"^\s*(?:\[[^\]]{0,20}rank ?\d+[^\]]{0,20}\]:?\s*|(?:[|│]\s+)+|E\s{2,})?")
_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*_?[A-Z]\w*(?:Error|Exception|Exit|Timeout|Interrupt|Expired|NotFound|"
    r"Failed|Quit|Conflict)(?::|$)"
)
_SPOKEN = re.compile(
    r"(?i)^(?:\[?[\d/:., tz-]{5,40}\]?[\s|:-]*)?(?:[\w./\\-]+[\s|:]+){0,3}?[\[<(❌✗✘×*!# ]*"
    r"(?:\w*error|fatal|failed|failure|exception|critical|could not|cannot|can't|unable to|"
    r"abort\w*|missing|no)\b"
)
_BOX = (re.compile(r"subprocess-exited-with-error"), re.compile(r"note: This error originates"))
_KEPT_IN_BOX: tuple[FailureKind, ...] = ("network", "memory", "permission")

_TOOLS: tuple[tuple[Family, tuple[Rule, ...]], ...] = (
    ("installer", INSTALLERS),
    ("compiler", COMPILERS),
    ("language", LANGUAGES),
    ("download", DOWNLOADS),
    ("signal", SIGNALS),
    ("shell", SHELL),
)


def is_noise(line: str) -> bool:
    """Whether a line is a warning, a log line of no error, or the shell's trace of a command."""
    return not line.strip() or _NOISE.search(line[:200].lstrip()) is not None


def stream_events(raw: Sequence[str]) -> list[Event]:
    """What the lines of a stream show, in their order."""
    lines = [english(line) for line in raw]
    seen = tracebacks(lines)
    chains = _ends(seen.chains, *_CHAINS, [1] * len(seen.chains))
    events = [event for chain in chains if (event := _of_chain(chain, lines)) is not None]
    events += _of_lines(lines, seen)
    last = _last(lines)
    if last >= 0 and last not in seen.inside and all(event.place != last for event in events):
        events += _printed(lines, last)
    boxed = _boxed(lines)
    events.sort(key=lambda event: event.place)
    shown = [replace(event, line=raw[event.place].strip()[:SHOWN]) for event in events]
    return [_as_installing(event) if event.place in boxed else event for event in shown]


def _ends(several: Sequence[T], head: int, tail: int, sizes: Sequence[int]) -> Sequence[T]:
    """The first and the last of them, as far as their sizes come to ``head`` and ``tail``."""
    if sum(sizes) <= head + tail:
        return several
    first = bisect_right(list(accumulate(sizes)), head)
    last = bisect_right(list(accumulate(reversed(sizes))), tail)
    return [*several[:first], *several[len(several) - last :]]


def _last(lines: Sequence[str]) -> int:
    return next((n for n in range(len(lines) - 1, -1, -1) if not is_noise(lines[n])), -1)


# --- Python's exceptions ---------------------------------------------------------------------------


def _of_chain(chain: Sequence[Raised], lines: list[str]) -> Event | None:
    """The exception of a chain that decides."""
    if chain[-1].ignored:
        return None
    events = [_of_exception(each, lines) for each in chain]
    deciding = _deciding(chain, events)
    unsure = chain[0].logged or all(WRAPPERS.match(each.text) for each in chain)
    return replace(deciding, sure=HINT) if unsure else deciding


def _deciding(chain: Sequence[Raised], events: Sequence[Event]) -> Event:
    number = len(chain) - 1
    while number and WRAPPERS.match(chain[number].text):
        number -= 1
    last, earlier = events[number], events[:number]
    if last.kind in ("other", "input_data", "checkpoint", "missing_file", "environment"):
        reached = [event for event in earlier if event.kind == "network"]
        if reached:
            return next((event for event in reversed(reached) if event.detail), reached[-1])
    if last.kind == "other" and earlier:
        before = next((event for event in reversed(earlier) if event.kind != "other"), None)
        named = before is not None and before.detail and before.detail in chain[number].text
        if before is not None and (named or chain[number].link == "cause"):
            return before
    return last


def _of_exception(raised: Raised, lines: list[str], sure: int = FAILED) -> Event:
    missing = raised.starting and raised.text.startswith("FileNotFoundError")
    text = started(raised.text) if missing else raised.text
    rule = found(PYTHON, text, lines[max(0, raised.place - 60) : raised.place + 4])
    name = re.split(r"[:\s]", raised.text, maxsplit=1)[0]
    if rule is None:
        return Event(raised.place, raised.line, "other", name, "python", sure)
    return Event(raised.place, raised.line, rule[1], rule[2], "python", min(sure, rule[0].sure))


# --- other lines -----------------------------------------------------------------------------------


def _of_lines(lines: list[str], seen: Tracebacks) -> Iterator[Event]:
    places = [
        place
        for place, line in enumerate(lines)
        if place not in seen.inside and _TELLING.search(line)
    ]
    sizes = [min(len(lines[place]), _MATCHED) for place in places]
    for place in _ends(places, _HEAD, _TAIL, sizes):
        event = _of_line(lines, place)
        if event is not None:
            yield event


def _of_line(lines: list[str], place: int) -> Event | None:
    line = lines[place]
    if is_noise(line) and not _NETWORK_WARNING.search(line):
        return None
    text = _PREFIX.sub("", line, count=1)[:_MATCHED]
    if text.endswith(":"):
        text = " ".join([text, *_next(lines, place)])[:_MATCHED]
    for family, rules in _TOOLS[:1] if is_noise(line) else _TOOLS:
        if rule := found(rules, text, lines[max(0, place - 60) : place + 1]):
            sure = HINT if is_noise(line) else rule[0].sure
            return Event(place, line, rule[1], rule[2], family, sure)
    if _EXCEPTION.match(text):
        whole = short(continued(lines, place))
        unread = Raised(
            place, line.strip(), whole if len(whole) > len(short(text)) else short(text)
        )
        syntax = whole.startswith(("SyntaxError", "IndentationError", "TabError"))
        event = _of_exception(unread, lines, FAILED if syntax else PRINTED)
        return replace(event, sure=HINT) if WRAPPERS.match(whole) else event
    if _SPOKEN.match(text[:200].lstrip()):
        printed = next(_printed(lines, place), None)
        return printed or Event(place, line, "other", "", "python", HINT)
    return None


def _next(lines: Sequence[str], place: int) -> list[str]:
    return [line.strip() for line in lines[place + 1 : place + 7] if line.strip()][:3]


def _printed(lines: list[str], place: int) -> Iterator[Event]:
    """What a line that is no program's own form of an error says about one."""
    text = lines[place][:_MATCHED]
    if rule := found(PRINTED_ERRORS, text, lines[max(0, place - 60) : place]):
        yield Event(place, text, rule[1], rule[2], "python", PRINTED)


# --- an installer's own steps ------------------------------------------------------------------------


def _boxed(lines: Sequence[str]) -> set[int]:
    """The lines of what an installer ran and shows, because it failed."""
    inside: set[int] = set()
    start: int | None = None
    for place, line in enumerate(lines):
        if start is None and _BOX[0].search(line):
            start = place
        elif start is not None and (_BOX[1].search(line) or place - start > 5000):
            inside.update(range(start + 1, place))
            start = None
    if start is not None:
        inside.update(range(start + 1, len(lines)))
    return inside


def _as_installing(event: Event) -> Event:
    kind: FailureKind = event.kind if event.kind in _KEPT_IN_BOX else "environment"
    return replace(event, kind=kind, family="installer", installing=True)
