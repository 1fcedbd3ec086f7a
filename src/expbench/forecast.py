"""What a whole run will cost and take, from what earlier runs were; no call is made.

The agent's part is that of attempts of the same agent with the same model, where there are any, else of
the same model in the hands of other agents; those on the same suite before others. Judging is counted by
:mod:`expbench.judges.estimate`. A range is the 95 % prediction interval for so many further attempts like
those that were seen (Student's t): wide where they were few, and none for a single one. What nothing is
known of says so, and a sum with an unknown part is unknown; limits and caps bound both.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scipy.special import stdtrit

from expbench.errors import UserError
from expbench.journal import Key, entries
from expbench.judges.estimate import JudgeEstimate
from expbench.ledger import latest, read_ledger
from expbench.paths import RunPaths
from expbench.policy import Limits, Record
from expbench.prices import prices
from expbench.runs import Manifest, read_manifest
from expbench.schema import Outcome, Usage

MOST_RUNS = 50
"""Of the runs in a folder the latest so many are read."""


class Guess(Record):
    """A number with its range; ``None`` where it is not known."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


NOTHING = Guess(value=0.0, low=0.0, high=0.0)


class Part(Record):
    """One part of a run, all attempts together; ``basis`` says from what it is known, or why it is not.

    ``minutes`` are those of one attempt after the other.
    """

    name: str
    basis: str
    calls: Guess = Guess()
    input_tokens: Guess = Guess()
    output_tokens: Guess = Guess()
    dollars: Guess = Guess()
    minutes: Guess = Guess()


class Forecast(Record):
    """A run before it is begun. ``minutes`` are those of ``at_once`` attempts at the same time."""

    attempts: int
    at_once: int
    parts: tuple[Part, ...]
    dollars: Guess
    minutes: Guess


@dataclass(frozen=True)
class Plan:
    """The run that is asked about. ``asks`` says whether its agent asks any model."""

    attempts: int
    at_once: int
    suite: str
    agent: str
    model: str
    asks: bool
    judge: str
    monitor_model: str
    claims_model: str
    limits: Limits
    dollars: float | None = None


@dataclass(frozen=True)
class Seen:
    """One earlier attempt; ``None`` is what was not measured."""

    agent: str
    model: str
    suite: str
    usage: Usage
    seconds: float
    judge: str
    judging: float | None = None
    rerun: float | None = None
    monitor_model: str = ""
    monitor: Usage | None = None
    claims_model: str = ""
    claims: Usage | None = None


def read_history(folder: Path) -> list[Seen]:
    """The attempts of the runs in a folder, the latest run first; what cannot be read is left out."""
    found: list[tuple[RunPaths, Manifest]] = []
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            found.append((RunPaths(path), read_manifest(path)))
        except UserError:
            continue
    seen: list[Seen] = []
    for paths, manifest in sorted(found, key=lambda each: each[1].created)[-MOST_RUNS:]:
        try:
            seen += _attempts(paths, manifest)
        except UserError:
            continue
    return seen[::-1]


def forecast(plan: Plan, history: Sequence[Seen], judging: JudgeEstimate) -> Forecast:
    """What a run will cost and take; ``judging`` is what all its judges will use."""
    parts = [_agent(plan, history), _judge(plan, history, judging)]
    if model := plan.monitor_model:
        watched = [each.monitor for each in history if each.monitor_model == model]
        parts.append(_beside("monitor", model, plan, watched))
    if model := plan.claims_model:
        read = [each.claims for each in history if each.claims_model == model]
        parts.append(_beside("claims", model, plan, read))
    parts.append(_rerun(plan, history))
    dollars = _sum(part.dollars for part in parts)
    minutes = _sum(part.minutes for part in parts)
    return Forecast(
        attempts=plan.attempts,
        at_once=plan.at_once,
        parts=tuple(parts),
        dollars=_bounded(dollars, plan.dollars),
        minutes=_scaled(minutes, 1 / min(plan.at_once, plan.attempts)),
    )


def _agent(plan: Plan, history: Sequence[Seen]) -> Part:
    found, basis = _like(plan, history)
    if plan.asks:
        costs = _usage(plan, [each.usage for each in found], plan.model)
    else:
        costs = Part(name="", basis="", **dict.fromkeys(_USAGE, NOTHING))
        basis = basis or "it asks no model"
    most = plan.attempts * plan.limits.agent_wall_minutes
    minutes = _guess(plan, [each.seconds / 60 for each in found])
    dollars = plan.limits.dollars
    return costs.model_copy(
        update={
            "name": "agent",
            "basis": basis or f"no earlier run had {plan.model or plan.agent}: its limits bound it",
            "dollars": _bounded(costs.dollars, dollars and plan.attempts * dollars),
            "minutes": _bounded(minutes, most),
        }
    )


def _judge(plan: Plan, history: Sequence[Seen], judging: JudgeEstimate) -> Part:
    took = [each.judging for each in history if each.judge == plan.judge]
    known = [seconds / 60 for seconds in took if seconds is not None]
    asks = judging.calls > 0
    basis = "its questions, counted"
    return Part(
        name="judge",
        basis=f"{basis}; time of {_attempts_of(known)}" if known else basis,
        calls=Guess(value=judging.calls),
        input_tokens=Guess(value=judging.input_tokens),
        output_tokens=Guess(value=judging.output_tokens),
        dollars=Guess(value=judging.dollars, low=judging.dollars, high=judging.dollars_uncached),
        minutes=_guess(plan, known) if asks else NOTHING,
    )


