"""``expbench tasks claims``: conclusions as atomic claims, to read, to store and to review."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from expbench.dataset import load_suite
from expbench.dataset.claims import (
    StoredSplit,
    read_claims,
    split_of,
    task_claims,
    with_claims,
    write_claims,
)
from expbench.errors import UserError
from expbench.schema import ResearchTask


def split_claims(
    suite: str,
    task_ids: tuple[str, ...],
    data: Path | None,
    model: str | None,
    file: Path | None,
    out: Path | None,
    as_json: bool,
    errata: bool = True,
) -> int:
    """Print every task's claims, and write the splits to ``out``.

    Claims are those of ``file`` (a reviewed split) or of a model, else a task's own, else the stored split of
    its conclusion or the one by rules.

    Raises:
        UserError: ``model`` and ``file`` are both given, or the file does not fit.
    """
    if model and file:
        raise UserError("--model makes a split and --claims brings one: give one of them.")
    tasks = load_suite(suite, data, errata).select(task_ids)
    refused: dict[str, str] = {}
    splits: dict[str, StoredSplit] = {}
    if file is not None:
        with_claims(tasks, file)  # refuses what does not fit
        known = {task.id for task in tasks}
        splits = {name: split for name, split in read_claims(file).items() if name in known}
    elif model is not None:
        splits, refused = asyncio.run(_by_model(model, tasks))
    written = write_claims(tasks, out, splits) if out is not None else 0
    if as_json:
        _print_json(tasks, splits, refused)
        return 0
    console = Console(highlight=False)
    console.print(_table(tasks, splits))
    for name, why in refused.items():
        console.print(f"{name}: split by rules, since the model's was refused ({escape(why)})")
    console.print(_summary(tasks, splits))
    if out is not None:
        console.print(
            f"{written} splits in {escape(str(out))}; tasks with claims of their own have none"
        )
    return 0


async def _by_model(
    model: str, tasks: tuple[ResearchTask, ...]
) -> tuple[dict[str, StoredSplit], dict[str, str]]:
    """Splits by a model, and why some of them are the rules' after all."""
    from expbench.judges.claim_splitting import split_with
    from expbench.models import load_model

    asked = load_model(model)
    slots = asyncio.Semaphore(8)
    wanted = [task for task in tasks if not task.reference.claims and split_of(task)]

    async def one(task: ResearchTask) -> tuple[str, StoredSplit, str]:
        async with slots:
            made = await split_with(asked, task)
        return task.id, made.split, made.refused

    done = await asyncio.gather(*map(one, wanted))
    splits = {name: split for name, split, _ in done}
    return splits, {name: why for name, _, why in done if why}


def _rows(task: ResearchTask, splits: Mapping[str, StoredSplit]) -> list[tuple[str, str, bool]]:
    split = splits.get(task.id)
    claims = split.claims_for(task.reference.conclusion) if split else task_claims(task)
    return [(claim.text, claim.kind, claim.essential) for claim in claims]


def _by(task: ResearchTask, splits: Mapping[str, StoredSplit]) -> str:
    if task.id not in splits and task.reference.claims:
        return "the task"
    split = splits.get(task.id) or split_of(task)
    return split.by if split else "nobody"


def _table(tasks: tuple[ResearchTask, ...], splits: Mapping[str, StoredSplit]) -> Table:
    table = Table("task", "by", "essential", "kind", "claim", box=None, header_style="bold")
    for task in tasks:
        name, by = task.id, _by(task, splits)
        for text, kind, essential in _rows(task, splits):
            table.add_row(name, by, "yes" if essential else "no", kind, escape(text))
            name = by = ""
    return table


def _summary(tasks: tuple[ResearchTask, ...], splits: Mapping[str, StoredSplit]) -> str:
    rows = [_rows(task, splits) for task in tasks]
    claims = sum(map(len, rows))
    essential = sum(each[2] for row in rows for each in row)
    by = Counter(_by(task, splits) for task in tasks)
    makers = ", ".join(f"{count} by {name}" for name, count in by.most_common())
    return f"{claims} claims of {len(tasks)} tasks, {essential} of them essential; {makers}"


def _print_json(
    tasks: tuple[ResearchTask, ...], splits: Mapping[str, StoredSplit], refused: Mapping[str, str]
) -> None:
    rows = {
        task.id: {
            "by": _by(task, splits),
            "refused": refused.get(task.id, ""),
            "claims": [
                {"text": text, "kind": kind, "essential": essential}
                for text, kind, essential in _rows(task, splits)
            ],
        }
        for task in tasks
    }
    print(json.dumps(rows, indent=1, ensure_ascii=False))  # noqa: T201
