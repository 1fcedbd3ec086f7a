"""Is a suite sound? The checks that come before any model is asked (R12, R42).

For each task: it can be masked, the lint finds nothing in the masked tree or in the prompt that gives
the result away (R16, R17), the oracle passes everything and prints the numbers it was measured with, and a
submission of nothing fails everything, in the real sandbox.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from expbench.dataset import Suite, oracle
from expbench.dataset.flags import unwaived, waivers
from expbench.dataset.lint import FILE_RULES, Finding, Tree, lint_text, lint_tree
from expbench.dataset.taskfile import check_file, tasks_of
from expbench.errors import NotFoundError, UserError
from expbench.evaluation import Listener
from expbench.metrics import gated
from expbench.planning import Options, open_evaluation, plan
from expbench.runner import execute
from expbench.runs import Run, create
from expbench.schema import SCORE_NAMES, Outcome, Record, ResearchTask, ScoreName
from expbench.workspace import SourceFinder
from expbench.workspace.documents import WholeTree, read_documents

RELATIVE_TOLERANCE = 1e-3
"""How far a re-measured number may be from the suite's own, on another processor or library."""

_OF_THE_RERUN: tuple[ScoreName, ...] = ("produced", "grounding")
"""What an oracle must not lose either; it may be unscored, where its conclusion has nothing to look up."""
_LETTERS = dict(
    zip((*SCORE_NAMES, *_OF_THE_RERUN), ["M", "D", "I", "C", "E", "E+", "G"], strict=True)
)


class TaskCheck(Record):
    """What was found of one task. ``problems`` are its faults; ``skipped`` what could not be checked."""

    task_id: str
    oracle: str = ""
    null: str = ""
    measured: str = ""
    findings: tuple[Finding, ...] = ()
    waived: int = 0
    """Findings that a person accepted, with a reason, in the errata."""
    problems: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.problems


def check_static(tasks: Sequence[ResearchTask], finder: SourceFinder | None) -> list[TaskCheck]:
    """Masks and the lint; the trees are looked at where ``finder`` can have the repositories.

    A finding of severity "error" that no waiver of the errata covers is a problem.
    """
    trees: dict[tuple[str, str], WholeTree] = {}
    checks = []
    for task in tasks:
        findings = lint_text(task)
        problems: list[str] = []
        skipped: list[str] = []
        if finder is None:
            skipped.append("tree: no repositories at hand")
        else:
            try:
                findings += lint_tree(task, *_masked_tree(finder, task, trees))
            except UserError as error:
                problems.append(str(error))
        checks.append(_static_check(task.id, findings, problems, skipped))
    return checks


def check_own_file(file: Path) -> list[TaskCheck]:
    """Everything that is wrong with a task file of one's own, by task. Raises DataError."""
    findings: dict[str, list[Finding]] = {}
    for each in check_file(file):
        findings.setdefault(each.task, []).append(each)
    names = list(findings)
    if not any(each.rule in FILE_RULES for part in findings.values() for each in part):
        names = [task.id for task in tasks_of(file)]
    skipped = ["tree and runs: a task file has neither"]
    return [_static_check(name, findings.get(name, ()), [], skipped) for name in names]


def _static_check(
    task_id: str, findings: Sequence[Finding], problems: list[str], skipped: list[str]
) -> TaskCheck:
    left = unwaived(findings, waivers())
    errors = [str(each) for each in left if each.severity == "error"]
    return TaskCheck(
        task_id=task_id,
        findings=left,
        waived=len(findings) - len(left),
        problems=(*problems, *errors),
        skipped=tuple(skipped),
    )


def check_runs(
    suite: Suite,
    checks: Sequence[TaskCheck],
    options: Options,
    folder: Path,
    samples: int,
    listener: Listener,
) -> list[TaskCheck]:
    """Run the oracle and the empty submission on the tasks that have an oracle."""
    able = [check.task_id for check in checks if _has_oracle(suite.task(check.task_id))]
    if not able:
        return [c.model_copy(update={"skipped": (*c.skipped, "runs: no oracle")}) for c in checks]
    runs = {}
    for agent in ("oracle", "null"):
        wanted = replace(options, agent=agent, tasks=tuple(able), out=folder / agent)
        run = create(wanted.out, plan(wanted))
        execute(open_evaluation(run, wanted, listener), samples)
        runs[agent] = run
    return [
        _with_runs(check, suite.task(check.task_id), runs) if check.task_id in able else check
        for check in checks
    ]


