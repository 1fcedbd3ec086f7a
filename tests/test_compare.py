"""``expbench compare``: what it refuses, what it finds, and what it says of chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.contrast import compare
from expbench.errors import UserError
from expbench.runs import Manifest, Run, create, load
from expbench.schema import (
    Enforced,
    Judgement,
    Judging,
    Limits,
    MonitorReport,
    Outcome,
    Policy,
    Requests,
    Score,
)

TASKS = tuple(f"v/p{paper}/{task}" for paper in range(6) for task in range(3))
NAMES = ("monitor", "design", "implementation", "conclusion", "execution")
Values = Sequence[float | None]


def manifest(**more: Any) -> Manifest:
    fields: dict[str, Any] = {
        "name": "one",
        "created": "2026-01-01T00:00:00Z",
        "suite": "expbench",
        "suite_version": "abc",
        "tasks": TASKS,
        "epochs": 1,
        "agent": "react",
        "model": "some/model",
        "judging": Judging(judges=("some/judge",)),
        "sandbox": "bwrap",
        "policy": Policy(),
        "data_version": "d1",
        "errata": "e1",
    }
    return Manifest(**{**fields, **more})


def run_of(folder: Path, values: dict[tuple[str, int], Values], **more: Any) -> Run:
    """A run on the disk, with M D I C E of each attempt; what is not given is missing."""
    run = create(folder, manifest(name=folder.name, **more))
    for (task, epoch), numbers in values.items():
        scores = {
            name: Score(value=value, reason="" if value is not None else "no answer")
            for name, value in zip(NAMES, numbers, strict=True)
        }
        run.add(
            Outcome(
                task_id=task,
                paper=task.rpartition("/")[0],
                epoch=epoch,
                agent=run.manifest.agent,
                model=run.manifest.model,
                status="finished",
                scores=scores,
                monitor=MonitorReport(verdict="clean"),
            )
        )
    return load(folder)


def steady(conclusion: float = 0.0, tasks: Sequence[str] = TASKS) -> dict[tuple[str, int], Values]:
    return {(task, 1): (1.0, 0.5, 0.5, conclusion, 1.0) for task in tasks}


def command(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["compare", *map(str, words)], env={"COLUMNS": "250"})


UNLIKE = [
    ({"suite": "lite"}, "suite (expbench against lite)"),
    ({"suite_version": "xyz"}, "suite_version (abc against xyz)"),
    ({"data_version": "d2"}, "data_version (d1 against d2)"),
    ({"errata": "none"}, "errata (e1 against none)"),
    ({"mask": "paper"}, "mask (strict against paper)"),
    ({"hints": "none"}, "hints (full against none)"),
    ({"reveal": "question"}, "reveal (instructions against question)"),
    (
        {"judging": Judging(judges=("a/b", "c/d"))},
        "judging.judges (some/judge against a/b, c/d)",
    ),
    (
        {"judging": Judging(judges=("some/judge",), samples=3)},
        "judging.samples (1 against 3)",
    ),
    (
        {"judging": Judging(judges=("some/judge",), protocol="paper")},
        "judging.protocol (itemised against paper)",
    ),
    ({"monitor_model": "m/m"}, "monitor_model (none against m/m)"),
    (
        {"policy": Policy(limits=Limits(memory_mib=4096))},
        "policy.limits.memory_mib (8192 against 4096)",
    ),
    (
        {"policy": Policy(requests=Requests(memory_mib=2048))},
        "policy.requests.memory_mib (none against 2048)",
    ),
    ({"policy": Policy(network="open")}, "policy.network (none against open)"),
    ({"policy": Policy(gpus=1)}, "policy.gpus (0 against 1)"),
    ({"sandbox": "docker"}, "sandbox (bwrap against docker)"),
]


@pytest.mark.parametrize(("more", "said"), UNLIKE, ids=[said.split()[0] for _, said in UNLIKE])
def test_runs_under_other_conditions_are_refused_by_the_field_and_both_values(
    more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """R32"""
    run_of(tmp_path / "one", steady())
    run_of(tmp_path / "two", steady(), **more)
    refused = command(tmp_path / "one", tmp_path / "two")
    assert refused.exit_code == 2
    assert f"same conditions: {said}. --force" in refused.output
    forced = command(tmp_path / "one", tmp_path / "two", "--force")
    assert forced.exit_code == 0
    assert "NOT COMPARABLE" in forced.output
    found = json.loads(command(tmp_path / "one", tmp_path / "two", "--force", "--json").output)
    (unlike,) = found["unlike"]
    assert f"{unlike['field']} ({unlike['first']} against {unlike['second']})" == said


def test_several_differences_are_all_named(tmp_path: Path) -> None:
    one = run_of(tmp_path / "one", steady())
    policy = Policy(limits=Limits(minutes=90, memory_mib=None))
    two = run_of(tmp_path / "two", steady(), mask="paper", policy=policy)
    with pytest.raises(UserError) as raised:
        compare(one, two)
    for said in ("mask (strict against paper)", "policy.limits.memory_mib (8192 against none)"):
        assert said in str(raised.value)
    assert "policy.limits.minutes (40.0 against 90.0)" in str(raised.value)


def test_what_only_outcomes_tell_is_a_condition_too(tmp_path: Path) -> None:
    """R32: a limit that a sandbox did not hold, and the judge's own prompt."""
    runs = []
    for name, missing, prompt in (("one", {}, "a" * 64), ("two", {"memory_mib": "no"}, "b" * 64)):
        run = run_of(tmp_path / name, steady())
        outcome = run.outcomes[TASKS[0], 1].model_copy(
            update={
                "enforced": Enforced(provider="bwrap", missing=missing),
                "judgement": Judgement(judge="some/judge", prompt_digest=prompt),
            }
        )
        run.add(outcome)
        runs.append(run)
    with pytest.raises(UserError, match=r"limits not enforced.*none against memory_mib") as raised:
        compare(*runs)
    assert f"judge's prompt ({'a' * 12} against {'b' * 12})" in str(raised.value)


