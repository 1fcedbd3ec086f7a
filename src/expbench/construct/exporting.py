"""Writing finished drafts as task files: ours, with their solutions, ready for ``expbench run``."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from expbench.construct.project import Project
from expbench.construct.records import Draft
from expbench.construct.solution import write_solution
from expbench.construct.task import entry_of, paper_of, research_task
from expbench.dataset.demands import demands
from expbench.dataset.recipe import cited_code, recipe
from expbench.dataset.release import ORACLE_NAME, SUFFIX
from expbench.dataset.resources import Resources
from expbench.dataset.taskfile import OWN_VENUE
from expbench.schema import Repository
from expbench.workspace import Source
from expbench.workspace.files import SourceFiles

_DOCUMENTS = ("README.md", "requirements.txt", "setup.py", "pyproject.toml", "environment.yml")


def task_file(drafts: Sequence[Draft], repository: Repository) -> dict[str, Any]:
    """The content of a paper's task file."""
    place = {"url": repository.url, "commit": repository.commit}
    return {"questions": [entry_of(draft) for draft in drafts], "repository": place}


def write_data(
    data: Path, drafts: Sequence[Draft], name: str, repository: Repository, source: Source
) -> Path:
    """Write drafts as a data folder, ``own/NAME/NAME_complete_final.json`` with solutions beside it.

    Returns the task file. Raises InfrastructureError.
    """
    folder = data / OWN_VENUE / name
    folder.mkdir(parents=True)
    file = folder / f"{name}{SUFFIX}"
    text = json.dumps(task_file(drafts, repository), indent=1, ensure_ascii=False)
    file.write_text(f"{text}\n", "utf-8")
    for index, draft in enumerate(drafts):
        if not draft.no_answer:
            write_solution(draft, source, folder / ORACLE_NAME / str(index))
    return file


def export_tasks(project: Project, drafts: Sequence[Draft]) -> Path:
    """Write ``out/tasks``, a data folder with these drafts in their order. Raises InfrastructureError."""
    facts, source = project.facts, project.source()
    project.out.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".tasks-", dir=project.out))
    try:
        file = write_data(made, drafts, facts.name, facts.repository, source)
        needs = _resources(project, drafts, source)
        text = json.dumps(needs, indent=1, ensure_ascii=False)
        (file.parent / "resources.json").write_text(f"{text}\n", "utf-8")
        made.chmod(0o755)
        place = project.out / "tasks"
        replace_folder(made, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return place


def replace_folder(made: Path, place: Path) -> None:
    """Put a folder in the place of another; a kill between leaves the new one to be made again."""
    if place.exists():
        old = Path(tempfile.mkdtemp(prefix=".old-", dir=place.parent))
        place.rename(old / "old")
        made.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    else:
        made.rename(place)


def _resources(project: Project, drafts: Sequence[Draft], source: Source) -> list[dict[str, Any]]:
    """What each task needs, and the recipe of its environment, by the rules of the release's tasks."""
    paper = paper_of(project.facts.name, "", project.facts.repository)
    files = SourceFiles(source)
    shared = {path: files.read(path) for path in _DOCUMENTS if path in files.paths}
    found = []
    for index, draft in enumerate(drafts):
        task = research_task(draft, paper, index)
        code = {path: files.read(path) for path in cited_code(files, task)}
        needs: Resources = demands(task, code, shared)
        made = recipe(files, task)
        row = needs.model_copy(update={"environment": made.facts()}).model_dump(mode="json")
        row["recipe"] = made.model_dump(mode="json")
        found.append({"task": task.id, "draft": draft.id, "flags": list(needs.flags), **row})
    return found
