"""``expbench power``: differences that can be found, by given variances and by those of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_compare import run_of
from typer.testing import CliRunner

from expbench.cli.main import app

TASKS = tuple(f"v/p{paper:02}/{task}" for paper in range(20) for task in range(8))


def command(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["power", *map(str, words)], env={"COLUMNS": "200"})


def numbers(*words: str | Path) -> dict[str, Any]:
    done = command(*words, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


GIVEN = ("--rate", "0.25", "--icc", "0.2", "--tasks", "450", "--papers", "50")


def test_the_difference_that_450_tasks_of_50_papers_show_at_a_quarter_right() -> None:
    """By hand: sqrt(2 * 0.1875 * (0.2 * 9 + 0.8) / 450) = 4.65 points, times 2.859 at 49 degrees."""
    found = numbers(*GIVEN)
    assert found["rows"][0]["detectable"] == pytest.approx(0.046547 * 2.8592, rel=2e-3)
    assert {row["detectable"] for row in found["rows"]} == {found["rows"][0]["detectable"]}


def test_what_is_detectable_is_found_with_the_wanted_chance_and_needs_these_tasks() -> None:
    smallest = numbers(*GIVEN, "--power", "0.9")["rows"][0]["detectable"]
    found = numbers(*GIVEN, "--power", "0.9", "--difference", str(smallest))
    assert found["rows"][0]["power"] == pytest.approx(0.9, abs=1e-4)
    assert found["rows"][0]["tasks_needed"] == pytest.approx(450, abs=9)
    assert found["epochs_needed"] == 1
    assert numbers(*GIVEN, "--difference", "0.05")["epochs_needed"] is None


def test_epochs_and_runs_that_agree_make_smaller_differences_visible() -> None:
    noisy = numbers(*GIVEN, "--noise", "0.6")["rows"]
    seen = [row["detectable"] for row in noisy]
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] / seen[0] == pytest.approx((2.06 / 2.6) ** 0.5)
    alike = numbers(*GIVEN, "--correlation", "0.6")["rows"][0]["detectable"]
    assert alike < 0.7 * numbers(*GIVEN)["rows"][0]["detectable"]


def simulated(folder: Path, seed: int, chances: np.ndarray, epochs: int = 3) -> Path:
    random = np.random.default_rng(seed)
    right = random.random((len(TASKS), epochs)) < chances[:, None]
    values = {
        (task, epoch + 1): (1.0, 1.0, 1.0, float(right[i, epoch]), 1.0)
        for i, task in enumerate(TASKS)
        for epoch in range(epochs)
    }
    run_of(folder, values, tasks=TASKS, epochs=epochs)
    return folder


def test_variances_of_runs_are_theirs_and_two_alike_runs_see_more_than_one_alone(
    tmp_path: Path,
) -> None:
    random = np.random.default_rng(1)
    chances = np.clip(np.repeat(random.beta(1, 2, 20), 8) + random.normal(0, 0.1, 160), 0, 1)
    one, two = (simulated(tmp_path / name, i, chances) for i, name in enumerate(("one", "two")))
    alone, both = numbers(one), numbers(one, two)
    noise = float((chances * (1 - chances)).mean())
    assert alone["variances"]["attempt"] == pytest.approx(2 * noise, rel=0.2)
    assert both["variances"]["attempt"] == pytest.approx(2 * noise, rel=0.2)
    assert alone["variances"]["paper"] == pytest.approx(
        2 * chances.reshape(20, 8).mean(1).var(), rel=0.5
    )
    assert both["variances"]["paper"] < 0.02 < alone["variances"]["paper"]
    assert alone["plan"] == {"tasks": 160, "papers": 20, "epochs": 3, "size": 8.0}
    assert both["rows"][2]["detectable"] < 0.6 * alone["rows"][2]["detectable"]
    larger = numbers(one, "--tasks", "320")
    assert (larger["plan"]["tasks"], larger["plan"]["papers"]) == (320, 40)


def test_the_table_says_what_it_assumes(tmp_path: Path) -> None:
    shown = command(simulated(tmp_path / "one", 1, np.full(160, 0.4), 1), "--difference", "0.1")
    assert shown.exit_code == 0
    for text in ("one attempt each", "correlated by 0", "Tasks needed for it", "160 tasks of 20"):
        assert text in shown.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--rate"),
        (("--rate", "0.2"), "--tasks and --papers"),
        ((*GIVEN, "--variance", "0.1"), "Give a run, or --rate"),
        ((*GIVEN, "--noise", "0.9"), "at most 1"),
        ((*GIVEN, "--difference", "5"), "0.05 is 5 percentage points"),
        (("nowhere",), "holds no run"),
        (("nowhere", "--rate", "0.2"), "leave them out"),
        (("a", "b", "c"), "give no more"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(words: tuple[str, ...], said: str) -> None:
    refused = command(*words)
    assert (refused.exit_code, len(refused.output.splitlines())) == (2, 1)
    assert said in refused.output


def test_a_metric_that_is_not_there_and_one_paper_are_refused(tmp_path: Path) -> None:
    few = {(TASKS[0], 1): (1.0, 1.0, 1.0, 1.0, 1.0)}
    run_of(tmp_path / "few", few, tasks=TASKS[:1])
    assert "no metric 'speed'" in command(tmp_path / "few", "--metric", "speed").output
    refused = command(tmp_path / "few")
    assert refused.exit_code == 2
    assert "numbers of 1 papers" in refused.output


def test_runs_without_any_variance_say_nothing_about_power(tmp_path: Path) -> None:
    """An oracle is right everywhere: that does not make every difference visible."""
    same = simulated(tmp_path / "same", 1, np.full(160, 1.0), 1)
    alone = command(same, "--difference", "0.1")
    assert alone.exit_code == 2
    assert "the same number at every task" in " ".join(alone.output.split())
    both = command(same, same)
    assert both.exit_code == 2
    assert "differ equally at every task" in " ".join(both.output.split())
    known = command("--rate", "0.2", "--tasks", "160", "--papers", "20")
    assert known.exit_code == 0
