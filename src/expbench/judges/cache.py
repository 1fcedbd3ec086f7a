"""Verdicts by digest of everything that shaped them, so that an equal question is asked once.

The digest is over the judge (its model with address and settings, its prompts, the version of this
package, the protocol, how many items a call has, which sample it is), the item, the whole deliverable
of its phase, the task as the judge reads it and what the agent had. One byte changed is another
question (R44). Repository files that the judge asked for are compared when its verdict is taken again;
a verdict on files that cannot be compared is not kept.

Only what was decided is kept: an unscored answer is asked for again. An entry is one small JSON file
with a digest of its own; a damaged one counts as none. A folder that cannot be written loses no
verdict: the judgement carries a warning.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from anyio import to_thread
from pydantic import Field, JsonValue, ValidationError

from expbench import __version__
from expbench.judges.base import PHASES, Judge, JudgeContext, decided_without_judge
from expbench.policy import Record
from expbench.redaction import without_secrets
from expbench.schema import (
    Judgement,
    Mark,
    Phase,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Verdict,
)
from expbench.workspace.store import open_regular

_PART = re.compile(r"@\d+(?::\d+)?$")
"""What the name of a file has behind it when a part of it was shown."""
_LARGEST = 4 * 1024**2
"""Bytes of an entry: a larger file is none of ours."""


class PromptedJudge(Judge, Protocol):
    """A judge that says which prompts it uses."""

    @property
    def prompt_digest(self) -> str:
        """sha256 over all of its prompts."""
        ...


class Kept(Record):
    """One entry: a verdict or a mark, and the repository files that it was given on (path: sha256)."""

    format: Literal[1] = 1
    verdict: Verdict | None = None
    mark: Mark | None = None
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """sha256 over the entry."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class _Entry(Record):
    digest: str
    kept: Kept


@dataclass(frozen=True)
class VerdictFolder:
    """Entries by key: ``ab/cdef….json``. Processes may use one at the same time."""

    root: Path

    def get(self, key: str) -> Kept | None:
        """The entry, or ``None`` where there is none that is whole."""
        try:
            with open_regular(self._path(key)) as file:
                entry = _Entry.model_validate_json(file.read(_LARGEST))
        except (OSError, ValidationError):
            return None
        return entry.kept if entry.digest == entry.kept.digest else None

    def put(self, key: str, kept: Kept) -> None:
        """Keep an entry; a kill leaves it whole or not there. Raises OSError."""
        kept = without_secrets(kept)
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".put-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_Entry(digest=kept.digest, kept=kept).model_dump_json().encode())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        return self.root / key[:2] / f"{key[2:]}.json"


@dataclass(frozen=True)
class _Question:
    """What is decided at once: an item, or by protocol ``paper`` a phase."""

    key: str
    name: str
    items: tuple[RubricItem, ...]


