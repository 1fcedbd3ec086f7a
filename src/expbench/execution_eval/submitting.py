"""From a case to what the pipeline works on: a task, its masked tree, and a submission in a store.

The handed-in files are put on the masked tree and taken from it again as an agent's are, so that a
case meets the same comparison, patch and text view.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from expbench.dataset import load_suite, shipped_tree
from expbench.errors import DataError, InfrastructureError, NotFoundError, RepositoryError
from expbench.execution_eval.cases import MINI, PATCH_NAME, Case, HandedIn
from expbench.schema import RESPONSE_NAME, Repository, ResearchTask, Submission, SubmissionText
from expbench.workspace import (
    BlobStore,
    Prepared,
    SourceFinder,
    collect,
    from_folder,
    materialise_patched,
    record_submission,
)
from expbench.workspace.prepare import mask


@dataclass(frozen=True)
class Submitted:
    """A case as the pipeline sees it."""

    task: ResearchTask
    prepared: Prepared
    submission: Submission
    text: SubmissionText


def submit(case: Case, sources: SourceFinder, store: BlobStore) -> Submitted:
    """Put a case's submission into the store.

    Raises:
        DataError: its patch does not apply, a file's path is none, or its task is unknown.
    """
    task = task_of(case)
    prepared = _prepared(case, task, sources)
    with tempfile.TemporaryDirectory(prefix="expbench-case-") as folder:
        workspace = Path(folder, "workspace")
        try:
            materialise_patched(prepared, case.patch, workspace)
        except InfrastructureError as error:
            raise DataError(
                f"Case {case.id}: {PATCH_NAME} does not apply to the masked tree ({error})."
            ) from None
        _hand_in(case, workspace)
        found = collect(workspace, prepared)
    return Submitted(task, prepared, *record_submission(found, task.id, prepared, store))


def task_of(case: Case) -> ResearchTask:
    """The case's task: of suite mini, or its own. Raises DataError."""
    asked = case.spec.task
    if isinstance(asked, str):
        try:
            return load_suite(MINI).task(asked)
        except NotFoundError as error:
            raise DataError(f"Case {case.id}: {error}") from None
    name = case.spec.repository.strip("/").replace("/", "-")
    return ResearchTask(
        id=f"own/{name}/{case.id}",
        paper=name,
        venue="own",
        type=2,
        repository=Repository(url=case.spec.repository),
        question=asked.question,
        method=asked.method,
        instructions=asked.instructions,
        mask=asked.mask,
        limits=case.spec.limits,
    )


def _prepared(case: Case, task: ResearchTask, sources: SourceFinder) -> Prepared:
    """The masked tree: as a run has it for a task of mini, else the folder's."""
    try:
        if isinstance(case.spec.task, str):
            return sources.prepared(task)
        folder = case.repository or _mini_tree(case)
        return mask(from_folder(folder, sources.cache), task.mask, owner=sources.owner)
    except RepositoryError as error:
        raise DataError(f"Case {case.id}: {error}") from None


def _mini_tree(case: Case) -> Path:
    paper = case.spec.repository.rstrip("/").removeprefix(f"{MINI}/")
    for task in load_suite(MINI).tasks:
        tree = shipped_tree(task)
        if tree is not None and task.paper.rsplit("/", 1)[-1] == paper:
            return tree
    raise DataError(f"Case {case.id}: suite mini has no repository {case.spec.repository!r}.")


def _hand_in(case: Case, workspace: Path) -> None:
    given = dict(case.files)
    if case.response is not None:
        given[RESPONSE_NAME] = HandedIn(case.response)
    for name, each in given.items():
        pure = PurePosixPath(name)
        if pure.is_absolute() or {"..", ".git"} & set(pure.parts):
            raise DataError(f"Case {case.id}: {name} is no path of a submission.")
        path = workspace / pure
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(each.content)
        path.chmod(0o755 if each.executable else 0o644)
