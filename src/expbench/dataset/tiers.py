"""Which tasks belong together, by rule.

A tier is a rule over a task and its flags; the rule's text stands beside its code and is what a report
prints. Tiers nest: ``lite`` is in ``clean``, ``clean`` in ``maskable``, and ``no-setup`` is apart from all
of them, since its tasks have no implementation to be judged against (R54).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expbench.dataset.resources import FLAG_NAMES, LEFT_FLAG
from expbench.errors import NotFoundError
from expbench.schema import ResearchTask

UNMASKABLE = frozenset({"mask_unrepairable"})
UNCLEAN = frozenset(
    {
        "no_requirements",
        "no_design",
        "result_in_prompt",
        LEFT_FLAG,
        "duplicate",
        "wrong_ground_truth",
    }
)
HEAVY = frozenset(FLAG_NAMES)


@dataclass(frozen=True)
class Tier:
    """A named rule."""

    name: str
    rule: str
    holds: Callable[[ResearchTask], bool]

    def of(self, tasks: tuple[ResearchTask, ...]) -> tuple[ResearchTask, ...]:
        """The tasks for which the rule holds, in their order."""
        return tuple(task for task in tasks if self.holds(task))


def _maskable(task: ResearchTask) -> bool:
    return bool(task.mask) and not UNMASKABLE & set(task.flags)


def _clean(task: ResearchTask) -> bool:
    reference = task.reference
    whole = bool(reference.requirements) and bool(reference.design)
    return _maskable(task) and whole and not UNCLEAN & set(task.flags)


def _lite(task: ResearchTask) -> bool:
    return _clean(task) and not HEAVY & set(task.flags)


TIERS = (
    Tier("expbench", "all tasks of the released data set", lambda task: True),
    Tier(
        "maskable",
        "every file of the mask is in the repository at its pin, after the errata's path repairs",
        _maskable,
    ),
    Tier("no-setup", "type 3: no implementation is known, so nothing is masked",
         lambda task: task.type == 3),
    Tier(
        "clean",
        "maskable; has requirements and design; no result in the visible text; no copy of a masked file "
        "and no result left in the tree under strict masking; no duplicate; no wrong ground truth",
        _clean,
    ),
    Tier(
        "lite",
        "clean; without GPU, API key, gated data, downloads over 1 GB, in 40 minutes",
        _lite,
    ),
    Tier(
        "verified",
        "the authors' own code was run at the pin and gave the expected outcome",
        lambda task: "ground_truth_confirmed" in task.flags,
    ),
)  # fmt: skip
"""The tiers, the widest first; ``verified`` goes across them."""

FAMILIES = {
    "paper": "the tasks of one paper, paper:ID or paper:VENUE/ID",
    "category": "the tasks of one category, category:NAME",
    "type": "the tasks of one type, type:1, type:2 or type:3",
}
"""Suites with an argument, by what stands before the colon."""


def tier(name: str) -> Tier:
    """A tier by its name, or the one that a family's argument makes.

    Raises:
        NotFoundError: there is none of that name.
    """
    for each in TIERS:
        if each.name == name:
            return each
    family, colon, argument = name.partition(":")
    if not colon or family not in FAMILIES or not argument:
        names = ", ".join(["mini", *(each.name for each in TIERS), "paper:ID", "category:NAME"])
        raise NotFoundError(f"There is no suite {name!r}: choose one of {names}, type:N.")
    return Tier(name, FAMILIES[family], _FAMILY_RULES[family](argument))


def tier_of(task: ResearchTask) -> str:
    """The one narrowest tier of a task; the four together partition the release."""
    if task.type == 3:
        return "no-setup"
    for name in ("lite", "clean", "maskable"):
        if tier(name).holds(task):
            return name
    return "not maskable"


def _of_paper(argument: str) -> Callable[[ResearchTask], bool]:
    return lambda task: argument in (task.paper, task.paper.partition("/")[2])


def _of_category(argument: str) -> Callable[[ResearchTask], bool]:
    return lambda task: task.category.lower() == argument.lower().replace("-", " ")


def _of_type(argument: str) -> Callable[[ResearchTask], bool]:
    return lambda task: str(task.type) == argument


_FAMILY_RULES = {"paper": _of_paper, "category": _of_category, "type": _of_type}
