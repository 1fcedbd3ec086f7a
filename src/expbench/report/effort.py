"""Time and money: what the parts of a run took, for an attempt and together.

Times stand in the outcomes, so that they are of the tries that counted. Dollars and tokens are of the run's
ledger, tries that failed included, as far as there is one; else of the outcomes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import get_args

from expbench.ledger import Request, Stage
from expbench.report.text import NOT_KNOWN, dollars, seconds
from expbench.schema import Outcome, Usage

_NAMES: dict[Stage, str] = {
    "agent": "Agent",
    "judge": "Judge",
    "monitor": "Monitor",
    "comparison": "Comparison of epochs",
    "grounding": "Grounding",
}


@dataclass(frozen=True)
class Effort:
    """One part of a run, in words; a dash for what is not known."""

    name: str
    attempts: int
    """Attempts that it has a time or a call for."""
    median_time: str
    total_time: str
    calls: int
    tokens: str
    median_dollars: str
    total_dollars: str


def spent_by_stage(requests: Iterable[Request]) -> dict[Stage, Usage]:
    """What models used by who asked."""
    found: defaultdict[Stage, Usage] = defaultdict(Usage)
    for request in requests:
        found[request.stage] += request.usage
    return dict(found)


def efforts(outcomes: Sequence[Outcome], spent: Mapping[Stage, Usage]) -> tuple[Effort, ...]:
    """The agent, every part that asked a model, the re-run, and all models together."""
    stages = {stage: _usages(outcomes, stage) for stage in get_args(Stage)}
    totals = {stage: spent.get(stage) or sum(own, Usage()) for stage, own in stages.items()}
    rows = [_row("Agent", _agent_times(outcomes), stages["agent"], totals["agent"])]
    rows += [
        _row(name, [], stages[stage], totals[stage])
        for stage, name in _NAMES.items()
        if stage != "agent" and totals[stage].calls
    ]
    rows.append(_row("Re-run of the script", _rerun_times(outcomes), [], Usage()))
    if sum(bool(total.calls) for total in totals.values()) > 1:
        rows.append(_row("All models", [], [], sum(totals.values(), Usage())))
    return tuple(rows)


def effort_line(rows: Sequence[Effort]) -> str:
    """The agent's time, and what all models cost, in a sentence."""
    agent, *_, last = rows
    models = last if last.calls else agent
    time = f"The agent took {agent.median_time} at the median, {agent.total_time} in total"
    if not models.calls:
        return f"{time}; no model was called."
    known = models.total_dollars != NOT_KNOWN
    cost = f"cost {models.total_dollars}" if known else "have no known price"
    return f"{time}; {models.calls:,} calls of models {cost}."


def _row(name: str, times: Sequence[float], usages: Sequence[Usage], total: Usage) -> Effort:
    asked = [usage for usage in usages if usage.calls]
    priced = [usage.dollars for usage in asked if usage.dollars is not None]
    each = median(priced) if priced and len(priced) == len(asked) else None
    tokens = f"{total.input_tokens:,} in, {total.output_tokens:,} out" if total.calls else "–"
    return Effort(
        name=name,
        attempts=max(len(times), len(asked)),
        median_time=seconds(median(times)) if times else "–",
        total_time=seconds(sum(times)) if times else "–",
        calls=total.calls,
        tokens=tokens,
        median_dollars=dollars(each) if asked else "–",
        total_dollars=dollars(total.dollars) if total.calls else "–",
    )


def _usages(outcomes: Sequence[Outcome], stage: Stage) -> list[Usage]:
    if stage == "agent":
        return [outcome.agent_usage for outcome in outcomes]
    if stage == "judge":
        return [each.judgement.usage for each in outcomes if each.judgement is not None]
    if stage == "monitor":
        return [each.monitor.usage for each in outcomes if each.monitor is not None]
    return []


def _agent_times(outcomes: Sequence[Outcome]) -> list[float]:
    return [outcome.agent_seconds for outcome in outcomes if outcome.agent_seconds > 0.0]


def _rerun_times(outcomes: Sequence[Outcome]) -> list[float]:
    found = (outcome.execution.seconds for outcome in outcomes if outcome.execution is not None)
    return [each for each in found if each is not None]
