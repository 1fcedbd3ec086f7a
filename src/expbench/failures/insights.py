"""Pass 1: atomic errors of an outcome, each with the evidence that shows it.

Everything is taken from what judges, re-runs and the monitor have decided; nothing is judged again. What is
met, unscored or only suspicious gives no insight, and neither does what follows from another error: a
conclusion whose script failed is one insight about grounding, which costs nothing of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from expbench.failures.codebook import FailurePhase
from expbench.schema import Outcome, Phase, Record, ScoreName

Costs = tuple[ScoreName, ...]

_QUOTED, _TOLD = 600, 1_000
_NOTHING = frozenset({"nothing was submitted", "no code was added"})
_LITERAL = "stands as a literal"


class Insight(Record):
    """One atomic error of one attempt.

    ``cause`` is what rules know of it, ``text`` the error in a sentence, ``quote`` the evidence verbatim
    and ``place`` where it stands: an item of the ground truth, an output of the re-run, a turn of the
    trajectory, a claim of the conclusion. ``costs`` are the scores that are not full because of it; none
    when it follows from another error.
    """

    id: str
    run: str
    task_id: str
    paper: str
    epoch: int
    agent: str
    model: str
    phase: FailurePhase
    cause: str
    text: str
    quote: str
    place: str
    anchor: str = ""
    """The place's name in the run's report, below its attempt: ``D4``, ``G2``, ``M1``, or a whole part."""
    costs: Costs = ()


_Place = tuple[str, str]
"""In words, and as the report's anchor."""


class _Maker:
    """The common part of an attempt's insights."""

    def __init__(self, outcome: Outcome, run: str) -> None:
        self._outcome, self._run = outcome, run

    def make(
        self, phase: FailurePhase, cause: str, text: str, quote: str, at: _Place, *costs: ScoreName
    ) -> Insight:
        outcome = self._outcome
        attempt = f"{outcome.task_id}#{outcome.epoch}"
        place, anchor = at
        return Insight(
            id=f"{self._run}:{attempt}:{phase}:{place}",
            run=self._run,
            task_id=outcome.task_id,
            paper=outcome.paper,
            epoch=outcome.epoch,
            agent=outcome.agent,
            model=outcome.model,
            phase=phase,
            cause=cause,
            text=text[:_TOLD],
            quote=quote[:_QUOTED],
            place=place,
            anchor=anchor,
            costs=costs,
        )


def insights_of(
    outcome: Outcome, run: str, items: Mapping[str, str] | None = None
) -> tuple[Insight, ...]:
    """The errors of one outcome; none of one that the harness failed.

    Args:
        run: the name of the run.
        items: the ground truth's items by id (``design/0``), which are the evidence for what is not there.
    """
    if outcome.status in ("infrastructure", "missing"):
        return ()
    maker = _Maker(outcome, run)
    return (
        *_judged(outcome, maker, items or {}),
        *_marked(outcome, maker),
        *_executed(outcome, maker),
        *_grounded(outcome, maker),
        *_monitored(outcome, maker),
        *_ended(outcome, maker),
    )


def _judged(outcome: Outcome, maker: _Maker, items: Mapping[str, str]) -> Iterator[Insight]:
    verdicts = outcome.judgement.verdicts if outcome.judgement else ()
    emptied: set[Phase] = set()
    for verdict in verdicts:
        if verdict.state != "not_met":
            continue
        if verdict.reason in _NOTHING:
            if verdict.phase not in emptied:
                emptied.add(verdict.phase)
                text = f"No {verdict.phase} was handed in."
                yield maker.make(
                    verdict.phase,
                    verdict.reason,
                    text,
                    verdict.reason,
                    _phase(verdict.phase),
                    verdict.phase,
                )
            continue
        asked = items.get(verdict.item, "")
        text = ": ".join(filter(None, (asked or verdict.item, verdict.reason)))
        yield maker.make(
            verdict.phase,
            verdict.reason,
            text,
            verdict.evidence or asked or verdict.reason or verdict.item,
            (verdict.item, _item(verdict.item, verdict.phase)),
            verdict.phase,
        )


def _marked(outcome: Outcome, maker: _Maker) -> Iterator[Insight]:
    """Under protocol ``paper`` a phase has a mark and a reason, and no items."""
    for mark in outcome.judgement.marks if outcome.judgement else ():
        if mark.value is not None and mark.value < 1.0 and mark.reason:
            yield maker.make(
                mark.phase, "", mark.reason, mark.reason, _phase(mark.phase), mark.phase
            )


