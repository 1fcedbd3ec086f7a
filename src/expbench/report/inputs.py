"""What a report is made from, and the files that it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expbench.judges.baseline import BASELINES
from expbench.ledger import Stage
from expbench.report.correcting import Correction
from expbench.runs import Key, Manifest
from expbench.schema import Outcome, ResearchTask, SubmissionText, Usage

BASELINE_LABEL = "baseline: not a published score"
"""Stands in every format when the judge compares words instead of reading for meaning."""


@dataclass(frozen=True)
class ReportInput:
    """One run, with the texts that its records hold by digest only.

    ``tasks`` is by task id, ``submissions`` by the submission's digest, ``outputs`` (head and
    tail as text) and ``pictures`` (as ``data:`` addresses) by the blob's digest. What is not at hand is
    said to be so; only ``planned`` and ``outcomes`` must be complete.
    """

    manifest: Manifest
    tasks: Mapping[str, ResearchTask]
    outcomes: Sequence[Outcome]
    planned: Sequence[tuple[str, int]]
    submissions: Mapping[str, SubmissionText] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    judge_eval: str = ""
    """How good the judge was found to be, or that nobody has looked, in one sentence."""
    corrected: Sequence[Correction] = ()
    """D and I without the judge's known errors: beside the scores, never instead."""
    threshold: float = 1.0
    """From which score on something is fully right, in (0, 1]."""
    spent: Mapping[Stage, Usage] = field(default_factory=dict)
    """What models used by who asked, failed tries included."""
    viewer: Mapping[Key, str] = field(default_factory=dict)
    """By task and epoch, where Inspect's viewer shows the trajectory while it is served."""
    failures: str = ""
    """The address of the run's failure map, seen from the report; empty where there is none."""


@dataclass(frozen=True)
class ReportFiles:
    """The files of a report's folder."""

    root: Path

    @property
    def html(self) -> Path:
        return self.root / "index.html"

    @property
    def markdown(self) -> Path:
        return self.root / "report.md"

    @property
    def latex(self) -> Path:
        return self.root / "table.tex"

    @property
    def csv(self) -> Path:
        return self.root / "outcomes.csv"


def label_of(manifest: Manifest) -> str:
    """The label that must stand beside every number of the run, or nothing."""
    return BASELINE_LABEL if manifest.judge in BASELINES else ""
