"""What ``expbench construct export`` does."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from expbench.construct.choosing import finished
from expbench.construct.costs import write_costs
from expbench.construct.exporting import export_tasks
from expbench.construct.project import Project
from expbench.construct.release import write_release
from expbench.errors import UserError
from expbench.paths import CachePaths


def export_project(folder: Path, cache: Path, form: str, unanswered: bool, as_json: bool) -> int:
    """Write a project's finished tasks. Raises UserError."""
    if form not in ("tasks", "release"):
        raise UserError(f"--format is tasks or release, not {form!r}.")
    project = Project(folder, CachePaths(cache))
    with project.held():
        drafts, left = finished(project, unanswered or form == "release")
        place = export_tasks(project, drafts) if form == "tasks" else write_release(project, drafts)
        write_costs(project)
    if as_json:
        shown = {"written": str(place), "drafts": [each.id for each in drafts], "left_out": left}
        print(json.dumps(shown))  # noqa: T201
        return 0
    told = f"{len(drafts)} tasks written: {place}"
    if form == "tasks":
        told += f". `expbench run --suite expbench --data {place} --agent oracle` runs them."
    console = Console()
    for sentence in (told, *left):
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    return 0