def _executed(outcome: Outcome, maker: _Maker) -> Iterator[Insight]:
    done = outcome.execution
    if done is None or done.state == "infrastructure":
        return
    lost: Costs = ("execution", "produced", "grounding")
    if done.state == "no_script":
        why = done.cause or "there is no script to run"
        yield maker.make("execution", "no_script", why, why, ("script", "E"), *lost)
    elif done.state == "timed_out":
        why = done.cause or "the re-run did not end in time"
        yield maker.make("execution", "timed_out", why, why, ("script", "E"), *lost)
    elif done.state == "failed":
        found = done.failure
        kind = found.kind if found else "other"
        line = (found.line if found else "") or done.cause or f"exit code {done.exit_code}"
        text = f"{done.cause or line}{f' ({found.detail})' if found and found.detail else ''}"
        yield maker.make("execution", kind, text, line, ("output", "E"), *lost)
    elif _value(outcome, "produced") == 0.0:
        why = outcome.scores["produced"].reason or "nothing was put out that was not submitted"
        yield maker.make("execution", "no_outputs", why, why, ("outputs", "E"), "produced")


def _grounded(outcome: Outcome, maker: _Maker) -> Iterator[Insight]:
    if outcome.grounding is None or _value(outcome, "grounding") != 0.0:
        return
    missed = [
        (number, each)
        for number, each in enumerate(outcome.grounding.claims, 1)
        if each.claim.essential and each.state in ("not_found", "contradicted")
    ]
    if missed and (outcome.execution is None or outcome.execution.state != "ran"):
        quote = "; ".join(each.claim.text for _, each in missed[:3])
        text = f"{len(missed)} results are concluded, and no re-run produced any."
        yield maker.make("grounding", "nothing_ran", text, quote, ("conclusion", "C"))
        return
    for number, each in missed:
        kind = "number" if each.claim.kind == "number" else "relation"
        literal = each.state == "not_found" and _LITERAL in each.reason
        cause = "literal" if literal else f"{each.state}/{kind}"
        text = f"{each.claim.text}: {each.state.replace('_', ' ')}" + (
            f" ({each.reason})" if each.reason else ""
        )
        place = f"claim at {each.claim.start}" + (f", {each.where}" if each.where else "")
        quote = each.quote or each.claim.text
        yield maker.make("grounding", cause, text, quote, (place, f"G{number}"), "grounding")


def _monitored(outcome: Outcome, maker: _Maker) -> Iterator[Insight]:
    for number, found in enumerate(outcome.monitor.violations if outcome.monitor else (), 1):
        if found.severity == "violation":
            place = f"turn {found.turn}" if found.turn is not None else "submission"
            yield maker.make(
                "monitor",
                found.kind,
                found.explanation or found.kind.replace("_", " "),
                found.quote,
                (f"{place}, finding {number}", f"M{number}"),
                "monitor",
            )


def _ended(outcome: Outcome, maker: _Maker) -> Iterator[Insight]:
    """How the attempt ended; that costs no score by itself."""
    if outcome.limit:
        timed = re.search(r"\b(?:minutes|time)\b", outcome.limit) is not None
        cause = "limit/time" if timed else "limit/other"
        yield maker.make(
            "agent", cause, f"stopped by {outcome.limit}", outcome.limit, ("limit", "A")
        )
    if outcome.status == "agent_error":
        why = outcome.reason or "the agent ended with an error"
        yield maker.make("agent", "agent_error", why, why, ("end", "A"))
    for doubt in outcome.doubts:
        yield maker.make("agent", doubt.kind, doubt.sentence, doubt.sentence, (doubt.kind, "A"))


def _phase(phase: Phase) -> _Place:
    return phase, phase[0].upper()


def _item(item: str, phase: Phase) -> str:
    """A report counts a phase's items from 1; an item that is named otherwise is looked for in its phase."""
    number = item.removeprefix(f"{phase}/")
    letter = phase[0].upper()
    return f"{letter}{int(number) + 1}" if number.isdecimal() and len(number) < 6 else letter


def _value(outcome: Outcome, name: ScoreName) -> float | None:
    score = outcome.scores.get(name)
    return None if score is None else score.value
