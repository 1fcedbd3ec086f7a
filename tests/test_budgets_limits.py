"""Limits of a task in whole runs: what they stop, what is kept, and whose time waiting is (R45, R48)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import inspect_ai.model._retry
import pytest
import spending_agents
from fake_provider import Reply, chat, failing, in_turn, provider
from small_runs import (
    at,
    do,
    options_for,
    price,
    requests,
)

from expbench.paths import CachePaths
from expbench.prices import use_prices
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits

USED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
ANSWER = chat(**USED)
DEAR = {"input": 0.0, "output": 1000.0}
"""A cent for each answer of 10 tokens; at worst 10 cents for one of 100."""


@pytest.fixture(autouse=True)
def own_prices() -> Iterator[None]:
    yield
    use_prices(None)


# --- limits of a task, in whole runs ---------------------------------------------------------------


def _ended(run: Any) -> tuple[Any, Any]:
    (attempt,) = run.attempts.values()
    (outcome,) = run.outcomes.values()
    assert outcome.status == "finished", outcome.reason
    assert attempt.submission.response is not None, "what the agent left is collected"
    assert outcome.scores, "and judged"
    return attempt, outcome


@pytest.mark.parametrize(
    ("agent", "limits", "asked", "named"),
    [
        ("hands_in_first", Limits(turns=4), 4, "4 turns"),
        ("hands_in_first", Limits(tokens=400), 3, "400 tokens"),
        ("hands_in_first", Limits(dollars=0.125), 3, "0.125 dollars"),
        ("asks_unbounded", Limits(dollars=0.035), 4, "0.035 dollars"),
        ("asks_many_at_once", Limits(dollars=0.125), 3, "0.125 dollars"),
        ("asks_many_at_once", Limits(turns=2), 2, "2 turns"),
    ],
)
def test_a_limit_ends_the_agent_and_is_named(
    host: SandboxHost,
    cache: CachePaths,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    limits: Limits,
    asked: int,
    named: str,
) -> None:
    """R45: no request is sent that may pass it, unless nobody knows its size; then one."""
    use_prices(price(DEAR))
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        run, _ = do(options_for(tmp_path, cache, agent, limits))
        assert len(server.seen) == asked
    attempt, outcome = _ended(run)
    assert outcome.limit.startswith(named)
    assert outcome.doubts == ()
    assert attempt.usage.calls == asked == len(requests(run))


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(minutes=0.02), "0.02 minutes"),
        (Limits(wall_minutes=0.02), "0.02 minutes of wall-clock time"),
    ],
)
def test_time_ends_the_agent_in_the_middle_of_a_command(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, limits: Limits, named: str
) -> None:
    run, _ = do(options_for(tmp_path, cache, "sleeps", limits))
    attempt, outcome = _ended(run)
    assert outcome.limit == named
    assert 1.0 <= attempt.working_seconds <= attempt.seconds < 250


def test_waiting_for_a_provider_is_no_working_time(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R48: back-off and a request that hung until its deadline are waited, not worked."""

    async def second(seconds: float) -> None:
        await anyio.sleep(1.0)

    monkeypatch.setattr(inspect_ai.model._retry, "_sleep", second)
    replies = (Reply(hang=True), failing(429), failing(500), ANSWER)
    limits = Limits(minutes=5)
    with provider(in_turn(*replies)) as server:
        at(server, monkeypatch)
        run, _ = do(options_for(tmp_path, cache, "asks_once", limits, call_seconds=1.5))
    attempt, outcome = _ended(run)
    assert outcome.limit == ""
    assert attempt.seconds - attempt.working_seconds > 4.4, "1.5 hung and three times 1 of back-off"
    assert [bool(each.error) for each in requests(run)] == [True, True, True, False]
    assert requests(run)[-1].waited > 4.4


@pytest.mark.parametrize("agent", ["asks_once", "does_not_mind"])
def test_a_provider_that_does_not_answer_costs_the_agent_nothing(
    host: SandboxHost,
    cache: CachePaths,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
) -> None:
    """Whether time ended it, or the agent said that all was well: it is tried again."""

    async def no_time(seconds: float) -> None:
        await anyio.sleep(0.01)

    monkeypatch.setattr(inspect_ai.model._retry, "_sleep", no_time)
    with provider(in_turn(failing(503))) as server:
        at(server, monkeypatch)
        run, end = do(options_for(tmp_path, cache, agent))
        assert len(server.seen) == 10 * 3, "ten requests in each of three tries"
    (outcome,) = run.ordered()
    assert (end.open, outcome.status, outcome.scores) == (1, "infrastructure", {})
    assert "503" in outcome.reason
    assert {each.trial for each in requests(run)} == {1, 2, 3}


def test_time_that_a_provider_used_up_is_not_the_agents(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(in_turn(failing(429))) as server:
        at(server, monkeypatch)
        run, _ = do(options_for(tmp_path, cache, "asks_once", Limits(wall_minutes=0.02)))
    (outcome,) = run.ordered()
    assert outcome.status == "infrastructure"
    assert "could not be reached" in outcome.reason and "429" in outcome.reason


def test_an_agent_is_told_what_is_left(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_prices(price(DEAR))
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        limits = Limits(minutes=5, turns=9, tokens=5000, dollars=2.0)
        do(options_for(tmp_path, cache, "asks_thrice", limits, dollars=1.5))
    first, second, third = spending_agents.LEFT
    assert (first.turns, second.turns, third.turns) == (9, 8, 7)
    assert (first.tokens, third.tokens) == (5000, 5000 - 220)
    assert (first.dollars, third.dollars) == (1.5, pytest.approx(1.48))
    assert first.minutes is not None and third.minutes is not None
    assert 5 >= first.minutes > third.minutes > 4
    assert third.wall_minutes is not None and 15 >= third.wall_minutes > 14
