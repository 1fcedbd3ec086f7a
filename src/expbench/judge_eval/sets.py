"""Labelled sets, ready to be judged: files read, tasks found, deliverables as text.

A bad line stops the reading with its file, number and fault: a set that is silently shorter would give
another number.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from expbench.dataset import load_suite, shipped_tree, suite_of
from expbench.errors import DataError
from expbench.judge_eval.cases import Case, InlineTask, LabelledItem, unknown_fields
from expbench.judge_eval.patches import submission_text
from expbench.judges.base import JudgeContext
from expbench.schema import (
    Claim,
    DesignItem,
    Reference,
    Repository,
    Requirement,
    ResearchTask,
    RubricItem,
    SubmissionText,
)

SHIPPED = "shipped"
"""The name of the set that is part of this package."""

_KINDS = {"design": "constant", "implementation": "requirement", "conclusion": "statement"}
_DESIGN_KINDS = ("constant", "independent", "dependent")
_CLAIM_KINDS = ("relation", "number", "condition", "statement")


@dataclass(frozen=True)
class ReadyCase:
    """A case with all that a judge is given. ``items`` are in the order of ``case.items``."""

    case: Case
    paper: str
    task: ResearchTask
    submission: SubmissionText
    items: tuple[RubricItem, ...]
    context: JudgeContext | None = None

    @property
    def id(self) -> str:
        return self.case.id

    @cached_property
    def digest(self) -> str:
        """sha256 of all that shapes a judge's verdicts on it, labels left out."""
        parts = [self.submission, self.task, *self.items]
        had = (*self.context.masked, "", *self.context.files) if self.context else ()
        text = "\0".join((*(part.model_dump_json() for part in parts), *had))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class LabelledSet:
    """Cases in a fixed order; ``notes`` are what a user should know about how it was read."""

    name: str
    cases: tuple[ReadyCase, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The first 12 hex digits of a sha256 over all cases with their labels."""
        digest = hashlib.sha256()
        for each in self.cases:
            digest.update(each.case.model_dump_json().encode(errors="surrogatepass"))
        return digest.hexdigest()[:12]

    def first(self, count: int | None) -> LabelledSet:
        """Some of the cases: of the papers in turn, and within a paper in an order that means nothing.

        Files hold variants in a fixed order, so the first of each paper would be of one kind.
        """
        if count is None or count >= len(self.cases):
            return self
        seen: Counter[str] = Counter()
        ranks: list[tuple[int, int]] = []
        for index in sorted(range(len(self.cases)), key=lambda i: _mixed(self.cases[i].id)):
            paper = self.cases[index].paper
            ranks.append((seen[paper], index))
            seen[paper] += 1
        chosen = sorted(index for _, index in sorted(ranks)[:count])
        name = f"{self.name}, {count} of {len(self.cases)} cases"
        return replace(self, name=name, cases=tuple(self.cases[index] for index in chosen))


def _mixed(name: str) -> str:
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()


def load_shipped_set() -> LabelledSet:
    """The labelled set of this package: every ``*.jsonl`` of its data folder."""
    folder = resources.files("expbench.judge_eval") / "data"
    files = sorted(Path(str(each)) for each in folder.iterdir() if each.name.endswith(".jsonl"))
    return load_set(files, name=SHIPPED)


def load_set(
    files: Sequence[Path], data: Path | None = None, labelled: bool = True, name: str = ""
) -> LabelledSet:
    """Read a set from JSON lines.

    Args:
        data: the folder of the released data set, for cases whose task is one of it.
        labelled: whether every item must have a label; not so where people's labels come apart.

    Raises:
        DataError: a file cannot be read, or a line is wrong; the sentence names both.
    """
    read = [entry for file in files for entry in _lines(file, labelled)]
    _refuse_doubles(read)
    tasks = _Tasks(data)
    ready = tuple(ready_case(case, tasks.find(case, where)) for case, _, where in read)
    if not ready and name != SHIPPED:
        raise DataError(
            f"{', '.join(map(str, files))} holds no case: one JSON object for each line."
        )
    return LabelledSet(name or ", ".join(file.name for file in files), ready, _notes(read))


def set_of(name: str, pairs: Iterable[tuple[Case, ResearchTask]]) -> LabelledSet:
    """A set of cases that are made, not read."""
    return LabelledSet(name, tuple(ready_case(case, task) for case, task in pairs))


def ready_case(case: Case, task: ResearchTask) -> ReadyCase:
    """A case whose task is known. Its items become the task's whole ground truth."""
    own = task.model_copy(update={"reference": _reference(case.items)})
    return ReadyCase(
        case=case,
        paper=_paper(case, task),
        task=own,
        submission=submission_text(case),
        items=rubric_items(case.items),
        context=_context(case, task),
    )


def rubric_items(items: Sequence[LabelledItem]) -> tuple[RubricItem, ...]:
    """The items without their labels. Ids are numbers, so that no name gives a label away."""
    seen: Counter[str] = Counter()
    found = []
    for item in items:
        found.append(
            RubricItem(
                id=f"{item.phase}/{seen[item.phase]}",
                phase=item.phase,
                kind=item.rubric_kind or _KINDS[item.phase],
                text=item.text,
                essential=item.essential,
                code=item.code,
            )
        )
        seen[item.phase] += 1
    return tuple(found)


Read = tuple[Case, frozenset[str], str]
"""A case, its unknown fields, and its place as ``file:line``."""


def _lines(file: Path, labelled: bool) -> Iterable[Read]:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise DataError(f"{file} cannot be read ({why}): give a file of JSON lines.") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _line(line, f"{file}:{number}", f"{file.stem}/{number}", labelled)


def _line(line: str, where: str, default_id: str, labelled: bool) -> Read:
    try:
        raw: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is no JSON ({error}): each line is one object.") from None
    if not isinstance(raw, dict):
        raise DataError(f'{where} is no JSON object: each line is one case, {{"id": …}}.')
    try:
        case = Case.model_validate(raw)
    except ValidationError as error:
        raise DataError(f"{where}: {_fault(error)}") from None
    if labelled:
        for index, item in enumerate(case.items):
            if item.label is None:
                raise DataError(f"{where}: items.{index} has no label: write met or not_met.")
    if not case.id:
        case = case.model_copy(update={"id": default_id})
    return case, frozenset(unknown_fields(raw)), where


def _fault(error: ValidationError) -> str:
    """The first fault in one sentence."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "the line"
    if first["type"] == "missing":
        return f"{place} is missing."
    given = json.dumps(first.get("input"), ensure_ascii=False, default=str)
    given = given if len(given) <= 60 else f"{given[:59]}…"
    return f"{place}: {first['msg'].rstrip('.')}, and it is {given}."


def _refuse_doubles(read: Sequence[Read]) -> None:
    places: dict[str, str] = {}
    for case, _, where in read:
        if case.id in places:
            raise DataError(f"{where}: the id {case.id!r} is taken by {places[case.id]}.")
        places[case.id] = where


def _notes(read: Sequence[Read]) -> tuple[str, ...]:
    counts = Counter(name for _, unknown, _ in read for name in unknown)
    if not counts:
        return ()
    names = ", ".join(f"{name} ({count} lines)" for name, count in sorted(counts.items()))
    return (f"Fields that a labelled set does not have were ignored: {names}.",)


class _Tasks:
    """Finds tasks by id; each suite is read once, and only when a case needs it."""

    def __init__(self, data: Path | None) -> None:
        self._data = data
        self._known: dict[str, dict[str, ResearchTask]] = {}

    def find(self, case: Case, where: str) -> ResearchTask:
        if isinstance(case.task, InlineTask):
            return _inline(case.task)
        suite = suite_of(case.task)
        if suite not in self._known:
            if suite != "mini" and self._data is None:
                raise DataError(
                    f"{where}: task {case.task!r} is of the released data set: give its folder with "
                    "--data DIR, or write the task itself into the line."
                )
            tasks = load_suite(suite, self._data).tasks
            self._known[suite] = {task.id: task for task in tasks}
        if case.task not in self._known[suite]:
            raise DataError(
                f"{where}: there is no task {case.task!r}: `expbench tasks list` names them, or "
                "write the task itself into the line."
            )
        return self._known[suite][case.task]


def _inline(task: InlineTask) -> ResearchTask:
    return ResearchTask(
        id=task.id,
        paper=task.paper or task.id,
        venue="inline",
        type=task.type,
        repository=Repository(url=""),
        question=task.question,
        method=task.method,
        mask=task.masked,
    )


def _paper(case: Case, task: ResearchTask) -> str:
    """The cluster; a suite's paper may be named with or without its venue."""
    if not case.paper or case.paper == task.paper.rpartition("/")[2]:
        return task.paper
    return case.paper


def _context(case: Case, task: ResearchTask) -> JudgeContext | None:
    """What the agent had: of a shipped repository all, of an inline task what the case says."""
    if isinstance(case.task, InlineTask):
        if not (case.task.files or case.task.masked):
            return None
        return JudgeContext(masked=case.task.masked, files=case.task.files)
    tree = shipped_tree(task)
    if tree is None:
        return JudgeContext(masked=task.mask) if task.mask else None
    return _shipped_context(tree, task)


def _shipped_context(tree: Path, task: ResearchTask) -> JudgeContext:
    masked = frozenset(task.mask)
    every = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())
    files = tuple(path for path in every if path not in masked and "__pycache__" not in path)
    allowed = frozenset(files)

    def read(path: str) -> str | None:
        return (tree / path).read_text("utf-8", "replace") if path in allowed else None

    return JudgeContext(masked=task.mask, files=files, read=read)


def _reference(items: Sequence[LabelledItem]) -> Reference:
    """The items as a ground truth, for judges that read the task's own (the ``paper`` protocol)."""
    design, steps, claims = [], [], []
    for item in items:
        kind: Any = item.rubric_kind
        if item.phase == "design":
            kind = kind if kind in _DESIGN_KINDS else "constant"
            design.append(DesignItem(kind=kind, name=item.text))
        elif item.phase == "implementation":
            steps.append(Requirement(text=item.text))
        else:
            kind = kind if kind in _CLAIM_KINDS else "statement"
            claims.append(Claim(text=item.text, kind=kind, essential=item.essential))
    essential = [claim.text for claim in claims if claim.essential]
    return Reference(
        design=tuple(design),
        requirements=tuple(steps),
        conclusion="\n".join(essential or [claim.text for claim in claims]),
        claims=tuple(claims),
    )