class CachedJudge:
    """Asks ``judge`` only what it was not asked before.

    ``shaped_by`` are the judge's settings, ``sample`` is the number of this answer among several to
    one question. With several items a call all items of the phase are part of the question, since each
    may colour the others.
    """

    def __init__(
        self,
        judge: PromptedJudge,
        folder: Path,
        shaped_by: Mapping[str, JsonValue],
        sample: int = 0,
        by_phase: bool = False,
        together: bool = False,
    ) -> None:
        self._judge = judge
        self._folder = VerdictFolder(folder)
        self._settings = {**shaped_by, "sample": sample, "version": __version__}
        self._by_phase = by_phase
        self._together = together

    @property
    def name(self) -> str:
        """The judge's own."""
        return self._judge.name

    @property
    def prompt_digest(self) -> str:
        """The judge's own."""
        return self._judge.prompt_digest

    async def judge(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None = None,
    ) -> Judgement:
        """What the judge decides, or decided earlier; ``cached`` counts the latter."""
        questions = self._questions(items, submission, task, context)
        known = await to_thread.run_sync(self._known, questions, context)
        found = {item.id for q in questions if q.key in known for item in q.items}
        missing = [item for item in items if item.id not in found]
        fresh = Judgement(judge=self.name, prompt_digest=self.prompt_digest)
        if missing:
            fresh = await self._judge.judge(missing, submission, task, context)
        failed = await to_thread.run_sync(self._keep, questions, known, fresh, context)
        verdicts = {verdict.item: verdict for verdict in fresh.verdicts}
        marks = {mark.phase: mark for mark in fresh.marks}
        for kept in known.values():
            if kept.verdict:
                verdicts[kept.verdict.item] = kept.verdict
            if kept.mark:
                marks[kept.mark.phase] = kept.mark
        return fresh.model_copy(
            update={
                "protocol": "paper" if self._by_phase else "itemised",
                "verdicts": tuple(verdicts[i.id] for i in items if i.id in verdicts),
                "marks": tuple(marks[phase] for phase in PHASES if phase in marks),
                "cached": len(known),
                "warnings": (*fresh.warnings, *failed),
            }
        )

    def _questions(
        self,
        items: Sequence[RubricItem],
        submission: SubmissionText,
        task: ResearchTask,
        context: JudgeContext | None,
    ) -> list[_Question]:
        """What needs a judge, each with the digest of all that shapes the answer."""
        without = decided_without_judge(items, submission)
        asked = [item for item in items if item.id not in without]
        shared: dict[str, object] = {
            "judge": self.name,
            "prompts": self.prompt_digest,
            "settings": self._settings,
            "task": _task(task, whole=self._by_phase),
            "masked": list(context.masked) if context else None,
            "files": list(context.files) if context else None,
        }
        questions = []
        for phase in dict.fromkeys(item.phase for item in asked):
            own = tuple(item for item in asked if item.phase == phase)
            beside = _dumped(own) if self._together else None
            frame = _digest(
                {**shared, "submission": _deliverable(submission, phase), "beside": beside}
            )
            groups = [(phase, own)] if self._by_phase else [(item.id, (item,)) for item in own]
            questions += [
                _Question(_digest({"frame": frame, "items": _dumped(group)}), name, group)
                for name, group in groups
            ]
        return questions

    def _known(
        self, questions: Iterable[_Question], context: JudgeContext | None
    ) -> dict[str, Kept]:
        found = {}
        for question in questions:
            kept = self._folder.get(question.key)
            if kept and _fits(kept, question) and _unchanged(kept, context):
                found[question.key] = kept
        return found

    def _keep(
        self,
        questions: Iterable[_Question],
        known: Mapping[str, Kept],
        fresh: Judgement,
        context: JudgeContext | None,
    ) -> tuple[str, ...]:
        """Keep what was decided now; a sentence for what could not be kept."""
        verdicts = {verdict.item: verdict for verdict in fresh.verdicts}
        marks: dict[str, Mark] = {mark.phase: mark for mark in fresh.marks}
        try:
            for question in questions:
                if question.key in known:
                    continue
                verdict, mark = verdicts.get(question.name), marks.get(question.name)
                if verdict and verdict.state != "unscored":
                    files = _files(verdict, context)
                    known_files = {name: digest for name, digest in files.items() if digest}
                    if len(known_files) == len(files):
                        self._folder.put(question.key, Kept(verdict=verdict, files=known_files))
                elif mark and mark.value is not None:
                    self._folder.put(question.key, Kept(mark=mark))
        except OSError as error:
            return (f"Verdicts could not be kept in {self._folder.root}: {error.strerror}.",)
        return ()


def _fits(kept: Kept, question: _Question) -> bool:
    if kept.mark:
        return kept.mark.phase == question.name and kept.mark.value is not None
    verdict = kept.verdict
    return bool(verdict and verdict.item == question.name and verdict.state != "unscored")


def _unchanged(kept: Kept, context: JudgeContext | None) -> bool:
    """Whether the repository files that the judge asked for are still what it was given."""
    return kept.verdict is None or kept.files == _files(kept.verdict, context)


def _files(verdict: Verdict, context: JudgeContext | None) -> dict[str, str | None]:
    """The files that the judge asked for, with the digest of each; ``None`` if it cannot be had."""
    names = verdict.shown.files if verdict.shown else ()
    texts = {name: context.read(_PART.sub("", name)) if context else None for name in names}
    return {name: None if text is None else _digest(text) for name, text in texts.items()}


def _task(task: ResearchTask, whole: bool) -> JsonValue:
    """What judges read of a task; ``whole``, also its ground truth."""
    shown: JsonValue = task.prompt_view().model_dump(mode="json", exclude={"task_id"})
    return [shown, task.reference.model_dump(mode="json") if whole else None]


def _deliverable(submission: SubmissionText, phase: Phase) -> JsonValue:
    if phase == "implementation":
        return [submission.script, submission.diff, *submission.changed]
    return submission.design if phase == "design" else submission.conclusion


def _dumped(items: Iterable[RubricItem]) -> list[JsonValue]:
    return [item.model_dump(mode="json") for item in items]


def _digest(value: object) -> str:
    """sha256 over canonical JSON, in which any text, also a broken one, has a form."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
