"""A construction project as something to review: drafts, the paper's pages and the repository's files.

Paths come from drafts, which models wrote, and from the repository itself: nothing outside the project's own
folders is ever read for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from expbench.construct.decisions import digest_of
from expbench.construct.records import Draft, DraftField
from expbench.errors import DataError, NotFoundError
from expbench.papers.document import Document
from expbench.report.text import natural
from expbench.review.views import (
    Evidence,
    FieldKind,
    FieldView,
    Lines,
    PageView,
    TaskLine,
    TaskView,
)

MANIFEST = "project.json"
_ORDER = (
    "question",
    "method",
    "expected_outcome",
    "design_complexity",
    "source",
    "usage_instructions",
    "agent_instructions",
    "masked_source",
)
"""Fields in the order in which a person reads them; others after these, statements by number."""
_MOST_LINES = 2_000
_MOST_BYTES = 5_000_000
_LONGEST_LINE = 2_000
_PICTURE = 30_000_000
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class _Read:
    """A draft as its file was at a moment."""

    mark: tuple[int, int]
    draft: Draft
    line: TaskLine


@dataclass
class ProjectSubject:
    """A project's folder, opened for review; drafts are read again when their files change."""

    root: Path
    kind: Literal["project"] = "project"
    blind: bool = False
    _known: dict[Path, _Read] = field(default_factory=dict)
    _files: dict[str, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return (self.document.title if self.document else "") or self.root.absolute().name

    @cached_property
    def document(self) -> Document | None:
        """The paper as it was read, if it was. Raises DataError."""
        file = self.root / "paper" / "document.json"
        if not file.exists():
            return None
        try:
            return Document.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            raise DataError(
                f"{file} is damaged: read the paper again with `expbench construct read {self.root}`."
            ) from None

    def drafts(self) -> list[Draft]:
        """Every draft, in the order of their names. Raises DataError."""
        return [each.draft for each in self._every()]

    def tasks(self) -> Sequence[TaskLine]:
        return [each.line for each in self._every()]

    def task(self, task_id: str) -> TaskView:
        draft = self._find(task_id)
        if draft is None:
            raise NotFoundError(
                f"The project has no draft {task_id!r} any more: load the page anew."
            )
        notes = [f"No program answers it: {draft.no_answer}"] if draft.no_answer else []
        notes += [f"Refused: {draft.refused}"] if draft.refused else []
        notes += [] if draft.verified else ["Not verified yet."]
        fields = tuple(_view(name, draft.fields[name]) for name in _names(draft))
        return TaskView(id=draft.id, title=draft.id, notes=tuple(notes), fields=fields)

    def pages(self) -> Sequence[PageView]:
        if (document := self.document) is None:
            return ()
        texts: dict[int, list[str]] = {}
        for element in document.elements:
            texts.setdefault(element.page, []).append(element.text)
        found = []
        for page in document.pages:
            there = self._picture(page.image) is not None
            text = "" if there else "\n\n".join(texts.get(page.number, ()))
            found.append(
                PageView(
                    number=page.number,
                    width=page.width,
                    height=page.height,
                    picture=there,
                    text=text,
                )
            )
        return found

    def picture(self, number: int) -> bytes | None:
        """A page as PNG, or nothing."""
        pages = self.document.pages if self.document else ()
        image = next((page.image for page in pages if page.number == number), "")
        if (file := self._picture(image)) is None:
            return None
        content = file.read_bytes()
        return content if content.startswith(_PNG) else None

    def lines(self, path: str, first: int, last: int) -> Lines:
        """Some lines of a file of the repository."""
        file = _inside(self.root / "repo", path)
        if file is None:
            return Lines(path=path, problem="The repository has no such file.")
        if file.stat().st_size > _MOST_BYTES:
            return Lines(path=path, problem="The file is too large to be shown.")
        every = re.split(r"\r\n|\n|\r", file.read_text("utf-8", errors="replace"))
        if every[-1] == "":
            every.pop()
        first = max(1, min(first, len(every)))
        last = min(last, first + _MOST_LINES - 1)
        cut = (line[:_LONGEST_LINE] for line in every[first - 1 : last])
        problem = "" if first <= last else "The file has no such lines."
        return Lines(path=path, first=first, total=len(every), lines=tuple(cut), problem=problem)

    def turns(self, task_id: str, at: int) -> Sequence[tuple[int, str]]:
        return ()

    def _picture(self, image: str) -> Path | None:
        file = _inside(self.root / "paper", image) if image else None
        return file if file is not None and file.stat().st_size <= _PICTURE else None

    def _find(self, task_id: str) -> Draft | None:
        """A draft by its id, mostly without looking at the others."""
        file = self._files.get(task_id)
        if file is not None and file.exists() and (found := self._read(file).draft).id == task_id:
            return found
        return next((each for each in self.drafts() if each.id == task_id), None)

    def _every(self) -> list[_Read]:
        files = sorted((self.root / "drafts").rglob("*.json"), key=lambda f: natural(str(f)))
        found = [self._read(file) for file in files]
        self._files = {each.draft.id: file for each, file in zip(found, files, strict=True)}
        return found

    def _read(self, file: Path) -> _Read:
        try:
            stat = file.stat()
            mark = (stat.st_mtime_ns, stat.st_size)
            known = self._known.get(file)
            if known is None or known.mark != mark:
                draft = Draft.model_validate_json(file.read_bytes())
                known = self._known[file] = _Read(mark, draft, _line(draft))
        except (OSError, ValidationError):
            raise DataError(f"{file} is no draft of a task: restore the file.") from None
        return known


def _inside(root: Path, name: str) -> Path | None:
    """A regular file below a folder, wherever links lead; nothing for any other."""
    try:
        file = (root / name).resolve(strict=True)
        inside = file.is_relative_to(root.resolve()) and file.is_file()
    except (OSError, ValueError):
        return None
    return file if inside and ".git" not in file.relative_to(root.resolve()).parts else None


def _line(draft: Draft) -> TaskLine:
    fields = {name: digest_of(draft.fields[name].value) for name in _names(draft)}
    return TaskLine(id=draft.id, title=_head(draft), fields=fields)


def _names(draft: Draft) -> list[str]:
    known = {name: number for number, name in enumerate(_ORDER)}
    return sorted(draft.fields, key=lambda name: (known.get(name, len(known)), natural(name)))


def _head(draft: Draft) -> str:
    asked = draft.fields.get("question")
    return str(asked.value) if asked is not None else ""


def _view(name: str, own: DraftField) -> FieldView:
    passages = [Evidence(page=each.page, box=each.box, quote=each.quote) for each in own.passages]
    spans = [Evidence(path=each.path, start=each.start, end=each.end) for each in own.spans]
    return FieldView(
        name=name,
        label=_label(name),
        kind=kind_of(own.value),
        value=own.value,
        of=digest_of(own.value),
        note=f"from {own.stage}",
        evidence=(*passages, *spans),
    )


def _label(name: str) -> str:
    """``requirements/0`` is requirement 1."""
    head, _, number = name.partition("/")
    words = head.replace("_", " ").capitalize()
    return f"{words.removesuffix('s')} {int(number) + 1}" if number.isdecimal() else words


def kind_of(value: Any) -> FieldKind:
    """How a value is edited."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, list) and all(isinstance(v, str) and "\n" not in v for v in value):
        return "texts"
    return "json"


def fault_of(old: Any, new: Any) -> str:
    """Why a value cannot take another's place, in one sentence; empty where it can."""
    if isinstance(old, str):
        return "" if isinstance(new, str) and new.strip() else "Write a text, or reject the field."
    if isinstance(old, list) and all(isinstance(each, str) for each in old):
        fine = isinstance(new, list) and all(isinstance(each, str) for each in new)
        return "" if fine else "Write a list of texts."
    if isinstance(old, list | dict):
        kind = "a list" if isinstance(old, list) else "an object with names"
        return "" if type(new) is type(old) else f"Write {kind}, as it was: {json.dumps(old)[:80]}"
    return ""
