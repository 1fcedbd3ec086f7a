"""``expbench tasks list|show|prepare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from expbench.dataset import load_suite, suite_of
from expbench.errors import UserError
from expbench.sandboxes.host import other_owner
from expbench.schema import ResearchTask
from expbench.workspace import Prepared, SourceFinder, materialise
from expbench.workspace.repository.contents import read_contents
from expbench.workspace.strict import MaskMode


def list_suite(suite: str, data: Path | None, as_json: bool, errata: bool = True) -> int:
    """Print a suite's tasks."""
    loaded = load_suite(suite, data, errata)
    if as_json:
        _print_json(
            {
                "suite": loaded.name,
                "version": loaded.version,
                "tasks": [
                    {"id": t.id, "type": t.type, "category": t.category, "title": t.title}
                    for t in loaded.tasks
                ],
            }
        )
        return 0
    table = Table("task", "type", "category", "question", box=None, header_style="bold")
    for task in loaded.tasks:
        table.add_row(task.id, str(task.type), task.category, _line(task.question, 80))
    console = Console()
    console.print(table)
    papers = len({task.paper for task in loaded.tasks})
    console.print(f"{len(loaded.tasks)} tasks of {papers} papers, version {loaded.version}")
    return 0


def show(
    task_id: str,
    data: Path | None,
    truth: bool,
    as_json: bool,
    repo: str | None = None,
    repos: Path | None = None,
    cache: Path = Path(),
    errata: bool = True,
) -> int:
    """Print a task and how to run it, with ``truth`` also what no agent may see."""
    from expbench.cli.describing import how_to_run, how_to_run_markdown

    task = load_suite(suite_of(task_id), data, errata).task(task_id)
    if as_json:
        view = task.prompt_view().model_dump()
        view["reproduce"] = how_to_run(task, repo, repos, cache)
        _print_json({**view, "reference": task.reference.model_dump()} if truth else view)
        return 0
    steps = how_to_run_markdown(task, repo, repos, cache)
    Console().print(Markdown(f"{_as_markdown(task, truth)}\n\n{steps}"))
    return 0


def prepare(
    task_id: str,
    dest: Path,
    repo: str | None,
    data: Path | None,
    cache: Path,
    as_json: bool,
    errata: bool = True,
    mode: MaskMode = "strict",
) -> int:
    """Write the masked workspace."""
    task = load_suite(suite_of(task_id), data, errata).task(task_id)
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise UserError(f"{dest} is not empty: give a new or empty folder.")
    finder = SourceFinder(cache / "repos", repo=repo, mode=mode, owner=other_owner())
    prepared = finder.prepared(task)
    materialise(prepared, dest)
    facts = _workspace_facts(task, prepared, dest, mode)
    if as_json:
        _print_json(facts)
        return 0
    console = Console(highlight=False)

    def line(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    line(f"{task.id}: {facts['files']} files in {dest}, one commit, no history")
    line(f"removed: {', '.join(prepared.removed) or 'nothing'}")
    for each in prepared.survivors:
        line(f"{each.action}: {each.path} ({each.reason})")
    for name, what in (
        ("refused", "left out"),
        ("stubs", "neutral text, because packaging reads them"),
        ("lfs", "pointers of git LFS, their content is not in the repository"),
        ("environment", "variables for builds that ask git for their version"),
    ):
        if facts[name]:
            line(f"{what}: {', '.join(facts[name])}")
    return 0


def _workspace_facts(
    task: ResearchTask, prepared: Prepared, dest: Path, mode: MaskMode
) -> dict[str, Any]:
    contents = read_contents(prepared.frozen.source.git_dir)
    described = prepared.frozen.source.described
    return {
        "task": task.id,
        "workspace": str(dest),
        "commit": task.repository.commit or "shipped",
        "describe": described.answer if described else "",
        "files": len(prepared.entries),
        "removed": list(prepared.removed),
        "mask": mode,
        "survivors": [
            {"path": each.path, "action": each.action, "reason": each.reason}
            for each in prepared.survivors
        ],
        "refused": [f"{path} ({why})" for path, why in prepared.refused],
        "stubs": list(prepared.stubs),
        "lfs": list(contents.lfs) if contents else [],
        "environment": [f"{name}={value}" for name, value in prepared.environment.items()],
    }


def _as_markdown(task: ResearchTask, truth: bool) -> str:
    view = task.prompt_view()
    parts = [
        f"# {view.task_id}",
        f"*type {task.type}, {task.category}: {task.title}*",
        f"## Question\n\n{view.question}",
        f"## Method\n\n{view.method}",
    ]
    if view.instructions:
        parts.append(f"## Instructions\n\n{view.instructions}")
    masked = "\n".join(f"- `{path}`" for path in view.masked) or "nothing"
    parts.append(f"## Masked\n\n{masked}")
    if truth:
        reference = task.reference
        design = "\n".join(f"- {item.kind}: {item.text}" for item in reference.design)
        steps = "\n".join(f"1. {step.text}" for step in reference.requirements)
        parts += [
            f"## Ground truth: design\n\n{design}",
            f"## Ground truth: requirements\n\n{steps or 'none known'}",
            f"## Ground truth: conclusion\n\n{reference.conclusion}",
        ]
    return "\n\n".join(parts)


def _line(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201
