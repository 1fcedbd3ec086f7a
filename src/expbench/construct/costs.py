"""What a paper costs: dollars by stage and model, a person's minutes, and how often drafts went back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from expbench.construct.decisions import decisions
from expbench.construct.journal import Event
from expbench.construct.project import Project, write_text
from expbench.construct.records import STAGES, Stage
from expbench.schema import Record, Usage

TARGET = 10.0
"""Dollars for a paper that are aimed at; the publication reports about 60."""
_PAUSE = 600.0
"""The most seconds that one decision counts with: who is away longer does not review."""


class StageCost(Record):
    """One stage with one model; ``minutes`` is the stage's own time, of every model the same."""

    stage: Stage
    model: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None


class StageTime(Record):
    """How long a stage took by the clock, and how often it was begun."""

    stage: Stage
    minutes: float
    begun: int
    ended: int


class CostReport(Record):
    """All of a project. ``dollars`` is ``None`` where a price is not known."""

    name: str
    dollars: float | None
    target: float = TARGET
    costs: tuple[StageCost, ...]
    times: tuple[StageTime, ...]
    reviewers: dict[str, float]
    """A person's minutes."""
    rounds: int
    """How often drafts went back to an earlier stage."""
    drafts: int
    verified: int

    @property
    def each(self) -> float | None:
        """Dollars for each verified task."""
        return self.dollars / self.verified if self.dollars is not None and self.verified else None


def cost_report(project: Project) -> CostReport:
    """Count a project's journal and reviews. Raises DataError."""
    events, drafts = project.journal.events, project.drafts()
    return CostReport(
        name=project.facts.name,
        dollars=_dollars(project.journal.spent()),
        costs=tuple(_costs(events)),
        times=tuple(_times(events)),
        reviewers=dict(_reviewers(project)),
        rounds=sum(each.kind == "sent_back" for each in events),
        drafts=len(drafts),
        verified=sum(each.verified for each in drafts),
    )


def _dollars(usage: Usage) -> float | None:
    return 0.0 if not usage.calls else usage.dollars


def _costs(events: Sequence[Event]) -> Iterator[StageCost]:
    sums: dict[tuple[Stage, str], Usage] = defaultdict(Usage)
    for each in events:
        if each.usage is not None:
            sums[each.stage, each.model] += each.usage
    for stage in STAGES:
        for (of, model), usage in sums.items():
            if of == stage:
                yield StageCost(
                    stage=stage,
                    model=model,
                    calls=usage.calls,
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    dollars=usage.dollars,
                )


def _times(events: Sequence[Event]) -> Iterator[StageTime]:
    for stage in STAGES:
        own = [each for each in events if each.stage == stage]
        begun = sum(each.kind == "begun" for each in own)
        ended = [each for each in own if each.kind == "ended"]
        if begun:
            minutes = sum(each.seconds for each in ended) / 60
            yield StageTime(stage=stage, minutes=round(minutes, 3), begun=begun, ended=len(ended))


def _reviewers(project: Project) -> Iterator[tuple[str, float]]:
    for name, made in decisions(project.root).items():
        seconds = sum(min(each.seconds, _PAUSE) for each in made)
        yield name, round(seconds / 60, 2)


def cost_markdown(report: CostReport) -> str:
    """The report as ``out/cost.md`` has it."""
    dollars = "not known" if report.dollars is None else f"{report.dollars:.2f}"
    each = "" if report.each is None else f", {report.each:.2f} for each verified task"
    people = ", ".join(f"{name} {minutes:g}" for name, minutes in report.reviewers.items())
    lines = [
        f"# What {report.name} cost",
        "",
        f"- Dollars: {dollars} (aimed at: {report.target:g} at most){each}",
        f"- Drafts: {report.verified} of {report.drafts} verified; {report.rounds} sent back",
        f"- A person's minutes: {people or 'none yet'}",
        "",
        "| Stage | Model | Calls | Tokens in | Tokens out | Dollars |",
        "|---|---|---|---|---|---|",
    ]
    for cost in report.costs:
        price = "–" if cost.dollars is None else f"{cost.dollars:.4f}"
        lines.append(
            f"| {cost.stage} | {cost.model} | {cost.calls} | {cost.input_tokens} | "
            f"{cost.output_tokens} | {price} |"
        )
    lines += ["", "| Stage | Minutes | Begun | Ended |", "|---|---|---|---|"]
    lines += [f"| {t.stage} | {t.minutes:g} | {t.begun} | {t.ended} |" for t in report.times]
    return "\n".join([*lines, ""])


def write_costs(project: Project) -> CostReport:
    """Count, and write ``out/cost.md``."""
    report = cost_report(project)
    write_text(project.out / "cost.md", cost_markdown(report))
    return report
