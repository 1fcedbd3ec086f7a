"""The cap of a run, in whole runs: it ends them, keeps what is done, and can be raised (R45)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_provider import Reply, chat, in_turn, provider
from small_runs import (
    JUDGE,
    MODEL,
    QUICK,
    at,
    do,
    do_again,
    judge_by,
    options_for,
    price,
    requests,
)
from typer.testing import CliRunner

from expbench.books import cap_anew, open_books
from expbench.cli.main import app
from expbench.paths import CachePaths
from expbench.prices import use_prices
from expbench.runs import load
from expbench.sandboxes.host import SandboxHost

USED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
ANSWER = chat(**USED)
DEAR = {"input": 0.0, "output": 1000.0}
"""A cent for each answer of 10 tokens; at worst 10 cents for one of 100."""


@pytest.fixture(autouse=True)
def own_prices() -> Iterator[None]:
    yield
    use_prices(None)


# --- the run's cap ---------------------------------------------------------------------------------


TASKS = (QUICK, "mini/calibration/0", "mini/calibration/1")


def test_tasks_at_once_do_not_each_take_the_last_dollar(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R45: the cap of the run ends it, what is done is kept, and a higher one goes on from there."""
    use_prices(price(DEAR, JUDGE))
    under_way, most = [0], [0]
    lock = threading.Lock()

    def answer(number: int, body: object) -> Reply:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        threading.Event().wait(0.05)
        with lock:
            under_way[0] -= 1
        return ANSWER

    with provider(answer) as server:
        at(server, monkeypatch)
        options = options_for(tmp_path, cache, "asks_thrice", tasks=TASKS, epochs=2, dollars=0.175)
        run, end = do(options, at_once=3)
        # At worst 10 cents are held for a request of one cent: so many fit, and no more.
        assert len(server.seen) == 8
        assert most[0] == 1, "two at once could cost 20 cents"
        assert 0 < end.open == len(run.planned) - len(run.attempts) < 6
        assert {o.status for o in run.ordered()} <= {"finished", "infrastructure", "missing"}
        assert any("cap of 0.17 dollars" in o.reason for o in run.ordered())
        done = set(run.attempts)
        cap_anew(run, 3.0)
        run, end = do_again(load(run.paths.root), options, at_once=3)
    assert end.open == 0
    assert all(outcome.status == "finished" for outcome in run.ordered())
    agent = [each for each in requests(run) if each.stage == "agent"]
    assert all(each.trial == 1 for each in agent if (each.task, each.epoch) in done)
    assert sum(each.charged for each in requests(run)) == pytest.approx(len(server.seen) * 0.01)


def test_a_judge_that_the_cap_stops_leaves_no_half_verdict(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An item that nobody was asked about is not unscored: the attempt waits for more money."""
    use_prices(price(DEAR, JUDGE))
    said = json.dumps({"evidence": "", "reason": "no", "verdict": "not_met", "alternative": False})
    with provider(in_turn(chat(said, **USED))) as server:
        at(server, monkeypatch)
        options = options_for(tmp_path, cache, "asks_once", judging=judge_by(JUDGE), dollars=0.115)
        run, end = do(options)
        (outcome,) = run.ordered()
        assert (end.open, outcome.status, outcome.scores) == (1, "infrastructure", {})
        assert len(run.attempts) == 1, "the agent's work is kept"
        spent = sum(each.charged for each in requests(run))
        cap_anew(run, 100.0)
        run, end = do_again(load(run.paths.root), options)
    (outcome,) = run.ordered()
    assert (end.open, outcome.status) == (0, "finished")
    assert outcome.judgement is not None
    assert {verdict.state for verdict in outcome.judgement.verdicts} == {"not_met"}
    # An answer whose length nobody knows may pass the cap, but one only.
    assert spent == pytest.approx(0.115, abs=0.0101)
    assert [each.stage for each in requests(run)].count("agent") == 1


def test_the_command_ends_with_one_sentence_and_goes_on_with_a_higher_cap(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.root.parent / "spent"))
    Path("prices.json").write_text(json.dumps({"models": {MODEL: DEAR}}))
    agent = ("--agent", "python:spending_agents:asks_thrice")
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        given = ("--task", QUICK, "--prices", "prices.json", "--run-dollars", "0.105")
        done = CliRunner().invoke(app, ["run", *agent, *given, "--out", "runs/a"])
        assert done.exit_code == 1, done.output
        last = " ".join(done.stdout.strip().splitlines()[-1].split())
        assert last == (
            "The run's cap of 0.10 dollars is reached (0.01 are spent): 1 of 1 tasks are left, go on with "
            "`expbench resume runs/a --run-dollars` and a higher number."
        )
        for wrong in ("0", "-1", "nan"):
            refused = CliRunner().invoke(app, ["resume", "runs/a", "--run-dollars", wrong])
            assert refused.exit_code == 2 and "--run-dollars must be" in refused.stderr
        done = CliRunner().invoke(app, ["resume", "runs/a", "--run-dollars", "5"])
        assert done.exit_code == 0, done.output
    run = load(Path("runs/a"))
    assert run.manifest.dollars == 5.0
    assert (tmp_path / "runs/a/prices.json").is_file()
    assert next(iter(run.attempts.values())).usage.dollars == pytest.approx(0.03)


def test_a_resumption_knows_what_was_spent(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_prices(price(DEAR))
    with provider(in_turn(ANSWER)) as server:
        at(server, monkeypatch)
        options = options_for(tmp_path, cache, "asks_thrice", dollars=0.5)
        run, _ = do(options)
    books = open_books(load(run.paths.root))
    assert books.run.used == pytest.approx(0.03)
    assert books.run.left == pytest.approx(0.47)
