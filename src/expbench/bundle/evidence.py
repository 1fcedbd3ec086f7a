"""Do an outcome's scores follow from its evidence? The same arithmetic as in a run, done again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from expbench.assess import monitor_score
from expbench.execution import execution_score, produced_score
from expbench.grounding import grounding_score
from expbench.judges.base import score
from expbench.schema import Judgement, Outcome, RubricItem, Score

_COUNTS = ("met", "not_met", "unscored")
_MOST_SECONDS = 1e8
_MOST_DOLLARS = 1e7
_MOST_TOKENS = 10**12


def beyond_belief(outcome: Outcome) -> str:
    """Which amount no attempt can have used, in words; empty where all can be. Sums of others stay finite."""
    usage = outcome.agent_usage
    if not 0.0 <= outcome.agent_seconds <= _MOST_SECONDS:
        return f"has {outcome.agent_seconds:g} seconds of its agent"
    if not 0.0 <= (usage.dollars or 0.0) <= _MOST_DOLLARS:
        return f"has {usage.dollars:g} dollars of its agent"
    counts = (usage.input_tokens, usage.output_tokens, usage.calls)
    if not all(0 <= count <= _MOST_TOKENS for count in counts):
        return "has a number of tokens or calls that is none"
    return ""


def misfit(outcome: Outcome, items: Sequence[RubricItem] | None, believable: bool) -> str:
    """Which score does not follow from the outcome's evidence, in a sentence; empty where all do.

    Args:
        items: what the judge had to decide, where the ground truth is at hand.
        believable: whether the run's sandbox is one; without one no score may have a value.
    """
    if outcome.status in ("infrastructure", "missing"):
        return "has scores, though it was never finished" if outcome.scores else ""
    expected = _expected(outcome, items)
    for name, found in outcome.scores.items():
        if not believable:
            if found.value is not None:
                return f"has a value for {name}, though its sandbox is none"
            continue
        if name not in expected:
            if found.value is not None:
                return f"has a value for {name} without evidence"
        elif not _follows(name, found, expected[name], exact=items is not None):
            said, made = _text(found), _text(expected[name])
            return f"says {said} for {name}, and its evidence gives {made}"
    if believable and (lacking := expected.keys() - outcome.scores.keys()):
        return f"has evidence for {min(lacking)}, and no score"
    return ""


def _expected(outcome: Outcome, items: Sequence[RubricItem] | None) -> Mapping[str, Score]:
    found: dict[str, Score] = {}
    if outcome.monitor is not None:
        found["monitor"] = monitor_score(outcome.monitor)
    if outcome.execution is not None:
        found["execution"] = execution_score(outcome.execution)
        found["produced"] = produced_score(outcome.execution)
    if outcome.grounding is not None:
        found["grounding"] = grounding_score(outcome.grounding)
    if outcome.judgement is not None:
        known = _items_of(outcome.judgement) if items is None else items
        found |= score(outcome.judgement, known)
    return found


def _items_of(judgement: Judgement) -> tuple[RubricItem, ...]:
    """What was decided, from the verdicts alone: which claims are essential is not known."""
    return tuple(
        RubricItem(id=each.item, phase=each.phase, kind="", text="") for each in judgement.verdicts
    )


def _follows(name: str, found: Score, expected: Score, exact: bool) -> bool:
    same = found.value == expected.value
    counts = all(getattr(found, each) == getattr(expected, each) for each in _COUNTS)
    if exact or name not in ("design", "implementation", "conclusion"):
        return same and counts
    if not counts:
        return False
    if name != "conclusion":
        return same
    # Claims that are not essential do not decide, and which these are is ground truth.
    mixed = sum(getattr(expected, each) > 0 for each in _COUNTS) > 1
    return same or mixed


def _text(score: Score) -> str:
    value = "unscored" if score.value is None else f"{score.value:.3f}"
    return f"{value} ({score.met} met, {score.not_met} not met, {score.unscored} unscored)"
