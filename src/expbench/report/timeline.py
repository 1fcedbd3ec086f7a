"""The time line of a re-run: its processes as bars, the files that it wrote as ticks, in view-box units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from expbench.report.text import one_line, seconds
from expbench.schema import Execution, UsedProcess

WIDTH = 480.0
ROW = 18.0
_LABEL = 44
_BARS = 12
"""Processes that are drawn: those that took longest."""
_TICKS = 60
_THIN = 1.5


@dataclass(frozen=True)
class Span:
    """A process from when it was first seen to when it was last."""

    label: str
    title: str
    x: float
    y: float
    width: float


@dataclass(frozen=True)
class Tick:
    """A file when it was written last."""

    title: str
    x: float


@dataclass(frozen=True)
class Timeline:
    """All of it. ``end`` is how long the script took, in words; ``left_out`` processes are not drawn."""

    spans: tuple[Span, ...]
    ticks: tuple[Tick, ...]
    end: str
    height: float
    left_out: int


def timeline(execution: Execution | None) -> Timeline | None:
    """What is known of when things happened; ``None`` where nothing is."""
    total = execution.seconds if execution is not None else None
    if execution is None or not total:
        return None
    seen = (
        [p for p in execution.trace.processes if p.started is not None] if execution.trace else []
    )
    longest = sorted(seen, key=_lasted, reverse=True)[:_BARS]
    drawn = [each for each in seen if each in longest][:_BARS]
    spans = tuple(_spans(drawn, total))
    ticks = tuple(
        Tick(f"{each.path}, written at {seconds(each.written)}", _at(each.written, total))
        for each in execution.made[:_TICKS]
        if each.written is not None
    )
    if not spans and not ticks:
        return None
    height = ROW * (len(spans) + bool(ticks))
    return Timeline(spans, ticks, seconds(total), height, len(seen) - len(drawn))


def _spans(drawn: Sequence[UsedProcess], total: float) -> Iterator[Span]:
    for row, each in enumerate(drawn):
        begun, ended = each.started or 0.0, each.ended or 0.0
        x = _at(begun, total)
        yield Span(
            label=one_line(each.command, _LABEL),
            title=f"{each.command}: {seconds(begun)} to {seconds(ended)}",
            x=x,
            y=row * ROW,
            width=max(_THIN, _at(ended, total) - x),
        )


def _lasted(process: UsedProcess) -> float:
    return (process.ended or 0.0) - (process.started or 0.0)


def _at(moment: float, total: float) -> float:
    return min(moment / total, 1.0) * WIDTH
