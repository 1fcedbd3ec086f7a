"""The whole report as plain text and numbers, which every format is written from."""

from __future__ import annotations

from dataclasses import dataclass

from expbench.metrics import Metric, Summary, summarise
from expbench.report.attempts import Attempt, build_attempt
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
from expbench.report.text import bounds_text, interval_text, natural, of_text, percent
from expbench.runs import Manifest

_TEXT_MOST = 200_000
"""Bytes of one text that are shown."""
_PAGE_MOST = 32_000_000
"""Bytes that one text of each attempt may take over all attempts: browsers open such a page."""

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
    table1: tuple[Cell, ...]
    executed: int
    """Attempts of which it is known whether they run."""


def build_page(run: ReportInput) -> Page:
    """The page of a run; :class:`InfrastructureError` unless every attempt is accounted for."""
    summary = summarise(run.planned, run.outcomes)
    outcomes = sorted(run.outcomes, key=lambda o: (natural(o.task_id), o.epoch))
    most = min(_TEXT_MOST, _PAGE_MOST // max(1, len(outcomes)))
    attempts = tuple(
        build_attempt(index, outcome, run, most) for index, outcome in enumerate(outcomes, start=1)
    )
    return Page(
        manifest=run.manifest,
        label=label_of(run.manifest),
        judge_eval=run.judge_eval,
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
        table1=table1(summary),
        executed=summary.metric("execution").n,
    )


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
