"""``expbench run --estimate``: what a run will cost and take, from earlier ones, without any call."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_provider import chat, in_turn, provider
from small_runs import MODEL, at, do, options_for, price
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.forecast import Guess, Plan, Seen, forecast, read_history
from expbench.judges.estimate import JudgeEstimate
from expbench.paths import CachePaths
from expbench.prices import use_prices
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Limits, Usage

PLAN = Plan(10, 2, "mini", "react", "a/b", True, "baseline", "", "", Limits(minutes=40))
FREE = JudgeEstimate(judge="baseline", dollars=0.0, dollars_uncached=0.0)


@pytest.fixture(autouse=True)
def own_prices() -> Iterator[None]:
    yield
    use_prices(None)


def seen(dollars: float | None, seconds: float = 60.0, **more: Any) -> Seen:
    usage = Usage(calls=4, input_tokens=1000, output_tokens=100, dollars=dollars)
    found = Seen("react", "a/b", "mini", usage, seconds, "baseline", rerun=30.0)
    return replace(found, **more)


def test_the_same_agent_with_the_same_model_comes_first() -> None:
    history = [
        seen(1.0),
        seen(3.0),
        seen(50.0, agent="other"),
        seen(70.0, model="c/d"),
        seen(90.0, suite="expbench"),
    ]
    found = forecast(PLAN, history, FREE)
    agent = found.parts[0]
    assert agent.basis == "2 attempts of react with a/b on mini"
    assert agent.dollars.value == 20.0
    assert agent.calls.value == 40
    assert (agent.minutes.value, found.parts[-1].minutes.value) == (10.0, 5.0)
    assert found.minutes.value == 7.5, "two at the same time"
    assert found.dollars.value == 20.0
    # Ten more attempts like 1 and 3: t(0.975, 1) · stdev · sqrt(10 + 100 / 2), not below nothing.
    reach = 12.7062 * statistics.stdev([1, 3]) * 60**0.5
    assert agent.dollars.high == pytest.approx(20 + reach, rel=1e-4)
    assert agent.dollars.low == 0.0


@pytest.mark.parametrize(
    ("history", "basis"),
    [
        ([seen(1.0, suite="expbench")], "1 attempt of react with a/b on other suites"),
        ([seen(1.0, agent="other")], "1 attempt of other agents with a/b on mini"),
        ([seen(1.0, model="c/d")], "no earlier run had a/b: its limits bound it"),
        ([], "no earlier run had a/b: its limits bound it"),
    ],
)
def test_what_else_is_known_and_what_is_not(history: list[Seen], basis: str) -> None:
    found = forecast(replace(PLAN, limits=Limits(minutes=6, dollars=0.5)), history, FREE)
    agent = found.parts[0]
    assert agent.basis == basis
    if basis.startswith("no"):
        assert agent.dollars == Guess(high=5.0), "its limits bound it"
        assert agent.minutes == Guess(high=180.0)
        assert found.dollars.value is None
    else:
        assert agent.dollars.value == 5.0, "ten of 1 dollar, each ended at half of it"
        assert agent.dollars.low is None, "one attempt has no range"


def test_an_unknown_price_makes_the_sum_unknown_until_there_is_one() -> None:
    history = [seen(None), seen(1.0)]
    assert forecast(PLAN, history, FREE).dollars == Guess()
    use_prices(price(None, "a/b"))
    assert forecast(PLAN, history, FREE).dollars.value == pytest.approx(10 * (0.0012 + 1.0) / 2)


def test_an_agent_that_asks_nobody_costs_nothing() -> None:
    found = forecast(replace(PLAN, agent="null", model="", asks=False), [], FREE)
    assert found.parts[0].dollars == Guess(value=0.0, low=0.0, high=0.0)
    assert found.dollars.value == 0.0


def test_judges_and_monitors_cost_too_and_the_runs_cap_bounds_all() -> None:
    judging = JudgeEstimate(judge="x/y", calls=5, dollars=2.0, dollars_uncached=4.0)
    watched = Usage(calls=1, input_tokens=10, output_tokens=1, dollars=0.1)
    history = [seen(1.0, monitor=watched, monitor_model="m/n", judge="x/y", judging=12.0)]
    plan = replace(PLAN, judge="x/y", monitor_model="m/n")
    found = forecast(plan, history, judging)
    assert [part.name for part in found.parts] == ["agent", "judge", "monitor", "re-run"]
    assert found.parts[1].minutes.value == pytest.approx(2.0)
    assert found.parts[2].dollars.value == pytest.approx(1.0)
    assert found.dollars.value == pytest.approx(13.0)
    assert found.dollars.high == pytest.approx(15.0)
    assert forecast(replace(plan, dollars=9.0), history, judging).dollars.high == 9.0
    assert forecast(replace(plan, monitor_model="other"), history, judging).dollars.value is None


def test_the_command_reads_earlier_runs_and_asks_nothing(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    used = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    agent = "python:spending_agents:asks_thrice"
    with provider(in_turn(chat(**used))) as server:
        at(server, monkeypatch)
        use_prices(price())
        do(options_for(tmp_path / "runs", cache, "asks_thrice"))
        asked = len(server.seen)
        Path("runs/damaged").mkdir()
        Path("runs/damaged/manifest.json").write_text("{}")
        before = sorted(os.walk("runs"))
        given = ("run", "--agent", agent, "--estimate", "--epochs", "2", "--max-samples", "3")
        done = CliRunner().invoke(app, [*given, "--json", "--out", "runs/new"])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        shown = CliRunner().invoke(app, [*given, "--out", "runs/new"])
        assert len(server.seen) == asked
    assert sorted(os.walk("runs")) == before
    assert (found["submissions"], found["run"]["attempts"], found["run"]["at_once"]) == (30, 30, 3)
    part = found["run"]["parts"][0]
    assert part["basis"] == f"1 attempt of {agent} on mini"
    assert part["calls"]["value"] == 90
    assert part["dollars"]["value"] == pytest.approx(90 * 120e-6)
    assert found["run"]["dollars"]["value"] == part["dollars"]["value"]
    text = " ".join(shown.stdout.split())
    assert f"- agent: 1 attempt of {agent} on mini" in text
    assert "30 attempts, 3 at the same time" in text
    (attempt,) = read_history(Path("runs"))
    assert attempt.usage.calls == 3 and attempt.rerun is None
    assert attempt.model == "" != MODEL


def test_an_agent_that_would_be_refused_has_no_estimate() -> None:
    done = CliRunner().invoke(app, ["run", "--agent", "react", "--estimate"])
    assert done.exit_code == 2
    assert "Agent 'react' needs a model: add --model" in done.stderr