def _beside(name: str, model: str, plan: Plan, seen: Sequence[Usage | None]) -> Part:
    """What a model will use that reads each attempt once, beside rules."""
    found = [usage for usage in seen if usage is not None]
    costs = _usage(plan, found, model)
    words = f"{_attempts_of(found)} that {model} has read"
    basis = words if found else f"no earlier run was read by {model}"
    return costs.model_copy(update={"name": name, "basis": basis, "minutes": NOTHING})


def _rerun(plan: Plan, history: Sequence[Seen]) -> Part:
    found, basis = _like(plan, [each for each in history if each.rerun is not None])
    if not found:
        found = [each for each in history if each.rerun is not None and each.suite == plan.suite]
        basis = f"{_attempts_of(found)} of others on {plan.suite}"
    minutes = _guess(plan, [each.rerun / 60 for each in found if each.rerun is not None])
    return Part(
        name="re-run",
        basis=basis if found else "no earlier run: its limit bounds it",
        **dict.fromkeys(_USAGE, NOTHING),
        minutes=_bounded(minutes, plan.attempts * plan.limits.minutes),
    )


_USAGE = ("calls", "input_tokens", "output_tokens", "dollars")


def _like(plan: Plan, history: Sequence[Seen]) -> tuple[list[Seen], str]:
    """The attempts that come nearest, and which they are in words."""
    own = f"{plan.agent} with {plan.model}" if plan.model else plan.agent
    steps: list[tuple[str, Callable[[Seen], bool]]] = [
        (own, lambda each: (each.agent, each.model) == (plan.agent, plan.model))
    ]
    if plan.model:
        steps.append((f"other agents with {plan.model}", lambda each: each.model == plan.model))
    for words, fits in steps:
        found = [each for each in history if fits(each)]
        same = [each for each in found if each.suite == plan.suite]
        if found:
            where = f"on {plan.suite}" if same else "on other suites"
            return same or found, f"{_attempts_of(same or found)} of {words} {where}"
    return [], ""


def _attempts_of(found: Sequence[object]) -> str:
    return f"{len(found)} attempt{'s' if len(found) != 1 else ''}"


def _usage(plan: Plan, found: Sequence[Usage], model: str) -> Part:
    return Part(
        name="",
        basis="",
        calls=_guess(plan, [each.calls for each in found]),
        input_tokens=_guess(plan, [each.input_tokens for each in found]),
        output_tokens=_guess(plan, [each.output_tokens for each in found]),
        dollars=_guess(plan, [_dollars(each, model) for each in found]),
    )


def _dollars(usage: Usage, model: str) -> float | None:
    """What it cost then, or would by today's prices."""
    if usage.dollars is not None or not usage.calls:
        return usage.dollars or 0.0
    price = prices().of(model)
    return price.dollars(usage) if price is not None else None


def _guess(plan: Plan, values: Sequence[float | None]) -> Guess:
    """The sum over all planned attempts, from single ones; unknown where one of these is."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Guess()
    mean, count = statistics.fmean(known), plan.attempts
    if len(known) < 2:
        return Guess(value=mean * count)
    spread = statistics.stdev(known) * math.sqrt(count + count**2 / len(known))
    reach = float(stdtrit(len(known) - 1, 0.975)) * spread
    return Guess(value=mean * count, low=max(0.0, mean * count - reach), high=mean * count + reach)


def _bounded(guess: Guess, most: float | None) -> Guess:
    if most is None:
        return guess
    known = {name: min(value, most) for name, value in guess if value is not None}
    return guess.model_copy(update={**known, "high": min(guess.high or most, most)})


def _scaled(guess: Guess, factor: float) -> Guess:
    return Guess(**{name: None if value is None else value * factor for name, value in guess})


def _sum(guesses: Iterable[Guess]) -> Guess:
    """All together. An end of a range is known where one of each is, if need be its value."""
    all_ = list(guesses)
    ends = [[g.value, g.low if g.low is not None else g.value, g.high or g.value] for g in all_]
    sums = [
        None if None in column else sum(filter(None, column)) for column in zip(*ends, strict=True)
    ]
    return Guess(value=sums[0], low=sums[1], high=sums[2])


def _attempts(paths: RunPaths, manifest: Manifest) -> Iterator[Seen]:
    judging: dict[Key, float] = {}
    for each in latest(
        request for request in read_ledger(paths.ledger) if request.stage == "judge"
    ):
        key = (each.task, each.epoch)
        seconds = (each.seconds + each.waited) / manifest.judging.concurrency
        judging[key] = judging.get(key, 0.0) + seconds
    seen: dict[Key, Seen] = {}
    for entry in entries(paths.journal):
        if (done := entry.attempt) is not None:
            key = (done.task_id, done.epoch)
            seen[key] = Seen(
                agent=manifest.agent,
                model=manifest.model,
                suite=manifest.suite,
                usage=done.usage,
                seconds=done.seconds,
                judge=manifest.judge,
                judging=judging.get(key),
            )
        if (outcome := entry.outcome) is not None and (outcome.task_id, outcome.epoch) in seen:
            key = (outcome.task_id, outcome.epoch)
            seen[key] = _scored(seen[key], manifest, outcome)
    yield from seen.values()


def _scored(seen: Seen, manifest: Manifest, outcome: Outcome) -> Seen:
    watched = manifest.monitor_model if outcome.monitor is not None else ""
    return replace(
        seen,
        rerun=outcome.execution.seconds if outcome.execution is not None else None,
        monitor_model=watched,
        monitor=outcome.monitor.usage if watched and outcome.monitor is not None else None,
        claims_model=manifest.claims_model,
        claims=outcome.claims.usage if outcome.claims is not None else None,
    )
