"""``expbench construct status``: how far each draft is, what each stage cost and took."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expbench.cli.construct_work import state_of
from expbench.construct.costs import CostReport, cost_report
from expbench.construct.project import Project
from expbench.construct.records import STAGES, Draft
from expbench.construct.stages import at
from expbench.construct.task import value
from expbench.paths import CachePaths


def show_status(folder: Path, cache: Path, as_json: bool) -> int:
    """Print it; nothing is changed. Raises UserError."""
    project = Project(folder, CachePaths(cache))
    facts, drafts = project.facts, project.drafts()
    report = cost_report(project)
    next_stages = {each.id: at(each, project.trace(each)) for each in drafts}
    if as_json:
        shown = {
            "project": facts.model_dump(mode="json"),
            "drafts": [_row(each, next_stages[each.id]) for each in drafts],
            "cost": report.model_dump(mode="json"),
        }
        print(json.dumps(shown, ensure_ascii=False))  # noqa: T201
        return 0
    console = Console()
    console.print(
        f"{facts.name}: {facts.repository.url} at {facts.repository.commit[:12]}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    console.print(_stages(report))
    if drafts:
        table = Table("draft", "question", "next", "rounds", "state", header_style="bold")
        for each in drafts:
            question = Text(str(value(each, "question"))[:80])
            told = "–" if each.refused or each.verified else next_stages[each.id]
            table.add_row(each.id, question, told, str(each.rounds), Text(state_of(each)))
        console.print(table)
    dollars = "not known" if report.dollars is None else f"{report.dollars:.2f}"
    people = sum(report.reviewers.values())
    console.print(
        f"{report.verified} of {report.drafts} drafts verified, {report.rounds} sent back; dollars: "
        f"{dollars} (aimed at: {report.target:g} at most); a person's minutes: {people:g}",
        highlight=False,
        soft_wrap=True,
    )
    return 0


def _row(draft: Draft, stage: str) -> dict[str, object]:
    return {
        "id": draft.id,
        "question": value(draft, "question"),
        "next": stage,
        "rounds": draft.rounds,
        "verified": draft.verified,
        "refused": draft.refused,
        "no_answer": draft.no_answer,
        "back": draft.back,
        "why": draft.why,
    }


def _stages(report: CostReport) -> Table:
    table = Table(
        "stage", "begun", "ended", "minutes", "model", "calls", "dollars", header_style="bold"
    )
    for stage in STAGES:
        time = next((each for each in report.times if each.stage == stage), None)
        own = [each for each in report.costs if each.stage == stage]
        if time is None and not own:
            continue
        for cost in own or (None,):
            table.add_row(
                stage,
                str(time.begun) if time else "–",
                str(time.ended) if time else "–",
                f"{time.minutes:.1f}" if time else "–",
                cost.model if cost else "–",
                str(cost.calls) if cost else "–",
                "–" if cost is None or cost.dollars is None else f"{cost.dollars:.4f}",
            )
    return table
