"""What is wrong with tasks of the release, and what can be mended without asking their authors.

The rows are in ``errata.json``: one fault each, with its reason and the evidence. A row with a change
mends (a path of a mask or citation, the pinned commit); every row leaves its kind as a flag on its
tasks, so that suites and readers can choose. The release itself is never edited: without errata a task
is as it was published.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from expbench.dataset.release import released_papers
from expbench.errors import DataError
from expbench.schema import Citation, Record, Requirement, ResearchTask

NO_ERRATA = "none"
"""The errata version of tasks as they were released."""

Kind = Literal[
    "mask_repaired",
    "mask_unrepairable",
    "citation_repaired",
    "second_pin",
    "duplicate",
    "wrong_ground_truth",
    "no_design",
    "library_swallowed",
    "extractor_failure",
    "requirements_cite_unmasked_only",
    "ground_truth_confirmed",
    "waiver",
]

_NO_FLAG = frozenset({"waiver"})


class Change(Record):
    """What a row mends. Empty fields change nothing.

    ``paths`` replaces paths of the mask and the source files, ``citations`` those of the requirements'
    citations (old to new, relative to the repository's root); ``commit`` replaces the pin.
    """

    paths: dict[str, str] = Field(default_factory=dict)
    citations: dict[str, str] = Field(default_factory=dict)
    commit: str = Field(default="", pattern=r"^([0-9a-f]{40})?$")


class Erratum(Record):
    """One fault that some tasks share; ``kind`` is the flag that it leaves on them.

    Two kinds are no faults: ``ground_truth_confirmed`` says that the authors' own code was run and gave
    the outcome, and a ``waiver`` accepts a finding of the lint, by its ``rule`` and ``place``, and leaves
    no flag.
    """

    id: str = Field(min_length=1)
    tasks: tuple[str, ...] = Field(min_length=1)
    kind: Kind
    change: Change = Change()
    rule: str = ""
    place: str = ""
    reason: str = Field(min_length=1)
    evidence: str = Field(min_length=1)

    @model_validator(mode="after")
    def _waivers_say_what(self) -> Erratum:
        if (self.kind == "waiver") != bool(self.rule and self.place):
            raise ValueError("a waiver, and nothing else, has a rule and a place")
        return self


class Errata(Record):
    """A version of all rows; the version changes with any of them."""

    version: str
    rows: tuple[Erratum, ...]

    def of(self, task_id: str) -> tuple[Erratum, ...]:
        """The rows of one task, in the file's order."""
        return tuple(row for row in self.rows if task_id in row.tasks)


@functools.cache
def load_errata() -> Errata:
    """The errata of this package. Raises DataError."""
    text = resources.files("expbench.dataset").joinpath("errata.json").read_text("utf-8")
    return parse_errata(text)


def parse_errata(text: str) -> Errata:
    """Errata from JSON.

    Raises:
        DataError: a field is wrong, an id is given twice, or a task's paper is not of the release.
    """
    try:
        errata = Errata.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "top"
        raise DataError(f"The errata are wrong at {where}: {first['msg']}.") from None
    seen: set[str] = set()
    papers = {f"{venue}/{paper}" for venue, paper in released_papers()}
    for row in errata.rows:
        if row.id in seen:
            raise DataError(f"The errata have two rows {row.id!r}.")
        seen.add(row.id)
        for task_id in row.tasks:
            if task_id.rpartition("/")[0] not in papers:
                raise _unknown(row, task_id)
    return errata


def apply_errata(
    tasks: Sequence[ResearchTask], errata: Errata | None = None
) -> tuple[ResearchTask, ...]:
    """The tasks with their repairs and flags, in the same order; ``errata`` are the package's.

    Papers that are not among ``tasks`` may be missing, so that a part of the release can be read.

    Raises:
        DataError: a row names a task that its paper does not have, or a path that the task does not.
    """
    errata = errata or load_errata()
    known = {task.id for task in tasks}
    papers = {task.paper for task in tasks}
    for row in errata.rows:
        for task_id in row.tasks:
            if task_id not in known and task_id.rpartition("/")[0] in papers:
                raise _unknown(row, task_id)
    return tuple(_mend(task, errata.of(task.id)) for task in tasks)


def _mend(task: ResearchTask, rows: Sequence[Erratum]) -> ResearchTask:
    for row in rows:
        flags = () if row.kind in _NO_FLAG else (row.kind,)
        task = task.model_copy(
            update={**_changed(task, row), "flags": _unique((*task.flags, *flags))}
        )
    return task


def _changed(task: ResearchTask, row: Erratum) -> dict[str, object]:
    paths, citations = row.change.paths, row.change.citations
    if absent := sorted(set(paths) - set(task.mask)):
        raise DataError(
            f"Errata row {row.id!r} replaces {absent[0]}, which {task.id} does not mask."
        )
    update: dict[str, object] = {}
    if row.change.commit:
        repository = task.repository.model_copy(update={"commit": row.change.commit})
        update["repository"] = repository
    if paths or citations:
        reference = task.reference
        update["mask"] = _renamed(task.mask, paths)
        update["reference"] = reference.model_copy(
            update={
                "source": _renamed(reference.source, paths),
                "requirements": tuple(_cited(each, citations) for each in reference.requirements),
            }
        )
    return update


def _renamed(paths: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return _unique(tuple(names.get(path, path) for path in paths))


def _cited(requirement: Requirement, names: Mapping[str, str]) -> Requirement:
    citations = tuple(
        Citation(path=names.get(each.path, each.path), ranges=each.ranges)
        for each in requirement.citations
    )
    return requirement.model_copy(update={"citations": citations})


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _unknown(row: Erratum, task_id: str) -> DataError:
    return DataError(f"Errata row {row.id!r} names {task_id}, which the release does not have.")
