"""Limits of tasks and the cap of a run: kept before each request, also by many tasks at once (R45, R48)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from fake_provider import chat, in_turn, provider
from inspect_ai.model import ModelAPI
from small_runs import (
    MODEL,
    QUICK,
    at,
    options_for,
    price,
    scripted,
)
from typer.testing import CliRunner

from expbench.books import charged, check_caps
from expbench.budgets import Account, Cap, Remaining, Worst, remaining, spending
from expbench.cli.main import app
from expbench.errors import LimitReachedError, PrerequisiteError, SpentError, UserError
from expbench.ledger import Request, Tokens, open_ledger
from expbench.paths import CachePaths
from expbench.planning import plan
from expbench.prices import use_prices
from expbench.schema import Limits

USED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
ANSWER = chat(**USED)
DEAR = {"input": 0.0, "output": 1000.0}
"""A cent for each answer of 10 tokens; at worst 10 cents for one of 100."""


@pytest.fixture(autouse=True)
def own_prices() -> Iterator[None]:
    yield
    use_prices(None)


# --- caps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("certain", "most"), [(True, 10.0), (False, 13.0)])
def test_requests_at_once_pass_a_cap_by_one_at_most(certain: bool, most: float) -> None:
    """R45: what is held for others counts; a request of unknown size passes it only alone."""
    cap, sent, deepest = Cap(10.0), [0], [0.0]

    async def request(cost: float) -> None:
        if not await cap.reserve(3.0, certain):
            return
        sent[0] += 1
        deepest[0] = max(deepest[0], cap.held)
        await anyio.sleep(0.001)
        cap.settle(3.0, cost)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(request, 3.0)

    anyio.run(work)
    assert 7.0 < cap.used <= most
    assert deepest[0] <= 10.0
    assert cap.held == 0.0
    assert sent[0] == (3 if certain else 4)


def test_a_request_waits_for_what_others_may_leave() -> None:
    """Near a cap a request is not refused while one under way may turn out to be cheap."""
    cap, order = Cap(10.0), list[str]()

    async def first() -> None:
        await cap.reserve(8.0, True)
        order.append("first")
        await anyio.sleep(0.05)
        cap.settle(8.0, 1.0)

    async def second() -> None:
        await anyio.sleep(0.01)
        assert await cap.reserve(8.0, True)
        order.append("second")
        cap.settle(8.0, 1.0)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(first)
            group.start_soon(second)

    anyio.run(work)
    assert order == ["first", "second"]
    assert cap.used == 2.0


def test_a_cancelled_wait_leaves_nothing_held() -> None:
    cap = Cap(10.0)

    async def work() -> None:
        await cap.reserve(8.0, True)
        with anyio.move_on_after(0.02):
            await cap.reserve(8.0, True)
        cap.settle(8.0, 8.0)

    anyio.run(work)
    assert (cap.used, cap.held, cap.left) == (8.0, 0.0, 2.0)


def test_what_is_left_is_told(tmp_path: Path) -> None:
    own = Account(
        *("agent", "t", 1, 1),  # type: ignore[arg-type]
        open_ledger(tmp_path / "l"),
        Cap(1.0, 0.25),
        Limits(turns=5, tokens=1000, dollars=2.0),
    )
    own.turns.used, own.tokens.used = 2, 400
    assert own.remaining() == Remaining(turns=3, tokens=600, dollars=0.75)
    assert own.remaining().sentence == "Left: 3 turns, 600 tokens, 0.75 dollars."
    with spending(own):
        assert remaining() == own.remaining()
    assert remaining() == Remaining()
    assert remaining().sentence == ""
    both = Remaining(minutes=12.4, wall_minutes=90.0)
    assert both.sentence == "Left: 12 minutes."


def test_a_refusal_is_final_and_stops_the_agent(tmp_path: Path) -> None:
    stopped = list[bool]()
    own = Account("agent", "t", 1, 1, open_ledger(tmp_path / "l"), Cap(), Limits(tokens=100))
    own.on_limit = lambda: stopped.append(True)

    async def work() -> None:
        with pytest.raises(LimitReachedError, match="100 tokens"):
            await own.reserve(Worst(101, 0.0, True))
        with pytest.raises(LimitReachedError):
            await own.reserve(Worst(1, 0.0, True))

    anyio.run(work)
    assert stopped == [True]
    assert "100 are left, and the next request may use 101" in own.limit


def test_a_spent_cap_is_not_swallowed(tmp_path: Path) -> None:
    """A judge makes an unscored item of whatever its model raises; the run's cap is no such thing."""
    run = Cap(1.0)
    accounts = [
        Account("judge", "t", epoch, 1, open_ledger(tmp_path / "l"), run) for epoch in (1, 2)
    ]

    async def judge(own: Account, worst: float) -> None:
        with pytest.raises(SpentError, match=r"cap of 1\.00 dollars"):
            await own.reserve(Worst(1, worst, True))

    with pytest.raises(SpentError), spending(accounts[0]):
        anyio.run(judge, accounts[0], 2.0)
    with pytest.raises(SpentError), spending(accounts[1]):
        anyio.run(judge, accounts[1], 0.1)


# --- prices under a cap ----------------------------------------------------------------------------


