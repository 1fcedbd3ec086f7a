"""Every path, named once.

A run's folder::

    runs/NAME/
    ├── manifest.json       what was asked, and with which versions        (Manifest)
    ├── journal.jsonl       submissions and outcomes as they were finished (append only)
    ├── outcomes.jsonl      one line per task and epoch                     (Outcome)
    ├── logs/*.eval         Inspect's logs, one per attempt
    ├── store/ab/cdef…      patches, scripts, outputs, trajectories by sha256
    └── report/             index.html, report.md, outcomes.csv

The user's cache::

    ~/.cache/expbench/
    ├── data/               released data sets
    ├── repos/              bare repositories at their pinned commits
    │   └── trees/          their files, written once and shared, and the tasks' layers over them
    ├── envs/               Python environments for sandboxes, by digest
    └── work/               workspaces of running tasks, removed when they end
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunPaths:
    """The files of one run."""

    root: Path

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def journal(self) -> Path:
        return self.root / "journal.jsonl"

    @property
    def outcomes(self) -> Path:
        return self.root / "outcomes.jsonl"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def report(self) -> Path:
        return self.root / "report"

    @property
    def lock(self) -> Path:
        return self.root / ".lock"


@dataclass(frozen=True)
class CachePaths:
    """The user's cache."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def repos(self) -> Path:
        return self.root / "repos"

    @property
    def envs(self) -> Path:
        return self.root / "envs"

    @property
    def work(self) -> Path:
        return self.root / "work"
