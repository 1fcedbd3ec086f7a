"""What the page shows: for each phase its codes, with bars, tasks and evidence; links go to runs' reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from expbench.failure_coding import CoderAgreement
from expbench.failures import Codebook, Coded, FailureMap, Insight
from expbench.failures.codebook import Code
from expbench.failures.mapping import CodeShare
from expbench.report.attempts import anchor_of
from expbench.schema import Outcome

WIDTH = 320.0
_SHOWN = 200
"""Insights of one code that the page holds; the JSON has all."""


@dataclass(frozen=True)
class Evidence:
    """An insight as it is shown, and where it stands in the run's report."""

    coded: Coded
    link: str


@dataclass(frozen=True)
class Row:
    """One code with its bar: everything in units of the figure."""

    share: CodeShare
    code: Code | None
    anchor: str
    width: float
    low: float | None
    high: float | None
    published: float | None
    evidence: tuple[Evidence, ...]
    more: int
    tasks: int


@dataclass(frozen=True)
class PhaseRows:
    """One phase of the map."""

    phase: str
    insights: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class MapPage:
    """The map and how it is shown."""

    map: FailureMap
    book: Codebook
    phases: tuple[PhaseRows, ...]
    reports: Mapping[str, str]
    agreement: tuple[CoderAgreement, ...] = ()

    def title(self, code_id: str) -> str:
        """A code's title with its phase."""
        return f"{code_id.split('/')[0]}: {self.book.title(code_id)}"

    def anchor(self, code_id: str) -> str:
        """The name by which the page links to a code."""
        return anchor(code_id)


def anchor(code_id: str) -> str:
    """A code's id as a name of the page."""
    return "c-" + code_id.replace("/", "-")


def build(
    found: FailureMap,
    book: Codebook,
    runs: Mapping[str, Sequence[Outcome]],
    roots: Mapping[str, Path],
    dest: Path,
    agreement: Sequence[CoderAgreement] = (),
) -> MapPage:
    """The page of a map; ``roots`` are the runs' folders, beside whose reports it will stand."""
    reports = {
        name: Path(os.path.relpath(root.absolute() / "report/index.html", dest)).as_posix()
        for name, root in roots.items()
    }
    links = {
        (name, outcome.task_id, outcome.epoch): f"{reports[name]}#{anchor_of(at)}"
        for name, outcomes in runs.items()
        for at, outcome in enumerate(outcomes, 1)
    }
    codes = {code_id: code for code_id, _, _, code in book.codes()}
    phases = [
        _phase(part.phase, found, codes, links)
        for part in book.phases
        if found.of_phase(part.phase)
    ]
    return MapPage(found, book, tuple(phases), reports, tuple(agreement))


def _phase(
    phase: str,
    found: FailureMap,
    codes: Mapping[str, Code],
    links: Mapping[tuple[str, str, int], str],
) -> PhaseRows:
    rows = tuple(
        _row(share, codes.get(share.code), found, links) for share in found.of_phase(phase)
    )
    return PhaseRows(phase, rows[0].share.insights.of, rows)


def _link(insight: Insight, links: Mapping[tuple[str, str, int], str]) -> str:
    attempt = links[insight.run, insight.task_id, insight.epoch]
    return f"{attempt}-{insight.anchor}" if insight.anchor else attempt


def _row(
    share: CodeShare,
    code: Code | None,
    found: FailureMap,
    links: Mapping[tuple[str, str, int], str],
) -> Row:
    members = [found.coded[at] for at in share.members]
    ends = share.insights.interval
    return Row(
        share=share,
        code=code,
        anchor=anchor(share.code),
        width=WIDTH * (share.insights.value or 0.0),
        low=None if ends.low is None else WIDTH * ends.low,
        high=None if ends.high is None else WIDTH * ends.high,
        published=None if share.published is None else WIDTH * share.published,
        evidence=tuple(Evidence(each, _link(each.insight, links)) for each in members[:_SHOWN]),
        more=max(0, len(members) - _SHOWN),
        tasks=len({(each.insight.run, each.insight.task_id) for each in members}),
    )
