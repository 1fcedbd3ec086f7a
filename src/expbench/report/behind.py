"""What stands behind headline numbers: every metric by every rule of what it is of, and several epochs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from expbench.metrics import Denominator, Metric, Repeat
from expbench.report.text import of_text, percent, span

RULES: tuple[Denominator, ...] = get_args(Denominator)
_MOST_K = 5
"""Of more attempts only the largest number is shown beside these."""


@dataclass(frozen=True)
class RuleCell:
    """A metric by one rule; ``own`` where this is the rule of the metric's definition."""

    value: str
    of: str
    interval: str
    unscored: int
    own: bool


@dataclass(frozen=True)
class RuleRow:
    """A metric by all rules, with how alike the tasks of a paper are in it by its own."""

    label: str
    title: str
    cells: tuple[RuleCell, ...]
    icc: str
    effective: str


@dataclass(frozen=True)
class RepeatRow:
    """A share if there were several attempts: pass@k and pass^k for each k of the table."""

    label: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Repeats:
    """The table of all shares; ``tasks`` has for each k those with so many scored attempts."""

    ks: tuple[int, ...]
    rows: tuple[RepeatRow, ...]


def rule_rows(own: Iterable[Metric], denominators: Sequence[Metric]) -> tuple[RuleRow, ...]:
    """Every metric by every rule, in the order of ``own``."""
    by_rule = {(each.key, each.over): each for each in denominators}
    return tuple(
        RuleRow(
            label=metric.label,
            title=metric.title,
            cells=tuple(_cell(by_rule[metric.key, rule], metric) for rule in RULES),
            icc="–" if metric.icc is None else f"{metric.icc:.2f}",
            effective=f"{metric.effective_n:.1f} of {metric.tasks}" if metric.tasks else "–",
        )
        for metric in own
        if (metric.key, metric.over) in by_rule
    )


def repeat_table(found: Sequence[Repeat]) -> Repeats | None:
    """pass@k and pass^k of every share; nothing where no task has two scored attempts."""
    most = max((each.k for each in found), default=0)
    if most < 2:
        return None
    ks = tuple(k for k in range(1, most + 1) if k <= _MOST_K or k == most)
    by_k = {(each.key, each.k): each for each in found}
    labels = {each.key: each.label for each in found}
    rows = (
        RepeatRow(label, tuple(_pair(by_k.get((key, k))) for k in ks))
        for key, label in labels.items()
    )
    return Repeats(ks, tuple(rows))


def _cell(metric: Metric, own: Metric) -> RuleCell:
    return RuleCell(
        value=percent(metric.value),
        of=of_text(metric),
        interval=span(metric.interval.low, metric.interval.high),
        unscored=metric.unscored,
        own=metric.over == own.over,
    )


def _pair(repeat: Repeat | None) -> tuple[str, str]:
    if repeat is None:
        return "–", ""
    tasks = f"{repeat.tasks} tasks"
    if repeat.k == 1:
        return percent(repeat.any_right), tasks
    return f"{percent(repeat.any_right)} / {percent(repeat.all_right)}", tasks
