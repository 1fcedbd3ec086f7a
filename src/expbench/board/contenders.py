"""A run as it stands on a board, and what a board knows of it besides its outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from expbench.dataset.tiers import tier_of
from expbench.report.text import one_line, printable
from expbench.runs import Run
from expbench.schema import Record, ResearchTask

_LONGEST = 80


class TaskFacts(Record):
    """What may be known of a task by everybody: nothing of its ground truth."""

    task_id: str
    paper: str
    category: str = ""
    type: Literal[1, 2, 3]
    tier: str = ""


class StageSpend(Record):
    """What the requests of one stage used together. ``dollars`` are those that are known."""

    stage: str
    requests: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Answered requests whose dollars are not known: where there are some, ``dollars`` is too low."""


class Spend(Record):
    """What a run used, by who asked; all tries, also those that were repeated."""

    stages: tuple[StageSpend, ...] = ()

    @property
    def dollars(self) -> float:
        """The known dollars of all stages."""
        return sum(each.dollars for each in self.stages)

    @property
    def unpriced(self) -> int:
        """Answered requests of all stages whose dollars are not known."""
        return sum(each.unpriced for each in self.stages)


@dataclass(frozen=True)
class Contender:
    """One run on a board.

    ``label`` is its name here, unlike all others'. ``link`` leads to its own report, relative to the board;
    ``note`` says why there is none.
    """

    run: Run
    label: str = ""
    facts: Mapping[str, TaskFacts] = field(default_factory=dict)
    judge_eval: str = ""
    spend: Spend = field(default_factory=Spend)
    link: str = ""
    note: str = ""


def facts_of(tasks: Iterable[ResearchTask]) -> dict[str, TaskFacts]:
    """The facts of tasks, by task id."""
    return {
        task.id: TaskFacts(
            task_id=task.id,
            paper=task.paper,
            category=task.category,
            type=task.type,
            tier=tier_of(task),
        )
        for task in tasks
    }


def named_apart(contenders: Sequence[Contender]) -> tuple[Contender, ...]:
    """The contenders with labels of their own: their runs' names, numbered where two are alike."""
    seen: dict[str, int] = {}
    found = []
    for each in contenders:
        name = one_line(printable(each.label or each.run.manifest.name), _LONGEST) or "run"
        label = name
        while label in seen:
            seen[name] += 1
            label = f"{name} ({seen[name]})"
        seen[label] = 1
        found.append(replace(each, label=label))
    return tuple(found)