CAPS = [("--limit-dollars", "1"), ("--run-dollars", "1")]


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("place", ["agent", "judge", "monitor"])
def test_an_unknown_price_under_a_cap_is_an_error_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: tuple[str, str], place: str
) -> None:
    """R45: whoever's model it is; one sentence, exit code 2, no request and no folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        options = {
            "agent": ("--agent", "react", "--model", MODEL),
            "judge": ("--agent", "null", "--judge", MODEL),
            "monitor": ("--agent", "null", "--monitor-model", MODEL),
        }[place]
        out = ("--sandbox", "local", "--unsafe", "--task", QUICK, "--out", "runs/a")
        done = CliRunner().invoke(app, ["run", *options, *cap, *out])
        assert server.seen == []
    assert done.exit_code == 2, done.output
    said = done.stderr.strip()
    assert said == (
        "expbench: A cap on dollars cannot be kept, since the price of openai-api/fake/m is not known: "
        "give it with --prices FILE."
    )
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--run-dollars", "0", "--run-dollars must be a number that is more than 0"),
        ("--run-dollars", "nan", "--run-dollars must be a number that is more than 0"),
        ("--limit-dollars", "-1", "--limit-dollars must be a number that is more than 0"),
        ("--limit-wall-minutes", "-1", "--limit-wall-minutes must be a number that is more than 0"),
        ("--limit-dollars", "0", "--limit-dollars must be a number that is more than 0"),
        ("--limit-wall-minutes", "0", "--limit-wall-minutes must be a number that is more than 0"),
        ("--limit-turns", "0", "--limit-turns must be a number that is more than 0"),
        ("--limit-tokens", "0", "--limit-tokens must be a number that is more than 0"),
        ("--limit-turns", "-1", "--limit-turns must be a number that is more than 0"),
        ("--limit-tokens", "-5", "--limit-tokens must be a number that is more than 0"),
        ("--call-deadline", "0", "--call-deadline is seconds from 1 to 86400"),
    ],
)
def test_limits_that_are_none_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, value: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = CliRunner().invoke(app, ["run", "--agent", "null", option, value, "--out", "runs/a"])
    assert done.exit_code == 2
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert not Path("runs").exists()


def test_limits_of_a_command_are_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option reaches the manifest, and so does its parameter of Inspect's command."""
    import expbench.cli.inspecting
    import expbench.cli.running

    seen: list[Any] = []
    monkeypatch.setattr(
        expbench.cli.running, "start_run", lambda options, *_: seen.append(options) or 0
    )

    class Planned(Exception):  # noqa: N818
        pass

    def planned(options: Any) -> None:
        seen.append(options)
        raise Planned

    monkeypatch.setattr(expbench.cli.inspecting, "plan", planned)
    monkeypatch.setattr(expbench.cli.inspecting, "_model", lambda: "")
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"models": {MODEL: {"input": 1, "output": 2}}}))
    limits = {"wall_minutes": 7.5, "turns": 5, "tokens": 900, "dollars": 0.5}
    given = [f"--limit-{name.replace('_', '-')}={value}" for name, value in limits.items()]
    more = ["--limit-minutes=2", "--run-dollars=3", "--call-deadline=60", f"--prices={file}"]
    done = CliRunner().invoke(app, ["run", "--agent", "null", *given, *more])
    assert done.exit_code == 0, done.output
    with pytest.raises(Planned):
        expbench.cli.inspecting.expbench(
            agent="null",
            minutes=2.0,
            run_dollars=3.0,
            call_deadline=60.0,
            prices=str(file),
            **limits,
        )
    for options in seen:
        assert options.policy.limits == Limits(minutes=2.0, **limits)
        assert (options.dollars, options.call_seconds) == (3.0, 60.0)
    assert len(seen) == 2


def test_a_cap_below_one_answer_is_an_error(
    cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the longest answer is known, a smaller cap would stop every agent before its first word."""
    monkeypatch.setattr(ModelAPI, "max_tokens", lambda self: 4000)
    model = scripted(tmp_path, turns=[{"text": "hm"}])
    use_prices(price(DEAR, model))
    options = options_for(
        tmp_path, cache, "react", Limits(dollars=3.0), model=model, sandbox="local"
    )
    options = replace(options, unsafe=True)
    with pytest.raises(UserError, match=r"4,000 tokens and cost 4.00 dollars, so --limit-dollars"):
        plan(options)
    check_caps(
        plan(replace(options, policy=options.policy.model_copy(update={"limits": Limits()})))
    )


def test_what_was_spent_before_there_was_a_price_is_counted(tmp_path: Path) -> None:
    facts = {"stage": "agent", "task": "t", "epoch": 1, "time": "now", "model": MODEL}
    unknown = Request(**facts, tokens=Tokens(input=1_000_000, output=0))  # type: ignore[arg-type]
    known = Request(**facts, dollars=0.5, tokens=Tokens())  # type: ignore[arg-type]
    failed = Request(**facts, error="cancelled", at_most=0.25)  # type: ignore[arg-type]
    with pytest.raises(PrerequisiteError, match="price of openai-api/fake/m is not known"):
        charged([known, unknown])
    use_prices(price())
    assert charged([known, unknown, failed]) == 1.75
