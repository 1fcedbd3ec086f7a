"""A run as something to review: a judge's verdicts item by item, and the monitor's findings.

The item and the submission are shown; what the judge said, and where it saw it, only after the reviewer's own
word, since it would anchor (unless that is switched off).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from pydantic import ValidationError

from expbench.construct.decisions import digest_of
from expbench.errors import DataError, NotFoundError
from expbench.judges.rubric import CodeReader, rubric
from expbench.report.quoting import quoted
from expbench.report.text import Cut, cut
from expbench.review.views import Evidence, FieldView, Lines, PageView, Shown, TaskLine, TaskView
from expbench.runs import Attempt, Key, Run
from expbench.schema import (
    Outcome,
    ResearchTask,
    RubricItem,
    SubmissionText,
    Turn,
    Verdict,
    Violation,
    ViolationKind,
)

FINDING, MISSED = "finding", "missed"
NONE, SKIP = "none", "skip"
_SKIP = (SKIP, "skip")
ITEM_LABELS = (("met", "met"), ("not_met", "not met"), _SKIP)
FINDING_LABELS = (("right", "right"), ("wrong", "wrong"), _SKIP)
KINDS: tuple[ViolationKind, ...] = get_args(ViolationKind)
MISSED_LABELS = (
    (NONE, "nothing more"),
    *((kind, kind.replace("_", " ")) for kind in KINDS),
    _SKIP,
)
_MOST = 400_000
"""Bytes of a part that are shown."""
_TURN = 20_000
_AROUND = 2
_PARTS = {
    "design": ("design",),
    "implementation": ("changes", "script"),
    "conclusion": ("conclusion",),
}


def name_of(key: Key) -> str:
    """An attempt by its task and epoch: ``venue/paper/0#1``."""
    return f"{key[0]}#{key[1]}"


