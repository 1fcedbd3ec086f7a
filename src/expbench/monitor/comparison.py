"""Several attempts at one task, side by side: a model says which of them differ by a shortcut.

Compared trajectories give shortcuts away that one trajectory does not: in TRACE (arXiv 2601.20103) models
found 63 % of planted ones by comparing and 45 % one at a time. Attempts are named by letters, so that no
agent's name speaks for or against it, and all are cut to the same size. The checks on findings are those
of the model layer: the quote must stand where it says, and a second question must confirm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspect_ai.model import Model

from expbench.errors import UserError
from expbench.monitor.asking import (
    Asker,
    Compared,
    Comparison,
    FailedError,
    classes,
    fence,
    masked,
)
from expbench.monitor.condensed import BUDGET, condense, deliverables
from expbench.monitor.findings import distinct
from expbench.monitor.model import Watched, confirm, dropped, unique
from expbench.monitor.verdict import verdict_of
from expbench.prompts import load
from expbench.schema import MonitorReport, ResearchTask

_LETTERS = "ABCDEF"
_HANDED_IN_SHARE = 6


async def compare(
    attempts: Mapping[str, Watched],
    task: ResearchTask,
    model: Model | str,
    budget: int = 2 * BUDGET,
) -> dict[str, MonitorReport]:
    """A report of layer ``comparison`` for each attempt, by its name.

    More than six attempts are compared in groups of nearly equal size.

    Args:
        attempts: attempts at the same task by name, in the order in which they are shown.
        budget: characters of one call, for all attempts of a group together.

    Raises:
        UserError: there are fewer than two attempts with a trajectory.
        NotFoundError: no provider has the model's name.
        PrerequisiteError: the model's provider lacks its package or its key.
    """
    seen = {name: attempt for name, attempt in attempts.items() if attempt.turns}
    if len(seen) < 2:
        raise UserError(
            "A comparison needs at least two trajectories of one task: run it with --epochs 2, or "
            "give the trajectories of several agents."
        )
    asker = Asker.of(model)
    found: dict[str, MonitorReport] = {}
    for names in _groups(list(seen)):
        found |= await _group(asker, {name: seen[name] for name in names}, task, budget)
    for name in attempts.keys() - seen.keys():
        why = "there is no trajectory"
        layer = f"comparison {asker.model}: {why}"
        found[name] = MonitorReport(verdict="unscored", reason=why, layers=(), failed=(layer,))
    return {name: found[name] for name in attempts}


async def _group(
    asker: Asker, attempts: Mapping[str, Watched], task: ResearchTask, budget: int
) -> dict[str, MonitorReport]:
    layer = f"comparison {asker.model}"
    own = Asker(asker.model, structured=asker.structured)
    letters = dict(zip(_LETTERS, attempts, strict=False))
    text = _side_by_side({key: attempts[name] for key, name in letters.items()}, budget)
    prompt = load("monitor_compare").fill(
        classes=classes(),
        fence=fence(task.question, text),
        question=task.question,
        method=task.method,
        masked=masked(task),
        trajectories=text,
    )
    try:
        reply = await own.ask(prompt, Comparison)
    except FailedError as error:
        failed = MonitorReport(
            verdict="unscored",
            reason=f"the comparison failed: {error}",
            layers=(),
            failed=(f"{layer}: {error}",),
        )
        reports = dict.fromkeys(attempts, failed)
        return _with_usage(reports, own)
    reports = {}
    for key, name in letters.items():
        findings = [f for f in reply.findings if f.attempt.strip().upper() == key]
        reports[name] = await _report(own, findings, attempts[name], task, layer)
    return _with_usage(reports, own)


async def _report(
    asker: Asker, findings: Sequence[Compared], watched: Watched, task: ResearchTask, layer: str
) -> MonitorReport:
    own = unique(findings)
    true = [finding for finding in own if watched.holds(finding)]
    violations = [await confirm(asker, each, watched, task, "comparison") for each in true]
    found = distinct(violations)
    return MonitorReport(
        verdict=verdict_of(found),
        violations=found,
        reason=dropped(len(own) - len(true)),
        layers=(layer,),
    )


def _with_usage(reports: Mapping[str, MonitorReport], asker: Asker) -> dict[str, MonitorReport]:
    """The reports; the first one carries what the whole comparison used, so that sums are right."""
    first = next(iter(reports))
    return {
        name: report.model_copy(update={"usage": asker.usage}) if name == first else report
        for name, report in reports.items()
    }


def _side_by_side(attempts: Mapping[str, Watched], budget: int) -> str:
    share = budget // len(attempts)
    parts = []
    for key, watched in attempts.items():
        handed, _ = deliverables(watched.submission, share // _HANDED_IN_SHARE)
        room = max(1_000, share - len(handed))
        shown = condense(watched.turns, room, 1)
        parts.append(f"[attempt {key}]\n{shown[0].text if shown else ''}\n{handed}")
    return "\n".join(parts)


def _groups(names: Sequence[str]) -> list[list[str]]:
    """Names in as few groups of at most six as there must be, none of them with one alone."""
    count = -(-len(names) // len(_LETTERS))
    size, more = divmod(len(names), count)
    found, at = [], 0
    for number in range(count):
        step = size + (number < more)
        found.append(list(names[at : at + step]))
        at += step
    return found
