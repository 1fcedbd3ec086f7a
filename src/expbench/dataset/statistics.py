"""Numbers about a suite, each with the rule by which it was counted.

The publication gives sums without rules. Ours stand next to them, with what explains a difference, so
that nobody has to guess what was counted.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from expbench.dataset.release import SUFFIX
from expbench.dataset.tiers import tier_of
from expbench.schema import Record, ResearchTask

TIER_ORDER = ("lite", "clean", "maskable", "not maskable", "no-setup")


class Count(Record):
    """One number. ``published`` is the publication's, where it has one for the same thing."""

    name: str
    value: int
    rule: str
    published: int | None = None
    difference: str = ""


class Breakdown(Record):
    """Tasks by one property, the largest group first."""

    name: str
    groups: dict[str, int]


class Statistics(Record):
    """All counts of a suite. ``by_tier`` has each category's tasks by their narrowest tier."""

    suite: str
    version: str
    counts: tuple[Count, ...]
    breakdowns: tuple[Breakdown, ...]
    by_tier: dict[str, dict[str, int]]


def statistics(
    suite: str, version: str, tasks: tuple[ResearchTask, ...], data: Path | None = None
) -> Statistics:
    """Count everything in a suite; published numbers only stand beside the whole release.

    ``data`` is the release's folder: leaves that nest deeper than a record keeps are counted there.
    """
    counts = _counts(tasks, sum(leaf_count(task, data) for task in tasks))
    if suite != "expbench":
        counts = tuple(c.model_copy(update={"published": None, "difference": ""}) for c in counts)
    return Statistics(
        suite=suite,
        version=version,
        counts=counts,
        breakdowns=(
            _breakdown("venue", (task.venue for task in tasks)),
            _breakdown("type", (str(task.type) for task in tasks)),
            _breakdown("tier", map(tier_of, tasks)),
            _breakdown("category", (task.category for task in tasks)),
            _breakdown("flag", (flag for task in tasks for flag in task.flags)),
        ),
        by_tier=_by_tier(tasks),
    )


def _counts(tasks: tuple[ResearchTask, ...], leaves: int) -> tuple[Count, ...]:
    design = [item for task in tasks for item in task.reference.design]
    steps = sum(len(task.reference.requirements) for task in tasks)
    conclusions = sum(1 for task in tasks if task.reference.conclusion)
    return (
        Count(name="papers", value=len({t.paper for t in tasks}), published=51,
              rule="different venue/paper"),
        Count(name="tasks", value=len(tasks), published=461, rule="entries of 'questions'"),
        Count(name="design variables", value=len(design),
              rule="names under constant, independent and dependent variables, unwrapped once"),
        Count(name="design leaves", value=leaves,
              rule="values of the design variables, lists and objects counted by what is at the bottom"),
        Count(name="requirements", value=steps, rule="strings of 'requirements'; type 3 has none"),
        Count(name="conclusions", value=conclusions, rule="tasks with an expected outcome"),
        Count(name="graded items", value=leaves + steps + conclusions, published=12737,
              rule="design leaves + requirements + conclusions",
              difference="the publication's subtasks have no published rule, and no sum of the "
              "release's fields gives them"),
    )  # fmt: skip


def leaf_count(task: ResearchTask, data: Path | None = None) -> int:
    """Values of a task's design variables, from the release's file when its folder is given."""
    if data is None or task.venue == "mini":
        return sum(len(item.values) for item in task.reference.design)
    paper, index = task.paper.rpartition("/")[2], int(task.id.rpartition("/")[2])
    design = (
        _questions(data / task.paper / f"{paper}{SUFFIX}")[index].get("design_complexity") or {}
    )
    inner = design.get("design_complexity", design)
    return sum(_leaves(value) for name, value in inner.items() if name.endswith("_variables"))


@functools.cache
def _questions(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["questions"]
    return found


def _leaves(value: Any) -> int:
    if isinstance(value, list | dict):
        parts = value.values() if isinstance(value, dict) else value
        return sum(map(_leaves, parts))
    return 1


def _breakdown(name: str, keys: Iterable[str]) -> Breakdown:
    return Breakdown(name=name, groups=dict(_ordered(Counter(keys))))


def _ordered(counter: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))


def _by_tier(tasks: tuple[ResearchTask, ...]) -> dict[str, dict[str, int]]:
    table: dict[str, Counter[str]] = {}
    for task in tasks:
        table.setdefault(task.category, Counter())[tier_of(task)] += 1
    largest_first = sorted(table.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    return {
        category: {name: found[name] for name in TIER_ORDER} for category, found in largest_first
    }