def _with_runs(check: TaskCheck, task: ResearchTask, runs: Mapping[str, Run]) -> TaskCheck:
    gold = _outcome(runs["oracle"], task)
    empty = _outcome(runs["null"], task)
    problems = list(check.problems)
    if wrong := [name for name in SCORE_NAMES if gated(gold).value(name) != 1.0]:
        problems.append(f"the oracle does not pass {', '.join(wrong)}: {_why(gold, wrong)}")
    if wrong := [name for name in SCORE_NAMES[1:] if gated(empty).value(name) != 0.0]:
        problems.append(f"the empty submission does not fail {', '.join(wrong)}")
    off = _off_measure(runs["oracle"], gold, oracle(task).measured)
    problems += [f"not as measured: {text}" for text in off]
    rerun = {name: gold.scores[name] for name in _OF_THE_RERUN if name in gold.scores}
    problems += [
        f"the oracle's {name} is 0: {score.reason}"
        for name, score in rerun.items()
        if score.value == 0.0
    ]
    return check.model_copy(
        update={
            "oracle": _scores(gold),
            "null": _scores(empty),
            "measured": f"{len(oracle(task).measured) - len(off)} of {len(oracle(task).measured)}",
            "problems": tuple(problems),
        }
    )


def _off_measure(run: Run, outcome: Outcome, measured: Mapping[str, float]) -> list[str]:
    """Numbers of the oracle that its re-run did not print again."""
    output = run.store.text(outcome.execution.stdout) if outcome.execution else ""
    lines = [line for line in output.splitlines() if line.startswith("MEASURED ")]
    try:
        printed = json.loads(lines[-1].removeprefix("MEASURED ")) if lines else {}
    except ValueError:
        printed = {}
    return [
        f"{name} = {printed.get(name)}, was {value}"
        for name, value in measured.items()
        if not _close(printed.get(name), value)
    ]


def _close(found: Any, expected: float) -> bool:
    return isinstance(found, int | float) and math.isclose(
        found, expected, rel_tol=RELATIVE_TOLERANCE, abs_tol=1e-9
    )


def _masked_tree(
    finder: SourceFinder, task: ResearchTask, trees: dict[tuple[str, str], WholeTree]
) -> tuple[Tree, Tree]:
    """The files that an agent finds, and those that were taken out; ``trees`` are kept for others."""
    source = finder.source(task)
    key = (str(source.git_dir), source.commit)
    if key not in trees:
        trees.clear()
        trees[key] = read_documents(source)
    everything = trees[key].files
    names = {os.fsdecode(entry.path) for entry in finder.prepared(task).entries}
    files = {path: document for path, document in everything.items() if path in names}
    masked = {path: everything[path] for path in task.mask if path in everything}
    return files, masked


def _has_oracle(task: ResearchTask) -> bool:
    try:
        oracle(task)
    except NotFoundError:
        return False
    return True


def _outcome(run: Run, task: ResearchTask) -> Outcome:
    return next(outcome for outcome in run.ordered() if outcome.task_id == task.id)


def _why(outcome: Outcome, names: Sequence[str]) -> str:
    """What the first lost items say."""
    reasons = [outcome.scores[name].reason for name in names if name in outcome.scores]
    verdicts = outcome.judgement.verdicts if outcome.judgement else ()
    reasons += [
        f"{verdict.item} {verdict.state}: {verdict.reason}"
        for verdict in verdicts
        if verdict.phase in names and verdict.state != "met"
    ]
    return "; ".join(filter(None, [outcome.reason, *reasons]))[:400]


def _scores(outcome: Outcome) -> str:
    """``M 1 D 1 I 0.9 C 1 E – E+ – G –``."""
    if not outcome.scores:
        return outcome.status
    return " ".join(
        f"{_LETTERS[name]} {'–' if score.value is None else format(score.value, '.3g')}"
        for name, score in outcome.scores.items()
        if name in _LETTERS
    )
