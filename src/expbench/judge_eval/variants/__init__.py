"""Labelled cases made from a data set's ground truth, with labels that are right by construction.

Each task becomes up to four submissions: one that says and does what the ground truth says, in other
words; two in which some of it is changed, left out or taken back; and one of another paper, with code
that only talks. Whatever was changed is not met, what was only reworded is met, and an item whose label
could be doubted (its values stand elsewhere in the text, a neighbour was changed) is not asked about.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from expbench.judge_eval.cases import Case, LabelledItem
from expbench.judge_eval.variants.conclusions import varied_conclusion
from expbench.judge_eval.variants.designs import varied_design
from expbench.judge_eval.variants.implementations import Code, varied_implementation
from expbench.judges import rubric
from expbench.schema import ResearchTask

ROUNDS = 4
"""Submissions made for each task."""


def variants(
    tasks: Sequence[ResearchTask],
    seed: int = 0,
    code: Callable[[ResearchTask], Code | None] | None = None,
) -> tuple[Case, ...]:
    """The cases of ``tasks``, in their order; the same seed gives the same cases.

    Args:
        code: reads the authors' code of a task, where its repository is at hand. Without it no
            implementation can be right, and only such as are not met are made.
    """
    found = []
    for task in tasks:
        chance = random.Random(f"{seed}/{task.id}")
        others = [other for other in tasks if other.paper != task.paper]
        other = chance.choice(others) if others else None
        reader = code(task) if code is not None else None
        for number in range(ROUNDS):
            case = _case(task, other, number, chance, reader)
            if case is not None:
                found.append(case)
    return tuple(found)


def _case(
    task: ResearchTask,
    other: ResearchTask | None,
    number: int,
    chance: random.Random,
    code: Code | None,
) -> Case | None:
    items = rubric(task, code)
    design, designed = varied_design(task, other, number, chance)
    conclusion, concluded = varied_conclusion(task, items, other, number, chance)
    made = varied_implementation(task, items, number, chance, code)
    labelled: tuple[LabelledItem, ...] = (*designed, *made.items, *concluded)
    if not labelled:
        return None
    return Case(
        id=f"{task.id}#{number}",
        task=task.id,
        paper=task.paper,
        design=design,
        conclusion=conclusion,
        patch=made.patch,
        script=made.script,
        items=labelled,
    )


__all__ = ["Code", "variants"]
