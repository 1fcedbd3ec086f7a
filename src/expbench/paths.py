"""Every path, named once.

A run's folder::

    runs/NAME/
    ├── manifest.json       what was asked, and with which versions        (Manifest)
    ├── journal.jsonl       submissions and outcomes as they were finished (append only)
    ├── ledger.jsonl        every request to a model, with tokens and dollars (append only)
    ├── prices.json         the prices that the user gave, if any
    ├── outcomes.jsonl      one line per task and epoch                     (Outcome)
    ├── .pulse.json         what the harness at work is doing, while there is one  (Pulse)
    ├── logs/*.eval         Inspect's logs, one per attempt
    ├── store/ab/cdef…      patches, scripts, outputs, trajectories by sha256
    ├── reviews/*.jsonl     what each reviewer said of verdicts and findings (append only)
    ├── report/             index.html, report.md, outcomes.csv
    ├── judged/NAME/        the same submissions judged again: a manifest, journal and outcomes of its own
    ├── executed/NAME/      the same submissions executed again, likewise
    └── reproduced/NAME/    all scores once more, likewise

The user's cache::

    ~/.cache/expbench/
    ├── data/               released data sets
    ├── repos/              bare repositories at their pinned commits
    │   └── trees/          their files, written once and shared, and the tasks' layers over them
    ├── envs/               Python environments for sandboxes, by digest
    ├── agents/             agents' own programs, by digest
    ├── downloads/          what package indexes gave, for all sandboxes
    ├── verdicts/           what judges decided, by digest of the question
    ├── gpus/               a lock for each GPU that is in use
    ├── owners/             a lock for each harness at work
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
    def matrix(self) -> Path:
        """In a folder of runs that were begun at once: names them."""
        return self.root / "matrix.json"

    @property
    def journal(self) -> Path:
        return self.root / "journal.jsonl"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.jsonl"

    @property
    def prices(self) -> Path:
        return self.root / "prices.json"

    @property
    def outcomes(self) -> Path:
        return self.root / "outcomes.jsonl"

    @property
    def base(self) -> Path:
        """The folder of the run that was judged or executed again; of any other run its own."""
        root = self.root.absolute()
        again = root.parent.name in ("judged", "executed", "reproduced")
        return root.parent.parent if again else self.root

    @property
    def judged(self) -> Path:
        return self.root / "judged"

    @property
    def executed(self) -> Path:
        return self.root / "executed"

    @property
    def reproduced(self) -> Path:
        return self.root / "reproduced"

    @property
    def logs(self) -> Path:
        return self.base / "logs"

    @property
    def store(self) -> Path:
        return self.base / "store"

    @property
    def report(self) -> Path:
        return self.root / "report"

    @property
    def pulse(self) -> Path:
        return self.root / ".pulse.json"

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
    def environments(self) -> Path:
        """Those of single tasks."""
        return self.envs / "tasks"

    @property
    def agents(self) -> Path:
        return self.root / "agents"

    @property
    def downloads(self) -> Path:
        return self.root / "downloads"

    @property
    def verdicts(self) -> Path:
        return self.root / "verdicts"

    @property
    def gpus(self) -> Path:
        return self.root / "gpus"

    @property
    def owners(self) -> Path:
        return self.root / "owners"

    @property
    def work(self) -> Path:
        return self.root / "work"
