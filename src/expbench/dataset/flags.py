"""Flags of the release's tasks with their evidence, and the waivers of findings.

``flags.json`` is made by ``scripts/build_flags`` from the release and the papers' repositories at their
pins, masked as the publication does it; it is data, and no rule runs when it is read.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

from pydantic import ValidationError

from expbench.dataset.lint.finding import NO_FLAG, Finding
from expbench.errors import DataError
from expbench.schema import Record, ResearchTask

FLAGS_NAME = "flags.json"
ERRATA_NAME = "errata.json"
WAIVER = "waiver"
ROWS_EACH = 2
"""Places that are kept of one flag of a task: the first ones, the severest before the others."""


class FlagRow(Record):
    """One flag of a task, the place that it comes from, and a short quote."""

    flag: str
    place: str
    evidence: str


class FlagFile(Record):
    """All flags, and the release that they were found in."""

    data: str
    tasks: dict[str, tuple[FlagRow, ...]]


class Waiver(Record):
    """A finding that a person accepted: its task, rule and place, and the reason.

    A place may be given without its span or line; then it stands for all places of that field or file.
    """

    task: str
    rule: str
    place: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether it is this finding that was accepted."""
        whole = finding.place == self.place or bare_place(finding.place) == self.place
        return whole and (self.task, self.rule) == (finding.task, finding.rule)


@functools.cache
def load_flags() -> FlagFile:
    """The flags of this package. Raises DataError."""
    text = resources.files("expbench.dataset").joinpath(FLAGS_NAME).read_text("utf-8")
    try:
        return FlagFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "top"
        raise DataError(f"{FLAGS_NAME} is wrong at {where}: {first['msg']}.") from None


def flags_of(task_id: str) -> tuple[FlagRow, ...]:
    """The flags of a task of the release with their evidence; none for any other task."""
    return load_flags().tasks.get(task_id, ())


@functools.cache
def waivers() -> tuple[Waiver, ...]:
    """The errata's waivers; without errata, or without a row of that kind, none. Raises DataError."""
    file = resources.files("expbench.dataset").joinpath(ERRATA_NAME)
    return parse_waivers(file.read_text("utf-8")) if file.is_file() else ()


def parse_waivers(text: str) -> tuple[Waiver, ...]:
    """The rows of kind "waiver" in errata: ``tasks``, ``rule``, ``place`` and ``reason``.

    Raises:
        DataError: such a row lacks one of them.
    """
    rows = json.loads(text).get("rows", [])
    try:
        return tuple(
            Waiver(task=task, rule=row["rule"], place=row["place"], reason=row["reason"])
            for row in rows
            if row.get("kind") == WAIVER
            for task in row["tasks"]
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise DataError(f"A waiver of the errata is wrong or not complete: {error}.") from None


def unwaived(findings: Iterable[Finding], accepted: Sequence[Waiver]) -> tuple[Finding, ...]:
    """The findings that no waiver covers."""
    return tuple(f for f in findings if not any(waiver.covers(f) for waiver in accepted))


def bare_place(place: str) -> str:
    """A place without its character span or line number."""
    field, bracket, _ = place.partition("[")
    if bracket:
        return field
    path, _, line = place.rpartition(":")
    return path if path and line.isdigit() else place


def flag_file(data: str, tasks: Iterable[ResearchTask], findings: Iterable[Finding]) -> FlagFile:
    """The flags that findings amount to, each with its first places; every task has an entry."""
    rows: Mapping[str, dict[str, list[FlagRow]]] = {task.id: defaultdict(list) for task in tasks}
    for each in findings:
        kept = rows[each.task][each.rule]
        if each.rule not in NO_FLAG and len(kept) < ROWS_EACH:
            kept.append(FlagRow(flag=each.rule, place=each.place, evidence=each.evidence))
    return FlagFile(
        data=data,
        tasks={
            task: tuple(row for flag in sorted(found) for row in found[flag])
            for task, found in sorted(rows.items())
        },
    )