def test_agents_models_epochs_and_the_pace_may_differ(tmp_path: Path) -> None:
    one = run_of(tmp_path / "one", steady(), versions={"expbench": "1"})
    hasty = Judging(judges=("some/judge",), concurrency=2, deadline=60)
    other = {"agent": "codex", "model": "other/model", "epochs": 2, "judging": hasty}
    two = run_of(tmp_path / "two", steady(), versions={"expbench": "2"}, **other)
    found = compare(one, two)
    assert found.unlike == ()
    assert found.notes == ("epochs: 1 against 2", "expbench: 1 against 2")
    assert found.second.counts.missing == len(TASKS)


def test_a_change_of_every_task_of_some_papers_has_the_exact_p_value(tmp_path: Path) -> None:
    """Five of six papers get better: 2 of the 32 patterns of their signs are as far from 0."""
    better = {(task, 1): (1.0, 0.5, 0.5, float(not task.startswith("v/p0")), 1.0) for task in TASKS}
    one, two = run_of(tmp_path / "one", steady()), run_of(tmp_path / "two", better)
    found = compare(one, two)
    (change,) = (each for each in found.metrics if each.key == "conclusion")
    assert (change.first, change.second) == (0.0, pytest.approx(15 / 18))
    pair = change.paired
    assert (pair.difference, pair.p, pair.how) == (pytest.approx(15 / 18), 2 / 32, "exact")
    assert (pair.tasks, pair.papers, pair.better, pair.worse) == (18, 6, 15, 0)
    tested = [each for each in found.metrics if each.paired.p is not None]
    assert change.p_holm == pytest.approx(min(1.0, len(tested) * 2 / 32))
    assert len(found.changes) == 15
    (score,) = found.changes[0].scores
    assert (score.label, score.first, score.second) == ("C", 0.0, 1.0)
    assert found.changes[0].task_id == "v/p1/0"


