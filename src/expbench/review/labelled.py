"""A run's labels as sets for ``judge-eval`` and ``monitor-eval``: what most reviewers say, ties left out.

A label that was given before the judge's verdict was shown has the kind ``blind``, one that was given or
changed only after it the kind ``seen``; a case or trajectory is named by the run, the task and the epoch.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from expbench.construct.decisions import Place, about, standing
from expbench.construct.records import Decision
from expbench.judge_eval.cases import Case, InlineTask, LabelledItem
from expbench.monitor_eval.examples import Example, Message, TaskLine, ToolCall, ToolFunction
from expbench.review.attempts import FINDING, MISSED, NONE, SKIP, RunSubject
from expbench.review.views import FieldView
from expbench.schema import ResearchTask, Turn, ViolationKind

Documents = Callable[[ResearchTask], Mapping[str, str]]
"""The documents and results that a task's workspace ships, by path."""


@dataclass(frozen=True)
class Labelled:
    """Lines of a set, and what is not in it."""

    lines: tuple[str, ...]
    labels: int
    tied: int
    """Items of which as many reviewers say the other."""
    open: int
    """Items without a label, skipped ones too; or attempts that are not labelled as a whole."""

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


class _Words:
    """What most reviewers say of a field."""

    def __init__(self, made: Mapping[str, Sequence[Decision]]) -> None:
        self._held: list[dict[Place, Decision]] = [standing(own) for own in made.values()]
        self._unled = [
            {(each.draft, each.field, str(each.value)) for each in own if not each.seen}
            for own in made.values()
        ]
        self.tied = 0
        self.open = 0

    def most(self, task: str, field: FieldView) -> tuple[str, bool] | None:
        """The label, and whether all that say so had said so before they saw the verdict."""
        found = [about(held.get((task, field.name)), field.of) for held in self._held]
        known = [
            (str(each.value), (task, field.name, str(each.value)) in unled)
            for each, unled in zip(found, self._unled, strict=True)
            if each is not None and each.value != SKIP
        ]
        counts = Counter(word for word, _ in known).most_common(2)
        if not counts:
            self.open += 1
            return None
        if len(counts) == 2 and counts[0][1] == counts[1][1]:
            self.tied += 1
            return None
        word = counts[0][0]
        return word, all(unled for said, unled in known if said == word)


def judge_set(subject: RunSubject, made: Mapping[str, Sequence[Decision]]) -> Labelled:
    """The labelled items of all attempts, a case each; raises DataError for a damaged submission.

    Args:
        made: decisions by reviewer.
    """
    words = _Words(made)
    cases = []
    for name in subject.keys:
        fields = {each.name: each for each in subject.task(name).fields}
        items = []
        for item in subject.items(name):
            if (said := words.most(name, fields[item.id])) is not None:
                label, blind = said
                items.append(
                    LabelledItem.model_validate(
                        {
                            "id": item.id,
                            "phase": item.phase,
                            "text": item.text,
                            "label": label,
                            "kind": "blind" if blind else "seen",
                            "rubric_kind": item.kind,
                            "code": item.code,
                            "essential": item.essential,
                        }
                    )
                )
        if items:
            cases.append(_case(subject, name, tuple(items)))
    lines = tuple(_line(case.model_dump(mode="json", exclude_defaults=True)) for case in cases)
    labels = sum(len(case.items) for case in cases)
    return Labelled(lines, labels, words.tied, words.open)


def _case(subject: RunSubject, name: str, items: tuple[LabelledItem, ...]) -> Case:
    task, text = subject.task_of(name), subject.submission(name)
    inline = InlineTask(
        id=task.id,
        paper=task.paper,
        question=task.question,
        method=task.method,
        type=task.type,
        masked=task.mask,
    )
    return Case(
        id=f"{subject.title}/{name}",
        task=task.id if task.venue == "mini" else inline,
        paper=task.paper,
        design=text.design,
        conclusion=text.conclusion,
        patch=text.diff,
        script=text.script,
        items=items,
    )


def monitor_set(
    subject: RunSubject, made: Mapping[str, Sequence[Decision]], documents: Documents
) -> Labelled:
    """The attempts of which every finding is labelled, and what was missed, a trajectory each.

    Raises DataError for a damaged submission.
    """
    words = _Words(made)
    examples, whole_open = [], 0
    for name in subject.keys:
        fields = [
            each
            for each in subject.task(name).fields
            if each.name == MISSED or each.name.startswith(f"{FINDING}/")
        ]
        said = [words.most(name, field) for field in fields]
        known = [each[0] for each in said if each is not None]
        if not fields or len(known) < len(fields):
            whole_open += 1
            continue
        findings = zip(subject.findings(name), known[:-1], strict=True)
        kinds: list[str] = [found.kind for found, word in findings if word == "right"]
        kinds += [] if known[-1] == NONE else [known[-1]]
        examples.append(_example(subject, name, tuple(dict.fromkeys(kinds)), documents))
    lines = tuple(each.line().rstrip("\n") for each in examples)
    return Labelled(lines, len(examples), words.tied, whole_open)


def _example(
    subject: RunSubject, name: str, kinds: tuple[str, ...], documents: Documents
) -> Example:
    task, text = subject.task_of(name), subject.submission(name)
    own = task.venue == "mini"
    inline = TaskLine(
        id=task.id,
        question=task.question,
        method=task.method,
        title=task.title,
        instructions=task.instructions,
        repository=task.repository.url,
        masked=task.mask,
    )
    labels: tuple[ViolationKind, ...] = kinds  # type: ignore[assignment]
    return Example(
        id=f"{subject.title}/{name}",
        task=task.id if own else inline,
        messages=tuple(messages_of(subject.trajectory(name))),
        design=text.design,
        conclusion=text.conclusion,
        patch=text.diff,
        script=text.script,
        shipped=None if own else dict(documents(task)),
        labels=labels,
        note="labelled by reviewers",
    )


def messages_of(turns: Sequence[Turn]) -> list[Message]:
    """A trajectory as chat messages, from which the same turns are read again."""
    found = []
    for number, turn in enumerate(turns):
        if turn.role != "tool":
            found.append(Message(role=turn.role, content=turn.text))
            continue
        call = f"call-{number}"
        function = ToolFunction(name=turn.tool, arguments=_arguments(turn.command))
        found.append(
            Message(
                role="assistant", content="", tool_calls=(ToolCall(id=call, function=function),)
            )
        )
        answer = {"role": "tool", "tool_call_id": call, "content": turn.text}
        found.append(
            Message.model_validate({**answer, "is_error": True} if turn.failed else answer)
        )
    return found


def _arguments(command: str) -> str:
    """A call's arguments as JSON; a command that is no object is the one argument ``command``."""
    try:
        known = json.loads(command)
    except (ValueError, RecursionError):
        known = None
    given = known if isinstance(known, dict) else {"command": command}
    return json.dumps(given, ensure_ascii=False)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
