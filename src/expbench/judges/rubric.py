"""A task's ground truth as a list of things to decide, one rubric item each.

Design variables, implementation steps and claims become items with the ids ``design/0``,
``implementation/0`` and ``conclusion/0`` onwards. Types 1 and 2 have requirements; a type 3 task
has no implementation that anybody knows, so its implementation is held against the method
(EXP-Bench, section 3): against its numbered steps where it has them, else sentence by sentence. A
conclusion that nobody has split into claims is split by rules (:mod:`expbench.dataset.claims`). What
the reference lacks gives no items.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from expbench.dataset.claims import task_claims
from expbench.schema import Citation, ResearchTask, RubricItem

CodeReader = Callable[[Citation], str]
"""Gives the authors' code at a citation; an empty string when it cannot be had."""

_STEP = re.compile(r"^ {0,3}(?:step\s+)?\d+\s*[.):]\s+", re.IGNORECASE | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z])|\n\s*(?:[-*+]\s+|#+\s*)|\n\s*\n")
_FEWEST_WORDS = 4


def rubric(task: ResearchTask, code: CodeReader | None = None) -> tuple[RubricItem, ...]:
    """Every item of ``task`` in the order design, implementation, conclusion.

    ``code`` reads the authors' code at a requirement's citations; without it the items carry none.
    """
    return (*_design(task), *_implementation(task, code), *_conclusion(task))


def method_steps(method: str) -> tuple[str, ...]:
    """The numbered steps of a method, or its sentences when it numbers fewer than two."""
    starts = list(_STEP.finditer(method))
    if len(starts) >= 2:
        ends = [start.start() for start in starts[1:]] + [len(method)]
        parts = [method[s.end() : end] for s, end in zip(starts, ends, strict=True)]
    else:
        parts = [
            part
            for part in _SENTENCE_END.split(method)
            if len(part.split()) >= _FEWEST_WORDS and not part.lstrip().startswith("#")
        ]
    steps = (" ".join(part.split()).lstrip("-*+# ") for part in parts)
    return tuple(step for step in steps if step)


def _design(task: ResearchTask) -> list[RubricItem]:
    return [
        RubricItem(id=f"design/{index}", phase="design", kind=item.kind, text=item.text)
        for index, item in enumerate(task.reference.design)
    ]


def _implementation(task: ResearchTask, code: CodeReader | None) -> list[RubricItem]:
    if task.type == 3 and not task.reference.requirements:
        return [
            RubricItem(
                id=f"implementation/{index}", phase="implementation", kind="method", text=step
            )
            for index, step in enumerate(method_steps(task.method))
        ]
    return [
        RubricItem(
            id=f"implementation/{index}",
            phase="implementation",
            kind="requirement",
            text=requirement.text,
            code=_cited(requirement.citations, code),
        )
        for index, requirement in enumerate(task.reference.requirements)
    ]


def _cited(citations: tuple[Citation, ...], code: CodeReader | None) -> str:
    if code is None:
        return ""
    return "\n".join(filter(None, map(code, citations)))


def _conclusion(task: ResearchTask) -> list[RubricItem]:
    return [
        RubricItem(
            id=f"conclusion/{index}",
            phase="conclusion",
            kind=claim.kind,
            text=claim.text,
            essential=claim.essential,
        )
        for index, claim in enumerate(task_claims(task))
    ]
