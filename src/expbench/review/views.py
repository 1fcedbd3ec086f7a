"""What the page is told, as records that cross to it as JSON. All texts in them are hostile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from pydantic import Field

from expbench.construct.decisions import Place, about, spent, standing
from expbench.construct.records import Decision
from expbench.papers.document import Box
from expbench.schema import Record

FieldKind = Literal["text", "texts", "json", "label"]
"""How a value is edited: as a text, a list of texts, JSON, or by one of some labels."""


class Evidence(Record):
    """Where something rests: on a page, in lines of a file, in a part that was handed in, or at a turn."""

    page: int | None = None
    box: Box | None = None
    path: str = ""
    start: int = 0
    end: int = 0
    """Lines of the file, or offsets in UTF-16 units of the part."""
    part: str = ""
    turn: int | None = None
    quote: str = ""


class Shown(Record):
    """What the judge said, once it may be shown."""

    state: str
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


class FieldView(Record):
    """One thing to decide.

    ``of`` is the digest of ``value``; ``choices`` are the labels, with what they mean. ``code`` is the
    authors' code for it.
    """

    name: str
    label: str
    kind: FieldKind
    value: Any
    of: str
    note: str = ""
    evidence: tuple[Evidence, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()
    code: str = ""
    shown: Shown | None = None
    decision: Decision | None = None
    """The one that holds."""
    last: int = 0
    """Number of the newest one, also if it was taken back."""


class TaskLine(Record):
    """A task in the list; ``fields`` maps every field's name to its value's digest."""

    id: str
    title: str
    fields: Mapping[str, str] = Field(exclude=True)
    decided: int = 0
    seconds: float = 0.0

    @property
    def total(self) -> int:
        return len(self.fields)


class TaskView(Record):
    """A task with all that is decided about it, and the parts of text beside it, by name."""

    id: str
    title: str
    notes: tuple[str, ...] = ()
    fields: tuple[FieldView, ...]
    parts: Mapping[str, str] = Field(default_factory=dict)
    aside: Mapping[str, str] = Field(default_factory=dict)


class PageView(Record):
    """A page of the paper; sizes in points. ``text`` stands in for a picture that is not there."""

    number: int
    width: float
    height: float
    picture: bool
    text: str = ""


class Lines(Record):
    """Lines of a file from ``first`` on, of ``total``; or why there are none."""

    path: str
    first: int = 1
    total: int = 0
    lines: tuple[str, ...] = ()
    problem: str = ""


class Subject(Protocol):
    """What is reviewed: a construction project or a run."""

    @property
    def kind(self) -> Literal["project", "run"]: ...
    @property
    def title(self) -> str: ...
    @property
    def blind(self) -> bool:
        """Whether what a judge said is hidden until the reviewer has decided."""
        ...

    def tasks(self) -> Sequence[TaskLine]:
        """Every task, in order, as nobody has decided anything. Raises DataError."""
        ...

    def task(self, task_id: str) -> TaskView:
        """One task, likewise, with everything shown. Raises NotFoundError and DataError."""
        ...

    def pages(self) -> Sequence[PageView]: ...
    def picture(self, number: int) -> bytes | None: ...
    def lines(self, path: str, first: int, last: int) -> Lines: ...
    def turns(self, task_id: str, at: int) -> Sequence[tuple[int, str]]: ...


def with_progress(line: TaskLine, held: Mapping[Place, Decision], time: float) -> TaskLine:
    """The task with what its reviewer has done."""
    done = sum(about(held.get((line.id, name)), of) is not None for name, of in line.fields.items())
    return line.model_copy(update={"decided": done, "seconds": time})


def progress(subject: Subject, made: Sequence[Decision]) -> list[TaskLine]:
    """All tasks with what their reviewer has done."""
    held, time = standing(made), spent(made)
    return [with_progress(each, held, time.get(each.id, 0.0)) for each in subject.tasks()]


def for_reviewer(view: TaskView, made: Sequence[Decision], blind: bool) -> TaskView:
    """The task as its reviewer may see it: with the own decisions, and no verdict before them."""
    held = standing(made)
    last = {(each.draft, each.field): each.number for each in made}
    labelled = {(each.draft, each.field) for each in made if each.kind == "label"}
    fields = []
    for field in view.fields:
        place = (view.id, field.name)
        update: dict[str, Any] = {
            "decision": about(held.get(place), field.of),
            "last": last.get(place, 0),
        }
        if blind and place not in labelled:
            update["shown"] = None
        fields.append(field.model_copy(update=update))
    return view.model_copy(update={"fields": tuple(fields)})