def test_epochs_are_averaged_within_tasks_and_pairs_are_of_the_same_task(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    values: list[dict[tuple[str, int], Values]] = [
        {
            (task, epoch): (1.0, float(random.random()), 0.5, 0.0, 1.0)
            for task in TASKS
            for epoch in e
        }
        for e in ((1, 2), (1, 2, 3))
    ]
    runs = [
        run_of(tmp_path / name, each, epochs=n)
        for name, each, n in zip(("one", "two"), values, (2, 3), strict=True)
    ]
    (change,) = (each for each in compare(*runs).metrics if each.key == "design")
    means = [
        {
            task: fmean(v[1] for (t, _), v in each.items() if t == task and v[1] is not None)
            for task in TASKS
        }
        for each in values
    ]
    differences = [means[1][task] - means[0][task] for task in TASKS]
    assert change.paired.difference == pytest.approx(fmean(differences))
    correlation = np.corrcoef([means[0][t] for t in TASKS], [means[1][t] for t in TASKS])[0, 1]
    assert change.paired.correlation == pytest.approx(correlation)
    assert change.paired.better == sum(d > 0 for d in differences)


def test_what_is_unscored_in_one_run_is_no_pair_and_widens_the_bounds(tmp_path: Path) -> None:
    """R1"""
    holes = steady(1.0)
    holes[TASKS[0], 1] = (1.0, 0.5, 0.5, None, 1.0)
    one, two = run_of(tmp_path / "one", steady()), run_of(tmp_path / "two", holes)
    found = compare(one, two)
    (change,) = (each for each in found.metrics if each.key == "conclusion")
    assert (change.unscored, change.paired.tasks, change.paired.difference) == (1, 17, 1.0)
    assert change.bounds is not None
    assert (change.bounds.low, change.bounds.high) == (pytest.approx(17 / 18), 1.0)
    (score,) = found.changes[0].scores
    assert (found.changes[0].task_id, score.first, score.second) == (TASKS[0], 0.0, None)


def test_only_common_tasks_are_compared_and_the_others_named(tmp_path: Path) -> None:
    one = run_of(tmp_path / "one", steady(tasks=TASKS[:9]), tasks=TASKS[:9])
    two = run_of(tmp_path / "two", steady(1.0, TASKS[3:]), tasks=TASKS[3:])
    found = compare(one, two)
    assert (found.tasks, found.only_first, found.only_second) == (6, TASKS[:3], TASKS[9:])
    assert all(each.paired.tasks == 6 for each in found.metrics if each.key == "conclusion")
    none = run_of(tmp_path / "none", steady(tasks=TASKS[9:]), tasks=TASKS[9:])
    with pytest.raises(UserError, match="no task in common"):
        compare(one, none)


def test_a_run_against_itself_does_not_differ(tmp_path: Path) -> None:
    run = run_of(tmp_path / "one", steady())
    found = compare(run, run)
    assert found.changes == ()
    assert {each.paired.difference for each in found.metrics if each.paired.tasks} == {0.0}
    assert {each.p_holm for each in found.metrics if each.paired.tasks} == {1.0}


def test_the_tables_name_the_runs_and_what_changed(tmp_path: Path) -> None:
    run_of(tmp_path / "one", steady())
    run_of(tmp_path / "two", steady(1.0), agent="codex")
    shown = command(tmp_path / "one", tmp_path / "two")
    assert shown.exit_code == 0
    for text in ("two (codex with some/model) against one", "18 of 18 tasks changed", "+100.0"):
        assert text in shown.output
    assert "C 0.0 % → 100.0 %" in shown.output
    assert "18/0" in shown.output
    assert shown.output.count("of 18 ") >= 10, "every difference has its denominator"
    assert "18 planned = 18 scored + 0 unscored" in shown.output


def test_a_folder_without_a_run_is_one_sentence(tmp_path: Path) -> None:
    run_of(tmp_path / "one", steady())
    refused = command(tmp_path / "one", tmp_path / "nothing")
    assert (refused.exit_code, len(refused.output.splitlines())) == (2, 1)
    assert "holds no run" in refused.output


def test_what_a_strangers_manifest_says_reaches_no_terminal_as_a_control(tmp_path: Path) -> None:
    run_of(tmp_path / "one", steady())
    run_of(tmp_path / "two", steady(), errata="\x1b[2Jx", agent="\x1b[31m[bold]me")
    refused = command(tmp_path / "one", tmp_path / "two")
    forced = command(tmp_path / "one", tmp_path / "two", "--force")
    assert (refused.exit_code, forced.exit_code) == (2, 0)
    assert "\x1b" not in refused.output + forced.output
    assert "[bold]me" in forced.output
