"""Python's tracebacks in a program's output: what was raised, out of what, and which lines are theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

_HEADER = re.compile(
    r"^(?P<prefix>.*?)(?P<group>Exception Group )?Traceback \(most recent call last\)"
)
_RAISED = re.compile(r"^(?:[A-Za-z_]\w*\.)*(?:<locals>\.)?[A-Za-z_]\w*(?::\s|:$|$)")
_LOGGED = re.compile(r"\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|EXCEPTION)\b")
_LINKS: dict[str, Literal["cause", "context"]] = {
    "The above exception was the direct cause": "cause",
    "During handling of the above exception": "context",
}
_CONTINUED = 6
_LOOK_AHEAD = 400


@dataclass(frozen=True)
class Raised:
    """An exception at a traceback's end. ``text`` is its type without the module, and the whole message.

    ``link`` says how it came out of the one before it in its chain. ``logged``: something caught it and
    printed it; ``ignored``: Python itself went on. ``starting``: it came from starting a program.
    """

    place: int
    line: str
    text: str
    link: Literal["", "cause", "context"] = ""
    logged: bool = False
    ignored: bool = False
    starting: bool = False


@dataclass(frozen=True)
class Tracebacks:
    """All of a stream, as chains; ``inside`` are the lines that belong to them."""

    chains: tuple[tuple[Raised, ...], ...]
    inside: frozenset[int]


def tracebacks(lines: Sequence[str]) -> Tracebacks:
    """Find them. One that was cut off before its end is left out."""
    chains: list[list[Raised]] = []
    inside: set[int] = set()
    link: Literal["", "cause", "context"] = ""
    ended = -10
    place = 0
    while place < len(lines):
        header = _HEADER.match(lines[place])
        if header is None:
            link = _linked(lines[place]) or link
            place += 1
            continue
        end = _end(lines, place, header["prefix"])
        inside.update(range(place, min(end, len(lines))))
        raised = _raised(lines, place, end, header["prefix"], link if place - ended < 6 else "")
        if raised is not None:
            inside.add(end)
            if raised.link and chains:
                chains[-1].append(raised)
            else:
                chains.append([raised])
            ended = end
        link = ""
        place = max(end, place + 1)
    return Tracebacks(tuple(map(tuple, chains)), frozenset(inside))


def short(line: str) -> str:
    """An exception's line without the module of its type."""
    name, colon, message = line.partition(":")
    return name.strip().rpartition(".")[2] + colon + message


def continued(lines: Sequence[str], place: int, prefix: str = "") -> str:
    """An exception's line with the lines of its message after it, in one."""
    return " ".join(_message(lines, place, prefix))[:1000]


def _message(lines: Sequence[str], place: int, prefix: str) -> Iterator[str]:
    yield lines[place].removeprefix(prefix).strip()
    for line in lines[place + 1 : place + 1 + _CONTINUED]:
        if _HEADER.match(line) or _linked(line) or (line and _RAISED.match(line)):
            return
        if not line.strip():
            return
        yield line.removeprefix(prefix).strip()


def _linked(line: str) -> Literal["", "cause", "context"]:
    return next((kind for start, kind in _LINKS.items() if start in line), "")


def _end(lines: Sequence[str], start: int, prefix: str) -> int:
    """The place of the first line that is neither a frame nor empty."""
    last = min(len(lines), start + 1 + _LOOK_AHEAD)
    for place in range(start + 1, last):
        line = _without(lines[place], prefix)
        if line and not line[0].isspace() and not line.startswith(("[Previous line", "+")):
            return place
    return last


def _without(line: str, prefix: str) -> str:
    """The line without what stood before the header, where that is repeated on every line."""
    return line[len(prefix) :] if prefix and line.startswith(prefix) else line


def _raised(
    lines: Sequence[str],
    start: int,
    end: int,
    prefix: str,
    link: Literal["", "cause", "context"],
) -> Raised | None:
    if end >= len(lines):
        return None
    line = _without(lines[end], prefix).strip()
    if not _RAISED.match(line):
        return None
    before = next((text for text in reversed(lines[max(0, start - 2) : start]) if text), "")
    repeated = prefix if lines[end].startswith(prefix) else ""
    return Raised(
        place=end,
        line=line,
        text=short(continued(lines, end, repeated)),
        link=link,
        logged=bool(_LOGGED.search(before[:80]) or _LOGGED.search(prefix)) and not link,
        ignored=before.startswith("Exception ignored in"),
        starting=any("_execute_child" in text for text in lines[max(start, end - 6) : end]),
    )
