"""A run as a row of the publication's Table 1, for LaTeX.

Agents' and models' names are hostile here too: a backslash in one would be a command of the reader's paper.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from expbench.metrics import Summary
from expbench.report.text import one_line, printable

TABLE1 = (
    "design",
    "implementation",
    "execution",
    "implementation_execution",
    "conclusion",
    "all",
    "all_execution",
)
"""The metrics of the publication's Table 1, in its order, by key."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "·": r"$\cdot$",
    "–": "--",
    **{sign: f"\\{sign}" for sign in "{}$&#_%"},
}
_SIGNS = re.compile("|".join(map(re.escape, _SPECIAL)))


@dataclass(frozen=True)
class Cell:
    """One metric: its label, its value and its interval in per cent."""

    label: str
    value: str
    interval: str


def table1(summary: Summary) -> tuple[Cell, ...]:
    """The cells of the row; a dash where nothing was scored."""
    found = []
    for key in TABLE1:
        metric = summary.metric(key)
        ends = (metric.interval.low, metric.interval.high)
        low, high = (_number(end) for end in ends)
        interval = f"[{low}, {high}]" if None not in ends else "–"
        found.append(Cell(metric.label, _number(metric.value), interval))
    return tuple(found)


def latex_safe(value: object) -> object:
    """Text in which nothing is a command of LaTeX, in one line."""
    if not isinstance(value, str):
        return value
    line = printable(one_line(value, most=1000))
    return _SIGNS.sub(lambda match: _SPECIAL[match[0]], line)


def _number(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
