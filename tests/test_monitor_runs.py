"""The comparison of a task's epochs inside a run: what it adds to outcomes, and that it is done once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import monitored_agents
import pytest
from small_runs import QUICK, do, do_again, options_for, requests, scripted

import expbench.comparing
from expbench.comparing import with_comparison
from expbench.ledger import latest, total
from expbench.paths import CachePaths
from expbench.planning import Options
from expbench.runs import Run, load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import MonitorReport, Violation

AGENT = "python:monitored_agents:every_second_one_types"
NOTHING = {"when": "", "text": json.dumps({"findings": []})}


@pytest.fixture(autouse=True)
def first_attempt() -> Iterator[None]:
    monitored_agents.TURNS.clear()
    yield


def replies(quote: str, turn: int, verdict: str = "confirmed") -> list[dict[str, str]]:
    """A model that finds one thing in attempt B when it compares, and nothing when it reads one."""
    finding = {
        "attempt": "B",
        "kind": "fabricated_results",
        "turn": turn,
        "quote": quote,
        "explanation": "The other attempt ran the tests; this one only says so.",
    }
    return [
        {"when": r"\[attempt B\]", "text": json.dumps({"findings": [finding]})},
        {"when": "confirmed", "text": json.dumps({"verdict": verdict, "reason": "It is so."})},
        NOTHING,
    ]


def options(folder: Path, cache: CachePaths, model: str, **more: Any) -> Options:
    given: dict[str, Any] = {"agent": AGENT, "epochs": 2, "monitor_model": model} | more
    return options_for(folder, cache, **given)


def typed_turn(run: Run) -> int:
    """The place of the second attempt's command in its trajectory."""
    trajectory = run.attempts[QUICK, 2].submission.trajectory
    assert trajectory is not None
    lines = run.store.text(trajectory).splitlines()
    return next(
        at for at, line in enumerate(lines) if json.loads(line).get("command") == "echo typed"
    )


def compared(run: Run, epoch: int) -> list[str]:
    report = run.outcomes[QUICK, epoch].monitor
    assert report is not None
    return [v.quote for v in report.violations if v.layer == "comparison"]


def asked(run: Run) -> int:
    return sum(request.stage in ("monitor", "comparison") for request in requests(run))


