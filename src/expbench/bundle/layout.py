"""What a bundle looks like, for the one who makes it and the one who reads it.

A gzipped tar. Its first member is ``BUNDLE.json``, an :class:`Index`: the list of all other members with
their sizes and digests, in the order in which they follow. Every member is a regular file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from expbench.errors import DataError
from expbench.metrics import Summary
from expbench.packing.layout import PackedFile, digest_in, shown
from expbench.schema import Record, Submission

INDEX = "BUNDLE.json"
SUFFIX = ".bundle.tar.gz"
MANIFEST = "manifest.json"
OUTCOMES = "outcomes.jsonl"
SUBMISSIONS = "submissions.jsonl"
TASKS = "tasks.json"
JUDGE_EVAL = "judge-eval.json"
LEDGER = "ledger.json"
CLAIMS = "claims.json"
SEALED = "sealed.bin"
RECORDS = (MANIFEST, OUTCOMES, SUBMISSIONS, TASKS, JUDGE_EVAL, LEDGER, CLAIMS)
"""What every bundle has."""
TRUTH = "truth.json"
"""In the sealed part: the tasks with their ground truth."""

_RECORD_CAP = 64 * 1024**2
_OUTCOMES_CAP = 1024**3
_ALL_CAP = 8 * 1024**3
_FILES_CAP = 200_000
_NAME = re.compile(
    "|".join(map(re.escape, (*RECORDS, SEALED))) + r"|store/[0-9a-f]{2}/[0-9a-f]{62}"
)
_SEALED_NAME = re.compile(
    rf"{re.escape(OUTCOMES)}|{re.escape(TRUTH)}|store/[0-9a-f]{{2}}/[0-9a-f]{{62}}"
)


class Index(Record):
    """The list at a bundle's beginning. ``expbench`` is the version that made it of the run ``run``."""

    format: Literal[1] = 1
    kind: Literal["bundle", "sealed"] = "bundle"
    expbench: str
    run: str
    files: tuple[PackedFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


class SubmissionLine(Record):
    """What an agent handed in for one attempt."""

    task_id: str
    epoch: int
    submission: Submission


class Claims(Record):
    """What the submitter says of the run; all of it is computed again and must be the same."""

    expbench: str
    suite: str
    suite_version: str
    data_version: str
    errata: str
    agent: str
    model: str
    judge: str
    summary: Summary


def misplaced(name: str) -> str:
    """Why a member's name is no name of a bundle's file; empty when it is one."""
    return _misplaced(name, _NAME)


def misplaced_sealed(name: str) -> str:
    """The same for the sealed part."""
    return _misplaced(name, _SEALED_NAME)


def check_index(index: Index, where: Path) -> None:
    """Refuse a list that no bundle has. Raises DataError with the reason."""
    look = misplaced if index.kind == "bundle" else misplaced_sealed
    seen: set[str] = set()
    for file in index.files:
        why = look(file.name)
        if not why and file.name in seen:
            why = "stands in it twice"
        if not why and file.name.startswith("store/") and file.sha256 != digest_in(file.name):
            why = "has a name that is not its digest"
        if not why and file.size > _cap(file.name):
            why = f"has {file.size} bytes, over {_cap(file.name)}"
        if why:
            raise DataError(f"{where} is refused: {shown(file.name)} {why}.")
        seen.add(file.name)
    if len(index.files) > _FILES_CAP or index.size > _ALL_CAP:
        raise DataError(
            f"{where} is refused: it has {len(index.files)} files with {index.size} bytes, and at most "
            f"{_FILES_CAP} with {_ALL_CAP} are read."
        )
    if index.kind == "bundle" and (missing := [name for name in RECORDS if name not in seen]):
        raise DataError(f"{where} is refused: it holds no {missing[0]}.")


def _cap(name: str) -> int:
    if name in (OUTCOMES, SUBMISSIONS):
        return _OUTCOMES_CAP
    return _RECORD_CAP if name in RECORDS else _ALL_CAP


def _misplaced(name: str, names: re.Pattern[str]) -> str:
    if name.startswith("/"):
        return "is an absolute name"
    if ".." in name.split("/"):
        return "leads out of the bundle"
    return "" if names.fullmatch(name) else "is no file of a bundle"
