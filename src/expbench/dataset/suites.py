"""Suites: named, versioned lists of tasks, and where their code and oracles are.

``mini`` ships in this package with its repositories and oracle solutions. All others are parts of the
released data set, which the user points to: its tiers (:mod:`expbench.dataset.tiers`), one paper, one
category, one type. A suite's version is a digest of its tasks, so a change of data, errata or rule that
changes what is scored is another version (R16).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from expbench.dataset.errata import apply_errata
from expbench.dataset.flags import flags_of
from expbench.dataset.release import ORACLE_NAME, SUFFIX, Paper, load_paper, load_release
from expbench.dataset.resources import resources_of
from expbench.dataset.tiers import TIERS, tier
from expbench.errors import DataError, NotFoundError, UserError
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, Record, ResearchTask

SUITES = ("mini", *(each.name for each in TIERS))
_SHIPPED = "shipped:"
PATCH_NAME = "solution.patch"
MEASURED_NAME = "measured.json"


class Oracle(Record):
    """A solution that is right by construction: the gold run of ``tasks check``.

    ``measured`` are the numbers that the script prints in its last line, ``MEASURED {json}``.
    """

    response: str
    patch: bytes
    script: str
    measured: dict[str, float]


@dataclass(frozen=True)
class Suite:
    """Tasks in a fixed order. ``version`` is a digest of everything in them."""

    name: str
    tasks: tuple[ResearchTask, ...]

    @property
    def version(self) -> str:
        """The first 12 hex digits of a sha256 over all tasks, ground truth and errata included.

        Flags say which tasks are in a suite and nothing about what is scored, so they are left out.
        """
        digest = hashlib.sha256()
        for task in self.tasks:
            digest.update(task.model_dump_json(exclude={"flags"}).encode())
        return digest.hexdigest()[:12]

    def select(self, ids: Sequence[str]) -> tuple[ResearchTask, ...]:
        """The named tasks in the suite's order, or all of them when none is named.

        Raises:
            NotFoundError: an id is not in the suite.
        """
        known = {task.id for task in self.tasks}
        for name in ids:
            if name not in known:
                raise NotFoundError(
                    f"Suite {self.name!r} has no task {name!r}: "
                    f"`expbench tasks list --suite {self.name}` lists them."
                )
        return tuple(task for task in self.tasks if not ids or task.id in set(ids))

    def task(self, task_id: str) -> ResearchTask:
        """One task by id. Raises NotFoundError."""
        return self.select([task_id])[0]


def load_suite(name: str, data: Path | None = None, errata: bool = True) -> Suite:
    """A suite by name: ``mini``, a tier, ``paper:ID``, ``category:NAME`` or ``type:N``.

    Args:
        data: the folder of the released data set, for every suite but ``mini``.
        errata: whether the packaged corrections are applied; without them the release is as it is.

    Raises:
        NotFoundError: no such suite, or no task in it.
        DataError: the data set is not there or cannot be read.
    """
    if name == "mini":
        return Suite("mini", _mini_tasks())
    chosen = tier(name)
    if data is None:
        raise DataError(
            f"Suite {name!r} needs the released data set: `expbench tasks fetch` brings it, or give "
            "its folder with --data DIR or EXPBENCH_DATA."
        )
    if not data.is_dir():
        raise DataError(f"{data} is not a folder: give the released data set with --data DIR.")
    tasks = chosen.of(flagged(load_release(data), errata))
    if not tasks and ":" in name:
        raise NotFoundError(
            f"Suite {name!r} holds no task: `expbench suites` lists papers and categories."
        )
    return Suite(name, tasks)


def flagged(tasks: tuple[ResearchTask, ...], errata: bool = True) -> tuple[ResearchTask, ...]:
    """The tasks with the errata applied and with all flags that this package has evidence for.

    Without errata the tasks keep their content and still carry the flags; a mask that only the errata
    repair is then unrepairable.
    """
    mended = apply_errata(tasks)
    if errata:
        return tuple(_with_flags(task, task.flags) for task in mended)
    return tuple(
        _with_flags(task, (*known.flags, *(["mask_unrepairable"] if _repaired(known) else [])))
        for task, known in zip(tasks, mended, strict=True)
    )


def _repaired(task: ResearchTask) -> bool:
    return "mask_repaired" in task.flags


def _with_flags(task: ResearchTask, flags: tuple[str, ...]) -> ResearchTask:
    needs = resources_of(task.id)
    found = (*flags, *(row.flag for row in flags_of(task.id)), *(needs.flags if needs else ()))
    return task.model_copy(update={"flags": tuple(dict.fromkeys(found))})


def load_version(name: str, version: str, data: Path | None, with_errata: bool = True) -> Suite:
    """A suite in the version that a run was planned on.

    Raises:
        UserError: it is not at hand, or it is another version.
    """
    suite = load_suite(name, data, with_errata)
    if suite.version != version:
        raise UserError(
            f"The run was made on {suite.name} version {version}, and this is {suite.version}: "
            "scores of two versions are never mixed, start a new run."
        )
    return suite


def suite_of(task_id: str) -> str:
    """The suite that a task id belongs to, by its venue."""
    return "mini" if task_id.startswith("mini/") else "expbench"


def shipped_tree(task: ResearchTask) -> Path | None:
    """The task's repository as a folder of this package, or None when it is a git repository."""
    if not task.repository.url.startswith(_SHIPPED):
        return None
    return _mini_root() / task.repository.url.removeprefix(_SHIPPED) / "repo"


def oracle(task: ResearchTask) -> Oracle:
    """The task's oracle solution.

    Raises:
        NotFoundError: it has none: tasks that ship with this package do, and those that were made with
            their solutions beside the task file.
        DataError: it is not whole.
    """
    tree = shipped_tree(task)
    if tree is None and not task.solution:
        raise NotFoundError(
            f"Task {task.id!r} has no oracle solution: only suite 'mini' and tasks that were constructed "
            "with theirs have them."
        )
    shipped = tree.parent / ORACLE_NAME / task.id.rsplit("/", 1)[1] if tree else None
    folder = shipped or Path(task.solution)
    try:
        return Oracle(
            response=(folder / RESPONSE_NAME).read_text("utf-8"),
            patch=(folder / PATCH_NAME).read_bytes(),
            script=(folder / SCRIPT_NAME).read_text("utf-8"),
            measured=json.loads((folder / MEASURED_NAME).read_text("utf-8")),
        )
    except (OSError, ValueError) as error:
        raise DataError(
            f"{folder} is no whole oracle solution ({error}): export it again."
        ) from None


def _mini_root() -> Path:
    return Path(str(resources.files("expbench.dataset"))) / "mini"


def _mini_tasks() -> tuple[ResearchTask, ...]:
    tasks: list[ResearchTask] = []
    for folder in sorted(path.parent for path in _mini_root().glob("*/paper.json")):
        facts = json.loads((folder / "paper.json").read_text("utf-8"))
        paper = Paper(
            id=folder.name,
            venue="mini",
            title=facts["title"],
            category=facts["category"],
            url=f"{_SHIPPED}{folder.name}",
        )
        tasks.extend(load_paper(folder / f"{folder.name}{SUFFIX}", paper))
    return tuple(tasks)
