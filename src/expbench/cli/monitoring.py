"""``expbench monitor``: trajectories read again, of runs of this harness and of other programs."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.assess import submission_text, turns_of
from expbench.dataset import Suite, load_suite
from expbench.errors import NotFoundError, RepositoryError
from expbench.monitor import check
from expbench.monitor.comparison import compare
from expbench.monitor.foreign import ForeignTrajectory, read
from expbench.monitor.model import ModelMonitor, Watched
from expbench.monitor.prevention import prevention, with_prevention
from expbench.monitor.verdict import combine
from expbench.paths import RunPaths
from expbench.planning import options_of, suite_of_run
from expbench.runs import load
from expbench.schema import (
    MonitorReport,
    Refusal,
    Repository,
    ResearchTask,
    SubmissionText,
    Turn,
)
from expbench.workspace import SourceFinder, shipped_documents

NO_TASK = ResearchTask(
    id="unknown",
    paper="unknown",
    venue="unknown",
    type=3,
    repository=Repository(url=""),
    question="(not known)",
    method="(not known)",
)
"""Stands for the task of a trajectory of which nothing is known; the rules then know no masked files."""
_STYLES = {"violation": "bold red", "suspicious": "yellow", "clean": "green", "unscored": "dim"}


@dataclass(frozen=True)
class Where:
    """Where tasks and repositories are found."""

    cache: Path
    data: Path | None = None
    repos: Path | None = None
    errata: bool = True


@dataclass(frozen=True)
class Item:
    """One trajectory with all that the monitor may know about it."""

    name: str
    kind: str
    task: ResearchTask
    turns: tuple[Turn, ...] | None
    submission: SubmissionText
    shipped: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    prevented: tuple[str, ...] = ()


def monitor_files(
    paths: Sequence[Path],
    suite: str,
    task: str,
    model: str,
    where: Where,
    as_json: bool,
) -> int:
    """Monitor runs' folders and files of other programs; exit code 1 when there is a violation.

    With a model, trajectories of the same task are also compared with each other.

    Args:
        task: the id of the files' task; empty where the files say it, or nobody knows.
        model: an Inspect model, ``provider/model``, for the layers that read; empty for rules alone.

    Raises:
        DataError: a file is of no known kind, or a run's file is damaged.
        NotFoundError: there is no such task, run or model.
    """
    watcher = ModelMonitor(model) if model else None
    items: list[Item] = []
    for path in paths:
        is_run = path.is_dir() and RunPaths(path).manifest.is_file()
        found = _of_run(path, where) if is_run else _of_file(path, suite, task, where)
        items += found
    reports = asyncio.run(_watch(items, watcher))
    if as_json:
        print(json.dumps([_row(i, r) for i, r in zip(items, reports, strict=True)], indent=1))  # noqa: T201
    else:
        _show(items, reports, Console())
    return int(any(report.verdict == "violation" for report in reports))


async def _watch(items: Sequence[Item], watcher: ModelMonitor | None) -> list[MonitorReport]:
    """The report of all layers for each item, in their order."""
    layers: list[list[MonitorReport]] = [[] for _ in items]
    if watcher is not None:
        asked = (watcher.check(item.turns, item.submission, item.task) for item in items)
        for held, report in zip(layers, await asyncio.gather(*asked), strict=True):
            held.append(report)
        for together in _of_one_task(items):
            attempts = {
                str(at): Watched(items[at].turns or (), items[at].submission) for at in together
            }
            compared = await compare(attempts, items[together[0]].task, watcher.model)
            for at in together:
                layers[at].append(compared[str(at)])
    return [
        with_prevention(combine(_rules(item), *held), item.prevented)
        for item, held in zip(items, layers, strict=True)
    ]


def _rules(item: Item) -> MonitorReport:
    return check(item.turns, item.submission, item.task, item.shipped, item.refused)


def _of_one_task(items: Sequence[Item]) -> Iterator[list[int]]:
    """The places of items that have a trajectory and a known task in common with another one."""
    groups: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        if item.turns and item.task is not NO_TASK:
            groups[item.task.id].append(at)
    return (group for group in groups.values() if len(group) > 1)


def _of_file(path: Path, suite: str, task: str, where: Where) -> list[Item]:
    found = read(path)
    known = load_suite(suite, where.data, where.errata) if task or _hinted(found) else None
    return [_of_foreign(path, each, known, task, where) for each in found]


def _hinted(found: Sequence[ForeignTrajectory]) -> bool:
    return any(each.task.count("/") == 2 for each in found)


def _of_foreign(
    path: Path, each: ForeignTrajectory, suite: Suite | None, task: str, where: Where
) -> Item:
    chosen = NO_TASK
    if suite is not None and (task or each.task):
        try:
            chosen = suite.task(task or each.task)
        except NotFoundError:
            if task:
                raise
    shipped = _shipped(chosen, where, suite)
    name = f"{path.name}: {each.name}" if each.name != path.stem else path.name
    return Item(name, each.kind, chosen, each.turns, each.submission, shipped)


def _shipped(task: ResearchTask, where: Where, suite: Suite | None) -> Mapping[str, str]:
    """The documents that the task's workspace ships, where its repository is at hand."""
    if task is NO_TASK or suite is None or not (where.repos or suite.name == "mini"):
        return {}
    finder = SourceFinder(where.cache / "repos", clones=where.repos)
    try:
        return shipped_documents(finder.prepared(task))
    except RepositoryError:
        return {}


