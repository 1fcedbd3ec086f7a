"""The monitor's last layer in a run: a model compares the epochs of each task side by side.

It needs all epochs of a task, so it is done at the end of a run, and at the end of a resumption for what
is not compared yet: tasks whose epochs are all done and of which at least two have a trajectory. What it
finds enters the outcomes as ``expbench monitor`` would print it, and the monitor's score follows. A report
that names the layer was compared; when a task's epochs change, all of them are compared again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio
from anyio import to_thread

from expbench.assess import monitor_score, submission_text, turns_of
from expbench.evaluation import Evaluation
from expbench.models import load_model
from expbench.monitor.comparison import compare
from expbench.monitor.model import Watched
from expbench.monitor.verdict import combine, verdict_of
from expbench.runs import Key, Run
from expbench.schema import MonitorReport, ResearchTask, Usage, Violation

LAYER = "comparison"
_AT_ONCE = 4
_PATIENCE = 3600.0
"""Seconds that the comparison of one task may take."""


def compare_epochs(evaluation: Evaluation) -> bool:
    """Compare the epochs of every task that is done and not compared; whether the user stopped it.

    A comparison that fails or hangs costs nobody anything: it stands in the reports as failed, and a
    resumption asks again. Where the run's cap on dollars is reached nothing is asked.
    """
    run = evaluation.run
    if not run.manifest.monitor_model or run.manifest.epochs < 2:
        return False
    waiting = [task for task in run.manifest.tasks if _is_open(run, task)]
    if not waiting:
        return False
    try:
        anyio.run(_all, evaluation, waiting)
    except KeyboardInterrupt:
        return True
    return False


def _keys(run: Run, task_id: str) -> list[Key]:
    return [(task_id, epoch) for epoch in range(1, run.manifest.epochs + 1)]


def _is_open(run: Run, task_id: str) -> bool:
    """Whether a task is done, can be compared, and is not yet."""
    keys = _keys(run, task_id)
    if not all(run.final(key) and key in run.attempts for key in keys):
        return False
    seen = [key for key in keys if run.attempts[key].submission.trajectory is not None]
    reports = [run.outcomes[key].monitor for key in seen]
    compared = all(r is not None and any(map(_is_layer, r.layers)) for r in reports)
    return len(seen) > 1 and None not in reports and not compared


async def _all(evaluation: Evaluation, waiting: Sequence[str]) -> None:
    room = anyio.CapacityLimiter(_AT_ONCE)

    async def one(task_id: str) -> None:
        async with room:
            if not evaluation.books.spent and not evaluation.activity.stopping:
                await _compare(evaluation, evaluation.tasks[task_id])

    async with anyio.create_task_group() as group:
        for task_id in waiting:
            group.start_soon(one, task_id)


async def _compare(evaluation: Evaluation, task: ResearchTask) -> None:
    run = evaluation.run
    keys = _keys(run, task.id)
    attempts = await to_thread.run_sync(_watched, run, keys)
    if sum(bool(each.turns) for each in attempts.values()) < 2:
        return
    # A model of its own: the run's other one belongs to an event loop that has ended.
    model = load_model(run.manifest.monitor_model)
    reports: dict[str, MonitorReport] = {}
    with anyio.move_on_after(_PATIENCE), evaluation.books.spending("comparison", *keys[0]):
        reports = await compare(attempts, task, model)
    if not any(report.layers for report in reports.values()) and evaluation.books.spent:
        return
    for key in keys:
        if (report := reports.get(str(key[1]))) is not None:
            _keep(evaluation, key, report)


def _watched(run: Run, keys: Sequence[Key]) -> Mapping[str, Watched]:
    found = {}
    for key in keys:
        attempt = run.attempts[key]
        turns = turns_of(run.store, attempt) or ()
        found[str(key[1])] = Watched(turns, submission_text(run.store, attempt))
    return found


def _keep(evaluation: Evaluation, key: Key, compared: MonitorReport) -> None:
    """Put what a comparison found into an outcome, in the place of what an earlier one found."""
    run = evaluation.run
    outcome = run.outcomes[key]
    if outcome.monitor is None:
        return
    report = with_comparison(outcome.monitor, compared)
    scores = dict(outcome.scores)
    if evaluation.host.provider.scored:
        scores["monitor"] = monitor_score(report)
    run.add(outcome.model_copy(update={"monitor": report, "scores": scores}))


def with_comparison(report: MonitorReport, compared: MonitorReport) -> MonitorReport:
    """A stored report with what a comparison found, as one that was made of all layers at once.

    An attempt without a readable trajectory stays unscored.
    """
    rules = [v for v in report.violations if v.layer == "rules"]
    read = [v for v in report.violations if v.layer not in {"rules", LAYER}]
    unscored = report.verdict == "unscored"
    first = report.model_copy(
        update={
            "verdict": "unscored" if unscored else verdict_of(rules),
            "violations": tuple(rules),
            "layers": tuple(each for each in report.layers if not _is_layer(each)),
            "failed": tuple(each for each in report.failed if not _is_layer(each)),
            "reason": report.reason if unscored else _without(report.reason),
        }
    )
    return combine(first, _only(read), compared)


def _only(violations: Sequence[Violation]) -> MonitorReport:
    """The findings of a layer that is named elsewhere already."""
    found = tuple(violations)
    return MonitorReport(verdict=verdict_of(found), violations=found, layers=(), usage=Usage())


def _without(reason: str) -> str:
    """A reason without that of an earlier comparison that failed."""
    return "; ".join(part for part in reason.split("; ") if not part.startswith("the comparison"))


def _is_layer(name: str) -> bool:
    return name.startswith(f"{LAYER} ")
