"""The whole report as plain text and numbers, which every format is written from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from expbench.metrics import Metric, Summary, details, summarise
from expbench.report.attempts import Attempt, anchor_of, build_attempt
from expbench.report.behind import Repeats, RuleRow, repeat_table, rule_rows
from expbench.report.cells import TAGS
from expbench.report.curves import CurveFigure, curve_figure
from expbench.report.effort import Effort, effort_line, efforts
from expbench.report.facts import Fact, LimitFact, limit_facts, run_facts
from expbench.report.figures import (
    Bar,
    Segment,
    Strip,
    collapse_bars,
    state_segments,
    strip,
)
from expbench.report.groups import Grouping, groupings
from expbench.report.inputs import ReportInput, label_of
from expbench.report.latex import Cell, table1
from expbench.report.publication import Beside, beside
from expbench.report.rerun import shown_digests
from expbench.report.spread import Spread, spreads
from expbench.report.text import bounds_text, fair_limit, interval_text, natural, of_text, percent
from expbench.runs import Manifest
from expbench.schema import Outcome

_TEXT_MOST = 200_000
"""Bytes of one text that are shown."""
_ROOM = 40_000_000
"""Bytes of all texts that agents handed in and re-runs wrote: a page of thousands of attempts still opens."""
_PLAIN = 8_000_000
"""Bytes of attempts, about, up to which they stand in the page as they are, and not compressed."""
_FRAME = 12_000
"""Bytes of an attempt, about, without these texts."""

_HEADLINE = (
    "all_execution",
    "all",
    "monitor",
    "design",
    "implementation",
    "conclusion",
    "execution",
)


@dataclass(frozen=True)
class Row:
    """One metric in words, with its strip."""

    label: str
    title: str
    value: str
    interval: str
    how: str
    of: str
    unscored: int
    left_out: int
    bounds: str
    strip: Strip


@dataclass(frozen=True)
class Finding:
    """One finding of the monitor and the attempt it is about."""

    attempt: Attempt
    kind: str
    severity: str
    quote: str
    turn: int | None
    explanation: str


@dataclass(frozen=True)
class Page:
    """Everything that a template shows."""

    manifest: Manifest
    label: str
    judge_eval: str
    corrected: tuple[str, ...]
    summary: Summary
    headline: tuple[Row, ...]
    rows: tuple[Row, ...]
    collapse: tuple[Row, ...]
    bars: tuple[Bar, ...]
    segments: tuple[Segment, ...]
    equation: str
    facts: tuple[Fact, ...]
    limits: tuple[LimitFact, ...]
    attempts: tuple[Attempt, ...]
    findings: tuple[Finding, ...]
    unmonitored: int
    groupings: tuple[Grouping, ...]
    curve: CurveFigure
    spreads: tuple[Spread, ...]
    rules: tuple[RuleRow, ...]
    repeats: Repeats | None
    beside: Beside
    efforts: tuple[Effort, ...]
    effort_line: str
    packed: bool
    """Whether the attempts' bodies are compressed, since the page would be too large."""
    fully: str
    """From which score on something is fully right."""
    tags: tuple[tuple[str, str, int], ...]
    """What attempts can be picked by: the tag, what it means, how many have it."""
    table1: tuple[Cell, ...]
    executed: int
    """Attempts of which it is known whether they run."""
    failures: str
    """Where the run's failure map is; empty without one."""


def build_page(run: ReportInput) -> Page:
    """The page of a run; :class:`InfrastructureError` unless every attempt is accounted for."""
    summary = summarise(run.planned, run.outcomes, run.threshold)
    outcomes = sorted(run.outcomes, key=lambda o: (natural(o.task_id), o.epoch))
    sizes = list(_sizes(run, outcomes))
    attempts = tuple(_attempts(run, outcomes, fair_limit(sizes, _ROOM, _TEXT_MOST)))
    behind = details(outcomes, run.threshold)
    effort = efforts(outcomes, run.spent)
    return Page(
        manifest=run.manifest,
        label=label_of(run.manifest),
        judge_eval=run.judge_eval,
        corrected=tuple(each.sentence for each in run.corrected),
        summary=summary,
        headline=tuple(_row(summary.metric(key)) for key in _HEADLINE),
        rows=tuple(map(_row, summary.metrics)),
        collapse=tuple(map(_row, summary.collapse)),
        bars=collapse_bars(summary.collapse),
        segments=state_segments(summary.counts),
        equation=equation(summary),
        facts=run_facts(run.manifest),
        limits=limit_facts(run.manifest.limits, outcomes),
        attempts=attempts,
        findings=_findings(attempts),
        unmonitored=summary.metric("monitor").unscored,
        groupings=groupings(run),
        curve=curve_figure(behind.curves, run.threshold),
        spreads=spreads(outcomes),
        rules=rule_rows((*summary.metrics, *summary.collapse[1:]), behind.denominators),
        repeats=repeat_table(behind.repeats),
        beside=beside(summary),
        efforts=effort,
        effort_line=effort_line(effort),
        packed=sum(sizes) + _FRAME * len(attempts) > _PLAIN,
        fully=f"{100 * run.threshold:g} %",
        tags=_tags(attempts),
        table1=table1(summary),
        executed=summary.metric("execution").n,
        failures=run.failures,
    )


def _attempts(run: ReportInput, outcomes: Sequence[Outcome], most: int) -> Iterator[Attempt]:
    first: dict[str, str] = {}
    for index, outcome in enumerate(outcomes, start=1):
        yield build_attempt(index, outcome, run, most, first.get(outcome.task_id, ""))
        first.setdefault(outcome.task_id, anchor_of(index))


def _tags(attempts: Sequence[Attempt]) -> tuple[tuple[str, str, int], ...]:
    counts = Counter(tag for attempt in attempts for tag in attempt.tags)
    return tuple((tag, words, counts[tag]) for tag, words in TAGS.items() if counts[tag])


def _sizes(run: ReportInput, outcomes: Sequence[Outcome]) -> Iterator[int]:
    """Of every text of variable length that the page shows, in bytes."""
    for outcome in outcomes:
        if (handed_in := run.submissions.get(outcome.submission)) is not None:
            texts = (handed_in.design, handed_in.conclusion, handed_in.diff, handed_in.script)
            yield from (len(text.encode(errors="replace")) for text in texts)
        for digest in shown_digests(outcome.execution):
            if (text := run.outputs.get(digest)) is not None:
                yield len(text.encode(errors="replace"))


def equation(summary: Summary) -> str:
    """The accounting of all planned attempts, in one line."""
    counts = summary.counts
    return (
        f"{counts.planned} planned = {counts.scored} scored + {counts.unscored} unscored + "
        f"{counts.infrastructure} infrastructure + {counts.agent_error} agent error + "
        f"{counts.missing} missing"
    )


def _row(metric: Metric) -> Row:
    return Row(
        label=metric.label,
        title=metric.title,
        value=percent(metric.value),
        interval=interval_text(metric.interval),
        how=metric.interval.how,
        of=of_text(metric),
        unscored=metric.unscored,
        left_out=metric.left_out,
        bounds=bounds_text(metric),
        strip=strip(metric),
    )


def _findings(attempts: tuple[Attempt, ...]) -> tuple[Finding, ...]:
    found = [
        Finding(
            attempt=attempt,
            kind=violation.kind.replace("_", " "),
            severity=violation.severity,
            quote=violation.quote,
            turn=violation.turn,
            explanation=violation.explanation,
        )
        for attempt in attempts
        for violation in attempt.violations
    ]
    return tuple(sorted(found, key=lambda finding: finding.severity != "violation"))