@dataclass
class RunSubject:
    """A run, opened for review.

    ``tasks_by_id`` are its suite's tasks; ``codes`` gives what reads the authors' code of one, if anything.
    """

    run: Run
    tasks_by_id: Mapping[str, ResearchTask]
    blind: bool = True
    codes: Callable[[ResearchTask], CodeReader | None] = lambda task: None
    kind: Literal["project", "run"] = "run"
    _items: dict[str, tuple[RubricItem, ...]] = field(default_factory=dict)
    _last: TaskView | None = None
    """The attempt that was shown last: its quotations are sought once and not at every decision."""

    @property
    def title(self) -> str:
        return self.run.manifest.name

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Attempts that handed something in and are known, by name."""
        known = [k for k in self.run.planned if k in self.run.attempts and k in self.run.outcomes]
        return {name_of(key): key for key in known if key[0] in self.tasks_by_id}

    def tasks(self) -> Sequence[TaskLine]:
        return self._lines

    @cached_property
    def _lines(self) -> Sequence[TaskLine]:
        found = []
        for name, (task_id, _) in self.keys.items():
            fields = {each.name: each.of for each in self._fields(name, {})}
            question = self.tasks_by_id[task_id].question
            found.append(TaskLine(id=name, title=question, fields=fields))
        return found

    def task(self, task_id: str) -> TaskView:
        if task_id not in self.keys:
            raise NotFoundError(f"The run has no attempt {task_id!r}: load the page anew.")
        if (last := self._last) is None or last.id != task_id:
            last = self._last = self._view(task_id)
        return last

    def _view(self, task_id: str) -> TaskView:
        task = self.task_of(task_id)
        text = self.submission(task_id)
        parts = {
            "design": cut(text.design, _MOST),
            "changes": cut(text.diff, _MOST),
            "script": cut(text.script, _MOST),
            "conclusion": cut(text.conclusion, _MOST),
        }
        notes = [f"{name}: {part.note}." for name, part in parts.items() if part.note]
        return TaskView(
            id=task_id,
            title=task_id,
            notes=tuple(notes),
            fields=tuple(self._fields(task_id, parts)),
            parts={name: part.text for name, part in parts.items()},
            aside={"Question": task.question, "Method": task.method},
        )

    def submission(self, name: str) -> SubmissionText:
        """What an attempt handed in. Raises DataError."""
        blob = self._attempt(name).submission.text
        try:
            return SubmissionText.model_validate_json(self.run.store.get(blob))
        except ValidationError:
            raise DataError(f"The submission of {name} is damaged: restore the run.") from None

    def trajectory(self, name: str) -> tuple[Turn, ...]:
        """What an agent did, turn by turn; none where it cannot be read."""
        blob = self._attempt(name).submission.trajectory
        if blob is None:
            return ()
        try:
            lines = self.run.store.get(blob).splitlines()
            return tuple(Turn.model_validate_json(line) for line in lines if line)
        except (DataError, ValidationError):
            return ()

    def items(self, name: str) -> tuple[RubricItem, ...]:
        """What a judge decides about an attempt."""
        task = self.task_of(name)
        if task.id not in self._items:
            self._items[task.id] = rubric(task, self.codes(task))
        return self._items[task.id]

    def task_of(self, name: str) -> ResearchTask:
        """The task of an attempt."""
        return self.tasks_by_id[self.keys[name][0]]

    def findings(self, name: str) -> tuple[Violation, ...]:
        """What the monitor found in an attempt."""
        monitor = self._outcome(name).monitor
        return monitor.violations if monitor is not None else ()

    def pages(self) -> Sequence[PageView]:
        return ()

    def picture(self, number: int) -> bytes | None:
        return None

    def lines(self, path: str, first: int, last: int) -> Lines:
        return Lines(path=path, problem="A run has no files beside its submissions.")

    def turns(self, task_id: str, at: int) -> Sequence[tuple[int, str]]:
        """The turns around one, as text."""
        every = self.trajectory(task_id) if task_id in self.keys else ()
        near = range(max(0, at - _AROUND), min(len(every), at + _AROUND + 1))
        return [(number, _turn_text(every[number])) for number in near]

    def _attempt(self, name: str) -> Attempt:
        return self.run.attempts[self.keys[name]]

    def _outcome(self, name: str) -> Outcome:
        return self.run.outcomes[self.keys[name]]

    def _fields(self, name: str, parts: Mapping[str, Cut]) -> list[FieldView]:
        outcome, submission = self._outcome(name), self._attempt(name).submission
        judged = outcome.judgement.verdicts if outcome.judgement is not None else ()
        verdicts = {verdict.item: verdict for verdict in judged}
        found = [
            _item(item, verdicts.get(item.id), submission.digest, parts)
            for item in self.items(name)
        ]
        findings = self.findings(name)
        found += [_finding(at, each, submission.digest) for at, each in enumerate(findings)]
        if submission.trajectory is not None:
            found.append(_missed(submission.digest, findings))
        return found


def _item(
    item: RubricItem, verdict: Verdict | None, digest: str, parts: Mapping[str, Cut]
) -> FieldView:
    shown = None
    if verdict is not None:
        evidence = _places(verdict, parts)
        shown = Shown(state=verdict.state, reason=verdict.reason, evidence=evidence)
    phase, _, number = item.id.partition("/")
    return FieldView(
        name=item.id,
        label=f"{phase.capitalize()} {int(number) + 1}" if number.isdecimal() else item.id,
        kind="label",
        value=item.text,
        of=digest_of([digest, item.text]),
        note=item.kind if item.essential else f"{item.kind}, not essential",
        evidence=tuple(Evidence(part=part) for part in _PARTS[item.phase] if _filled(parts, part)),
        choices=ITEM_LABELS,
        code=item.code,
        shown=shown,
    )


def _filled(parts: Mapping[str, Cut], name: str) -> bool:
    return bool(name in parts and parts[name].text)


def _places(verdict: Verdict, parts: Mapping[str, Cut]) -> tuple[Evidence, ...]:
    """The quotation where it stands, or as it is."""
    if not verdict.evidence:
        return ()
    for name in _PARTS[verdict.phase]:
        text = parts.get(name, Cut())
        if (place := quoted(text, {"": verdict.evidence}).places.get("")) is not None:
            start, end = (_utf16(text.text, at) for at in place)
            return (Evidence(part=name, start=start, end=end, quote=verdict.evidence),)
    return (Evidence(quote=verdict.evidence),)


def _utf16(text: str, at: int) -> int:
    """A place in the text as browsers count it."""
    return len(text[:at].encode("utf-16-le", errors="surrogatepass")) // 2


def _finding(number: int, found: Violation, digest: str) -> FieldView:
    kind = found.kind.replace("_", " ")
    return FieldView(
        name=f"{FINDING}/{number}",
        label=f"Finding {number + 1}: {kind}",
        kind="label",
        value=found.explanation or f"The monitor says: {kind}.",
        of=digest_of([digest, found.kind, found.quote, found.turn]),
        note=f"{found.severity}, by {found.layer}",
        evidence=(Evidence(turn=found.turn, quote=found.quote),),
        choices=FINDING_LABELS,
    )


def _missed(digest: str, findings: Sequence[Violation]) -> FieldView:
    beside = "beside these findings" if findings else "though the monitor found nothing"
    return FieldView(
        name=MISSED,
        label="What the monitor missed",
        kind="label",
        value=f"Is there a violation in the trajectory, {beside}?",
        of=digest_of([digest, MISSED, sorted(each.kind for each in findings)]),
        evidence=(Evidence(turn=0),),
        choices=MISSED_LABELS,
    )


def _turn_text(turn: Turn) -> str:
    head = f"{turn.role} {turn.tool}".strip() + (" (failed)" if turn.failed else "")
    parts = [head, turn.command[:_TURN], turn.text[:_TURN]]
    return "\n".join(part for part in parts if part)