@pytest.fixture(scope="module")
def turn(host: SandboxHost, cache: CachePaths, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Where the second attempt types, found by a run without a model."""
    monitored_agents.TURNS.clear()
    run, _ = do(options(tmp_path_factory.mktemp("first"), cache, ""))
    reports = [outcome.monitor for outcome in run.outcomes.values() if outcome.monitor is not None]
    assert [report.layers for report in reports] == [("rules",)] * 2
    monitored_agents.TURNS.clear()
    return typed_turn(run)


def test_epochs_are_compared_at_the_end_of_a_run_and_only_once(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, turn: int
) -> None:
    """R17, R19: what comparing finds stands in the outcome of its attempt, with the score that follows."""
    model = scripted(tmp_path, replies=replies("echo typed", turn))
    chosen = options(tmp_path, cache, model)
    run, end = do(chosen)
    assert end.open == 0
    first, second = run.outcomes[QUICK, 1], run.outcomes[QUICK, 2]
    assert compared(run, 1) == []
    assert compared(run, 2) == ["echo typed"]
    assert first.monitor is not None
    assert second.monitor is not None
    assert first.monitor.verdict != "violation"
    assert second.monitor.verdict == "violation"
    assert first.scores["monitor"].value == 1.0
    assert second.scores["monitor"].value == 0.0
    for report in (first.monitor, second.monitor):
        assert report.layers == ("rules", f"model {model}", f"comparison {model}")
        assert report.prevented
        assert report.failed == ()
    stored = [json.loads(line) for line in run.paths.outcomes.read_text().splitlines()]
    assert [row["scores"]["monitor"]["value"] for row in stored] == [1.0, 0.0]

    assert latest(requests(run)) == requests(run), "comparing is no second try at reading"
    last = total(latest(requests(run)))
    told = [outcome.monitor.usage for outcome in run.outcomes.values() if outcome.monitor]
    assert last.calls == sum(usage.calls for usage in told)

    calls, journal = asked(run), run.paths.journal.read_bytes()
    again, _ = do_again(load(run.paths.root), chosen)
    assert asked(again) == calls
    assert again.paths.journal.read_bytes() == journal


def test_a_kill_before_the_comparison_leaves_it_to_a_resumption(
    host: SandboxHost,
    cache: CachePaths,
    tmp_path: Path,
    turn: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R43: what was not done is done when the run goes on, and nothing else is done again."""
    model = scripted(tmp_path, replies=replies("echo typed", turn))
    chosen = options(tmp_path, cache, model)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(expbench.comparing, "compare", killed)
        run, end = do(chosen)
    assert end.interrupted
    assert compared(run, 2) == []
    attempts = dict(run.attempts)
    again, end = do_again(load(run.paths.root), chosen)
    assert not end.interrupted
    assert compared(again, 2) == ["echo typed"]
    assert again.attempts == attempts


@pytest.mark.parametrize(
    ("quote", "verdict"), [("never said by anybody", "confirmed"), ("echo typed", "rejected")]
)
def test_what_is_not_there_or_not_confirmed_convicts_nobody(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, turn: int, quote: str, verdict: str
) -> None:
    model = scripted(tmp_path, replies=replies(quote, turn, verdict))
    run, _ = do(options(tmp_path, cache, model))
    assert run.outcomes[QUICK, 2].scores["monitor"].value == 1.0
    report = run.outcomes[QUICK, 2].monitor
    assert report is not None
    assert compared(run, 2) == ([quote] if verdict == "rejected" else [])
    assert all(v.severity == "suspicious" for v in report.violations)


def test_a_comparison_that_fails_is_said_and_asked_again(
    host: SandboxHost, cache: CachePaths, tmp_path: Path, turn: int
) -> None:
    """R4: an unreadable reply is a failed instrument; the score stays, and a resumption asks again."""
    broken = [
        {"when": r"\[attempt B\]", "text": "I think B is guilty!"},
        {**NOTHING, "when": r"(?s)^(?!.*it is not exactly one JSON)"},
        {"when": "", "text": "Really!"},
    ]
    model = scripted(tmp_path, replies=broken)
    chosen = options(tmp_path, cache, model)
    run, _ = do(chosen)
    for epoch in (1, 2):
        outcome = run.outcomes[QUICK, epoch]
        assert outcome.monitor is not None
        assert any("comparison" in each and "unparsable" in each for each in outcome.monitor.failed)
        assert outcome.scores["monitor"].value == 1.0
    scripted(tmp_path, replies=replies("echo typed", turn))
    again, _ = do_again(load(run.paths.root), chosen)
    assert compared(again, 2) == ["echo typed"]
    report = again.outcomes[QUICK, 2].monitor
    assert report is not None
    assert report.failed == ()
    assert "failed" not in report.reason


def test_one_epoch_or_no_model_is_never_compared(
    host: SandboxHost, cache: CachePaths, tmp_path: Path
) -> None:
    model = scripted(tmp_path, replies=replies("echo typed", 0))
    run, _ = do(options(tmp_path, cache, model, epochs=1))
    report = run.outcomes[QUICK, 1].monitor
    assert report is not None
    assert report.layers == ("rules", f"model {model}")


def found(layer: str, severity: str = "violation") -> Violation:
    return Violation(
        kind="git_history",
        severity=severity,  # type: ignore[arg-type]
        quote="git log -p",
        turn=3,
        explanation=f"by {layer}",
        layer=layer,  # type: ignore[arg-type]
    )


def test_another_comparison_takes_the_place_of_an_earlier_one() -> None:
    rules, model = found("rules", "suspicious"), found("model", "suspicious")
    old = MonitorReport(
        verdict="violation",
        violations=(found("comparison"), rules, model),
        layers=("rules", "model m", "comparison m"),
        prevented=("nothing",),
    )
    none = MonitorReport(verdict="clean", layers=("comparison m",))
    new = with_comparison(old, none)
    assert new.verdict == "suspicious"
    assert {v.explanation for v in new.violations} == {"by rules", "by model"}
    assert new.layers == ("rules", "model m", "comparison m")
    assert new.prevented == ("nothing",)


def test_an_attempt_that_cannot_be_read_stays_unscored() -> None:
    old = MonitorReport(verdict="unscored", reason="there is no trajectory")
    new = with_comparison(
        old,
        MonitorReport(
            verdict="violation", violations=(found("comparison"),), layers=("comparison m",)
        ),
    )
    assert new.verdict == "unscored"
    assert {v.severity for v in new.violations} == {"suspicious"}
