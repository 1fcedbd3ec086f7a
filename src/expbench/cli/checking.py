"""``expbench tasks check``: what the lint finds, and the table of a suite's soundness."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.cli.progress import progress_view
from expbench.dataset import load_suite
from expbench.dataset.lint import RULES, Finding
from expbench.dataset.taskfile import write_template
from expbench.planning import Options
from expbench.preflight import TaskCheck, check_own_file, check_runs, check_static
from expbench.runner import default_max_samples
from expbench.schema import Limits, Policy
from expbench.workspace import SourceFinder
from expbench.workspace.strict import MaskMode

SHOWN = 200
"""Findings up to which all are listed; of more, the errors, and the others as counts."""
_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def check(
    suite: str,
    tasks: tuple[str, ...],
    static: bool,
    max_samples: int | None,
    data: Path | None,
    repos: Path | None,
    cache: Path,
    as_json: bool,
    errata: bool = True,
    mode: MaskMode = "strict",
) -> int:
    """Check a suite; exit code 1 when a task is not sound."""
    loaded = load_suite(suite, data, errata)
    chosen = loaded.select(tasks)
    finder = None
    if suite == "mini" or repos:
        finder = SourceFinder(cache / "repos", clones=repos, mode=mode)
    console = Console(stderr=as_json)
    checks = check_static(chosen, finder)
    if not static:
        options = Options(
            suite=suite,
            data=data,
            repos=repos,
            errata=errata,
            mask=mode,
            cache=cache,
            policy=Policy(limits=Limits(minutes=10.0)),
        )
        able = sum(1 for task in chosen if task.venue == "mini")
        with (
            tempfile.TemporaryDirectory(prefix="expbench-check-") as folder,
            progress_view(console, 2 * able, 0, f"{suite}: oracle and empty submission") as view,
        ):
            samples = max_samples or default_max_samples()
            checks = check_runs(loaded, checks, options, Path(folder), samples, view)
    return _report(checks, console, as_json, runs=not static)


def check_task_file(file: Path, as_json: bool) -> int:
    """Check a task file of one's own; exit code 1 when it has an error."""
    return _report(check_own_file(file), Console(stderr=as_json), as_json, runs=False)


def new_task_file(dest: Path, as_json: bool) -> int:
    """Write the example of a task file."""
    write_template(dest)
    if as_json:
        print(json.dumps({"written": str(dest)}))  # noqa: T201
    else:
        print(f"{dest} written; `expbench tasks check {dest}` checks it.")  # noqa: T201
    return 0


def _report(checks: Sequence[TaskCheck], console: Console, as_json: bool, runs: bool) -> int:
    if as_json:
        print(json.dumps([each.model_dump() for each in checks], indent=1))  # noqa: T201
    else:
        _show(checks, console, runs)
    return 0 if all(each.sound for each in checks) else 1


def _show(checks: Sequence[TaskCheck], console: Console, runs: bool) -> None:
    findings = [finding for each in checks for finding in each.findings]
    if runs and len(checks) <= 60:
        console.print(_scores(checks))
    listed = findings if len(findings) <= SHOWN else [f for f in findings if f.severity == "error"]
    if listed:
        console.print(_findings(listed))
        for rule in dict.fromkeys(each.rule for each in listed):
            console.print(f"{rule}: {RULES[rule].meaning}. {RULES[rule].mend}", highlight=False)
    if len(listed) < len(findings):
        console.print(_counts(findings))
        console.print("Only errors are listed; --json, --task or a smaller --suite gives them all.")
    told = {(each.task, str(each)) for each in findings}
    for each in checks:
        for problem in each.problems:
            if (each.task_id, problem) not in told:
                console.print(
                    f"{each.task_id}: {problem}", markup=False, highlight=False, soft_wrap=True
                )
    bad = sum(not each.sound for each in checks)
    skipped = sum(bool(each.skipped) for each in checks)
    waived = sum(each.waived for each in checks)
    console.print(
        f"{len(checks)} tasks checked, {bad} not sound, {skipped} not checked in full, "
        f"{len(findings)} findings, {waived} waived"
    )


def _scores(checks: Sequence[TaskCheck]) -> Table:
    table = Table("task", "oracle", "empty", "measured", "findings", "sound", header_style="bold")
    for each in checks:
        sound = "yes" if each.sound else "NO"
        count = str(len(each.findings))
        table.add_row(each.task_id, each.oracle, each.null, each.measured, count, sound)
    return table


def _findings(findings: Sequence[Finding]) -> Table:
    table = Table("severity", "task and place", "finding", header_style="bold", show_lines=True)
    table.columns[1].overflow = "fold"
    for each in findings:
        table.add_row(
            Text(each.severity, style=_STYLES[each.severity]),
            Text(f"{each.task}\n{each.place}"),
            Text(f"{each.rule}: {each.evidence}"),
        )
    return table


def _counts(findings: Sequence[Finding]) -> Table:
    table = Table("rule", "severity", "findings", "tasks", header_style="bold")
    counts = Counter((each.rule, each.severity) for each in findings)
    for (rule, severity), count in sorted(counts.items()):
        tasks = {f.task for f in findings if (f.rule, f.severity) == (rule, severity)}
        table.add_row(rule, severity, str(count), str(len(tasks)))
    return table