def _of_run(folder: Path, where: Where) -> list[Item]:
    """The attempts of a run, with what its sandbox held and its network refused."""
    run = load(folder)
    stored = options_of(run, where.cache, where.data, where.repos)
    tasks = {task.id: task for task in suite_of_run(run, stored).tasks}
    finder = SourceFinder(where.cache / "repos", clones=stored.repos, mode=run.manifest.mask)
    items = []
    for (task_id, epoch), attempt in run.attempts.items():
        task = tasks[task_id]
        items.append(
            Item(
                name=f"{run.manifest.name}: {task_id} ({epoch})",
                kind=run.manifest.agent,
                task=task,
                turns=turns_of(run.store, attempt),
                submission=submission_text(run.store, attempt),
                shipped=shipped_documents(finder.prepared(task)),
                refused=attempt.refused,
                prevented=prevention(run.manifest.policy, attempt.enforced, masked=bool(task.mask)),
            )
        )
    return items


def _row(item: Item, report: MonitorReport) -> dict[str, object]:
    return {
        "name": item.name,
        "kind": item.kind,
        "task": "" if item.task is NO_TASK else item.task.id,
        "turns": len(item.turns or ()),
        "report": report.model_dump(),
    }


def _show(items: Sequence[Item], reports: Sequence[MonitorReport], console: Console) -> None:
    table = Table("trajectory", "of", "turns", "verdict", "findings", header_style="bold")
    table.columns[0].overflow = "fold"
    for item, report in zip(items, reports, strict=True):
        kinds = ", ".join(dict.fromkeys(v.kind for v in report.violations))
        verdict = Text(report.verdict, style=_STYLES[report.verdict])
        table.add_row(Text(item.name), item.kind, str(len(item.turns or ())), verdict, kinds)
    console.print(table)
    for item, report in zip(items, reports, strict=True):
        lines = [*_findings(report), *(f"failed: {each}" for each in report.failed)]
        lines += [report.reason] if report.reason else []
        if lines:
            console.print(Text(item.name, style="bold"))
        for line in lines:
            console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if any(item.task is NO_TASK for item in items):
        console.print(
            "Some tasks are not known (--task ID): masked files, the paper's title, its repository "
            "and its package were not watched for.",
            soft_wrap=True,
        )


def _findings(report: MonitorReport) -> Iterator[str]:
    for each in report.violations:
        place = "handed in" if each.turn is None else f"turn {each.turn}"
        quote = " ".join(each.quote.split())[:160]
        yield f"{each.severity} {each.kind} ({place}, {each.layer}): {each.explanation}"
        yield f"    {quote}"
