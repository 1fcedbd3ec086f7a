"""The tables of ``expbench compare``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.allocator import uncollected
from expbench.contrast import Comparison, MetricChange, Side, compare
from expbench.report.inputs import label_of
from expbench.report.text import percent, printable
from expbench.scores import load_scores

LONGEST = 200
"""Tasks that a terminal is shown; ``--json`` has all."""


@uncollected()
def compare_runs(first: Path, second: Path, threshold: float, force: bool, as_json: bool) -> int:
    """Compare two runs and print it. Raises UserError where they may not be compared."""
    runs = load_scores(first), load_scores(second)
    found = compare(*runs, force=force, threshold=threshold)
    console = Console()
    if as_json:
        text = found.model_dump_json(indent=1)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return 0
    label = next(filter(None, (label_of(run.manifest) for run in runs)), "")
    console.print(_metrics(found, label))
    console.print(_tasks(found))
    return 0


def _metrics(found: Comparison, label: str) -> Table:
    title = f"{_name(found.second)} against {_name(found.first)}"
    table = Table(title=_plain(title), caption=_caption(found, label), caption_justify="left")
    table.add_column("Metric", no_wrap=True)
    headings = ("First\n→ second", "Difference\n95 % interval", "p\nHolm", "Better/worse\nof tasks")
    for heading in (*headings, "Unscored\nbounds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found.metrics:
        table.add_row(_plain(each.label), *_cells(each))
    return table


def _cells(change: MetricChange) -> tuple[str, ...]:
    """Two lines each, so that the table fits a terminal of 80 columns."""
    pair, bounds = change.paired, change.bounds
    interval = pair.interval
    bounded = bounds is not None and change.unscored
    return (
        f"{percent(change.first)}\n→ {percent(change.second)}",
        f"{_points(pair.difference)}\n{_span(interval.low, interval.high)}",
        f"{_p(pair.p)}\n{_p(change.p_holm)}",
        f"{pair.better}/{pair.worse}\nof {pair.tasks}",
        f"{change.unscored}\n{_span(bounds.low, bounds.high) if bounds and bounded else ''}",
    )


def _without_interval(metrics: Sequence[MetricChange]) -> Iterator[str]:
    """Why some have no interval, each reason once."""
    reasons: dict[str, list[str]] = {}
    for each in metrics:
        if each.paired.interval.low is None:
            reasons.setdefault(each.paired.interval.how, []).append(each.label)
    for reason, labels in reasons.items():
        which = "all metrics" if len(labels) == len(metrics) else ", ".join(labels)
        yield f"{reason[:1].upper()}{reason[1:]}: {which}."


def _tasks(found: Comparison) -> Table:
    shown = found.changes[:LONGEST]
    more = len(found.changes) - len(shown)
    caption = f"{more} more: --json has them." if more else None
    title = f"{len(found.changes)} of {found.tasks} tasks changed"
    table = Table(title=title, caption=caption, caption_justify="left")
    table.add_column("Task", overflow="fold")
    table.add_column("First → second")
    for change in shown:
        parts = [f"{s.label} {percent(s.first)} → {percent(s.second)}" for s in change.scores]
        table.add_row(_plain(change.task_id), _plain(", ".join(parts)))
    return table


def _caption(found: Comparison, label: str) -> Text:
    lines = [label] if label else []
    if found.unlike:
        lines.append("NOT COMPARABLE, shown because of --force. What differs:")
        lines += [f"  {each.kind}: {each.text}" for each in found.unlike]
    lines += [
        f"First {_name(found.first)}: {_ends(found.first)}.",
        f"Second {_name(found.second)}: {_ends(found.second)}.",
        f"{found.tasks} tasks are in both{_alone(found.only_first, 'first')}"
        f"{_alone(found.only_second, 'second')}; differences in percentage points.",
        *_without_interval(found.metrics),
        "Also not alike: " + "; ".join(found.notes) + "." if found.notes else "",
    ]
    return _plain("\n".join(filter(None, lines)))


def _ends(side: Side) -> str:
    counts = side.counts.model_dump(exclude={"planned"})
    parts = [f"{number} {name.replace('_', ' ')}" for name, number in counts.items()]
    return f"{side.counts.planned} planned = {' + '.join(parts)}"


def _alone(tasks: Sequence[str], which: str) -> str:
    return f", {len(tasks)} only in the {which}" if tasks else ""


def _name(side: Side) -> str:
    return f"{side.run} ({side.agent}{f' with {side.model}' if side.model else ''})"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f}"


def _span(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "–"
    return f"{_points(low)} … {_points(high)}"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _plain(text: str) -> Text:
    return Text(printable(text))
