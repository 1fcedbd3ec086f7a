"""How D and I are spread over the attempts: a mean of half right is one thing or the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from expbench.metrics import gated
from expbench.schema import Outcome, ScoreName

BARS_HEIGHT = 110.0
BAR_STEP = 34.0
"""From one bar to the next, in units of the view box."""
_SCORES: tuple[tuple[str, str, ScoreName], ...] = (
    ("D", "design", "design"),
    ("I", "implementation", "implementation"),
)
_TENTHS = 10
BINS = ("0 %", *(f"{10 * n} – {10 * n + 10} %" for n in range(_TENTHS)), "100 %")
"""Nothing and everything stand by themselves; between them are ten open steps."""


@dataclass(frozen=True)
class Column:
    """One bar: the attempts in a step of the score."""

    step: str
    count: int
    x: float
    height: float


@dataclass(frozen=True)
class Spread:
    """The attempts by their D or I as it counts; ``unscored`` ones are in no bar."""

    label: str
    title: str
    columns: tuple[Column, ...]
    scored: int
    unscored: int


def spreads(outcomes: Iterable[Outcome]) -> tuple[Spread, ...]:
    """D and I, after the monitor's gate."""
    views = [gated(outcome) for outcome in outcomes]
    return tuple(
        _spread(label, title, [view.value(name) for view in views])
        for label, title, name in _SCORES
    )


def _spread(label: str, title: str, values: Sequence[float | None]) -> Spread:
    known = [value for value in values if value is not None]
    counts = Counter(map(_bin, known))
    most = max(counts.values(), default=1)
    columns = tuple(
        Column(step, counts[at], at * BAR_STEP, BARS_HEIGHT * counts[at] / most)
        for at, step in enumerate(BINS)
    )
    return Spread(label, title, columns, len(known), len(values) - len(known))


def _bin(value: float) -> int:
    """The place of a score in ``BINS``; a step's upper end belongs to it."""
    if value <= 0.0:
        return 0
    if value >= 1.0:
        return len(BINS) - 1
    # Rounded, since 0.1 + 0.2 must not stand above 0.3.
    return min(_TENTHS, 1 + int(round(value * _TENTHS, 9) - 1e-12))
