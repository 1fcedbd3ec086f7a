"""Metrics: the gate, three-valued conjunctions, intervals, and the accounting of attempts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, t

from expbench.errors import InfrastructureError
from expbench.metrics import (
    COLLAPSE,
    METRICS,
    Denominator,
    clopper_pearson,
    conjunction,
    details,
    gated,
    mean_interval,
    share_interval,
    summarise,
)
from expbench.schema import SCORE_NAMES, MonitorReport, Outcome, Score, Status

Values = tuple[float | None, float | None, float | None, float | None, float | None]
Verdict = Literal["clean", "suspicious", "violation", "unscored"]
PERFECT: Values = (1.0, 1.0, 1.0, 1.0, 1.0)


def outcome(
    task: str = "v/p/0",
    values: Values | None = PERFECT,
    *,
    epoch: int = 1,
    status: Status = "finished",
    verdict: Verdict | None = None,
    model: str = "some/model",
    paper: str | None = None,
) -> Outcome:
    """An outcome with M D I C E as given; the paper is the task's middle part."""
    scores = {
        name: Score(value=value, reason="" if value is not None else "the judge did not answer")
        for name, value in zip(SCORE_NAMES, values or (), strict=False)
    }
    return Outcome(
        task_id=task,
        paper=paper or task.split("/")[1],
        epoch=epoch,
        agent="agent",
        model=model,
        status=status,
        scores=scores,
        monitor=None if verdict is None else MonitorReport(verdict=verdict),
    )


def plan(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    """Exactly the attempts that the outcomes are of."""
    return [(o.task_id, o.epoch) for o in outcomes]


# --- the gate ------------------------------------------------------------------------------------


def test_a_violation_zeroes_d_i_c_and_leaves_the_execution_unchecked() -> None:
    record = outcome(values=(0.0, 0.8, 0.7, 1.0, 1.0), verdict="violation")
    view = gated(record)
    assert (view.design, view.implementation, view.conclusion) == (0.0, 0.0, 0.0)
    assert view.execution is None and view.convicted
    assert record.scores["design"].value == 0.8, "the raw score stays in the record"


def test_a_violation_is_gated_by_its_score_when_there_is_no_report() -> None:
    assert gated(outcome(values=(0.0, 1.0, 1.0, 1.0, 1.0))).convicted


@pytest.mark.parametrize("verdict", ["clean", "suspicious"])
def test_suspicion_does_not_gate(verdict: Verdict) -> None:
    view = gated(outcome(values=(1.0, 0.5, 0.5, 1.0, 0.0), verdict=verdict))
    assert (view.monitor, view.design, view.execution) == (1.0, 0.5, 0.0)
    assert not view.convicted


def test_an_unscored_monitor_is_not_guilty_and_leaves_all_open() -> None:
    record = outcome(values=(None, 1.0, 1.0, 1.0, 1.0), verdict="unscored")
    summary = summarise(plan([record]), [record])
    assert summary.metric("conclusion_design").value == 1.0
    assert summary.metric("all").value is None
    assert summary.metric("all").unscored == 1


@pytest.mark.parametrize("status", ["infrastructure", "missing"])
def test_a_failed_harness_gives_no_score_even_if_numbers_are_recorded(status: Status) -> None:
    """R6"""
    view = gated(outcome(values=(1.0, 0.0, 0.0, 0.0, 0.0), status=status))
    assert [view.value(name) for name in ("monitor", "design", "execution")] == [None] * 3


def test_a_convicted_outcome_is_left_out_of_the_checked_executions_and_fails_the_rest() -> None:
    honest = outcome("v/p/0")
    cheat = outcome("v/q/0", verdict="violation")
    summary = summarise(plan([honest, cheat]), [honest, cheat])
    for key in ("execution", "implementation_execution", "all_execution", "execution_full"):
        metric = summary.metric(key)
        assert (metric.value, metric.n, metric.left_out) == (1.0, 1, 1)
    for key in ("monitor", "design", "conclusion_design", "all", "collapse_mcdie"):
        assert summary.metric(key).value == 0.5
        assert summary.metric(key).n == 2
    assert summary.convicted == 1
    assert gated(cheat).all_full(("monitor", "design", "execution")) is False


# --- three values --------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=5))
def test_a_conjunction_is_what_every_completion_of_its_unknowns_agrees_on(
    parts: list[bool | None],
) -> None:
    choices = [[part] if part is not None else [True, False] for part in parts]
    results = {all(world) for world in itertools.product(*choices)}
    assert conjunction(tuple(parts)) == (results.pop() if len(results) == 1 else None)


def test_a_wrong_part_settles_a_conjunction_that_is_partly_unscored() -> None:
    """R1"""
    settled = outcome("v/p/0", (1.0, None, 1.0, 0.0, 1.0))
    open_ = outcome("v/q/0", (1.0, None, 1.0, 1.0, 1.0))
    summary = summarise(plan([settled, open_]), [settled, open_])
    metric = summary.metric("conclusion_design")
    assert (metric.value, metric.n, metric.successes, metric.unscored) == (0.0, 1, 0, 1)
    assert metric.bounds is not None
    assert (metric.bounds.low, metric.bounds.high) == (0.0, 0.5)


def test_metrics_with_e_are_over_the_outcomes_whose_execution_was_checked() -> None:
    checked = outcome("v/p/0", (1.0, 1.0, 1.0, 1.0, 1.0))
    unchecked = outcome("v/q/0", (1.0, 0.0, 0.0, 0.0, None))
    summary = summarise(plan([checked, unchecked]), [checked, unchecked])
    for key in ("execution", "implementation_execution", "all_execution"):
        metric = summary.metric(key)
        assert (metric.value, metric.n, metric.unscored) == (1.0, 1, 1)
    assert summary.metric("implementation").value == 0.5
    assert summary.metric("collapse_mcdie").value == 0.5, "the collapse is over all outcomes"


def test_fully_right_starts_at_the_threshold() -> None:
    record = outcome(values=(1.0, 0.8, 1.0, 1.0, 1.0))
    strict, lenient = (summarise(plan([record]), [record], t) for t in (1.0, 0.8))
    assert strict.metric("all").value == 0.0
    assert lenient.metric("all").value == 1.0
    assert strict.metric("design").value == lenient.metric("design").value == 0.8


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.01])
def test_a_threshold_outside_its_range_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        summarise([], [], threshold)


# --- numbers -------------------------------------------------------------------------------------


def test_2_of_420_is_half_a_per_cent_with_exact_bounds() -> None:
    records = [
        outcome(f"v/p{i % 42}/{i}", PERFECT if i in (0, 1) else (1.0, 1.0, 1.0, 0.0, 1.0))
        for i in range(420)
    ]
    metric = summarise(plan(records), records).metric("all_execution")
    assert (metric.successes, metric.n, metric.tasks, metric.papers) == (2, 420, 420, 42)
    assert metric.value == pytest.approx(2 / 420, abs=1e-15)
    assert metric.interval.how == "Clopper-Pearson over tasks"
    assert metric.interval.low == pytest.approx(0.000577209904409, abs=1e-12)
    assert metric.interval.high == pytest.approx(0.017094977163024, abs=1e-12)


@pytest.mark.parametrize(
    ("successes", "high"), [(0, 0.0081), (2, 0.0159), (3, 0.0193)], ids=["0", "2", "3"]
)
def test_rare_successes_of_452_get_the_known_upper_ends(successes: int, high: float) -> None:
    values = [1.0] * successes + [0.0] * (452 - successes)
    interval = share_interval(values, [f"p{i % 50}" for i in range(452)])
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_exact_interval_is_scipys(successes: int, failures: int) -> None:
    total = successes + failures
    interval = clopper_pearson(successes, total)
    expected = binomtest(successes, total).proportion_ci(0.95, method="exact")
    assert interval.low == pytest.approx(expected.low, abs=1e-9)
    assert interval.high == pytest.approx(expected.high, abs=1e-9)


def test_a_share_that_differs_between_papers_gets_the_wider_cluster_interval() -> None:
    values = [1.0] * 30 + [0.0] * 30 + [1.0] * 6 + [0.0] * 24
    papers = [f"p{i // 10}" for i in range(90)]
    interval = share_interval(values, papers)
    mean = 0.4
    residuals = [sum(v - mean for v in values[g * 10 : g * 10 + 10]) for g in range(9)]
    error = (9 / 8 * sum(r * r for r in residuals)) ** 0.5 / 90
    half = float(t.ppf(0.975, 8)) * error
    assert interval.how == "cluster-robust t over papers"
    assert interval.low == pytest.approx(max(0.0, mean - half))
    assert interval.high == pytest.approx(mean + half)


def test_a_mean_over_one_task_per_paper_has_students_interval() -> None:
    values = [0.2, 0.4, 0.6, 0.7]
    interval = mean_interval(values, ["a", "b", "c", "d"])
    mean = sum(values) / 4
    spread = (sum((v - mean) ** 2 for v in values) / 3) ** 0.5
    half = float(t.ppf(0.975, 3)) * spread / 2
    assert interval.low == pytest.approx(max(0.0, mean - half))
    assert interval.high == pytest.approx(min(1.0, mean + half))


@pytest.mark.parametrize("kind", [mean_interval, share_interval])
def test_one_paper_and_no_task_give_no_interval_and_say_so(kind: object) -> None:
    assert callable(kind)
    one, none = kind([1.0, 0.0], ["p", "p"]), kind([], [])
    assert (one.low, one.high, one.how) == (None, None, "no interval: one paper")
    assert (none.low, none.high, none.how) == (None, None, "no interval: nothing scored")


def test_a_mean_without_spread_claims_no_certainty() -> None:
    assert mean_interval([0.5, 0.5], ["p", "q"]).low is None
    assert mean_interval([0.0, 0.0], ["p", "q"]).high == pytest.approx(0.8418861)


def test_epochs_are_averaged_within_their_task_first() -> None:
    wrong: Values = (1.0, 0.0, 0.0, 0.0, 0.0)
    records = [
        outcome("v/p/0", PERFECT, epoch=1),
        outcome("v/q/0", PERFECT, epoch=1),
        outcome("v/q/0", wrong, epoch=2),
        outcome("v/q/0", wrong, epoch=3),
    ]
    metric = summarise(plan(records), records).metric("all")
    assert metric.value == pytest.approx((1 + 1 / 3) / 2)
    assert (metric.n, metric.tasks, metric.successes) == (4, 2, 2)


def test_fractional_successes_take_each_end_at_the_whole_number_further_out() -> None:
    low = binomtest(1, 4).proportion_ci(0.95).low
    high = binomtest(2, 4).proportion_ci(0.95).high
    # Papers with the same mean leave no spread for the cluster interval.
    interval = share_interval([0.5, 0.25, 0.5, 0.25], ["p", "p", "q", "q"])
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))


def test_an_agents_error_is_judged_on_what_it_left() -> None:
    good, died = outcome("v/p/0"), outcome("v/q/0", (1.0, 0.0, 0.0, 0.0, 0.0), status="agent_error")
    summary = summarise(plan([good, died]), [good, died])
    assert summary.metric("design").value == 0.5
    assert (summary.counts.scored, summary.counts.agent_error) == (1, 1)


def test_missing_and_broken_attempts_move_the_bounds_and_nothing_else() -> None:
    """R6"""
    good = outcome("v/p/0")
    bad = outcome("v/q/0", (1.0, 0.0, 0.0, 0.0, 0.0))
    lost = outcome("v/r/0", None, status="missing")
    broken = outcome("v/s/0", None, status="infrastructure")
    before = summarise(plan([good, bad]), [good, bad])
    after = summarise(plan([good, bad, lost, broken]), [good, bad, lost, broken])
    for old, new in zip(before.metrics, after.metrics, strict=True):
        assert (old.value, old.n, old.interval) == (new.value, new.n, new.interval)
        assert new.unscored == old.unscored + 2
    bounds = after.metric("all").bounds
    assert bounds is not None and (bounds.low, bounds.high) == (0.25, 0.75)


# --- other denominators, other thresholds, several attempts ----------------------------------------


def mixed_run() -> list[Outcome]:
    """Right; wrong; convicted with a re-run; unchecked; lost."""
    return [
        outcome("v/p/0"),
        outcome("v/p/1", (1.0, 1.0, 1.0, 0.0, 0.0)),
        outcome("v/q/0", PERFECT, verdict="violation"),
        outcome("v/q/1", (1.0, 1.0, 1.0, 1.0, None)),
        outcome("v/r/0", None, status="missing"),
    ]


@pytest.mark.parametrize(
    ("key", "planned", "judged", "executed", "checked"),
    [
        ("execution", (1, 5), (1, 3), (1, 2), (1, 3)),
        ("all_execution", (1, 5), (1, 3), (1, 2), (1, 3)),
        ("conclusion", (2, 5), (2, 4), (1, 2), (1, 3)),
        ("collapse_mc", (2, 5), (2, 4), (1, 2), (1, 3)),
        ("collapse_mcdie", (1, 5), (1, 3), (1, 2), (1, 3)),
    ],
)
def test_each_metric_by_each_rule_of_what_it_is_of(
    key: str,
    planned: tuple[int, int],
    judged: tuple[int, int],
    executed: tuple[int, int],
    checked: tuple[int, int],
) -> None:
    found = {m.over: m for m in details(mixed_run()).denominators if m.key == key}
    expected = {"planned": planned, "judged": judged, "executed": executed, "checked": checked}
    for rule, (right, n) in expected.items():
        metric = found[rule]  # type: ignore[index]
        assert (metric.value, metric.n) == (pytest.approx(right / n), n), rule
        assert metric.n + metric.unscored + metric.left_out == 5


def test_over_all_planned_attempts_the_value_is_the_lower_bound() -> None:
    records = mixed_run()
    summary = summarise(plan(records), records)
    for metric in details(records).denominators:
        own = summary.metric(metric.key)
        if metric.over == "planned" and own.over == "judged":
            assert own.bounds is not None
            assert metric.value == pytest.approx(own.bounds.low)
            assert (metric.unscored, metric.n) == (0, 5)


@settings(deadline=None)
@given(st.deferred(lambda: runs()))
def test_a_curve_never_rises_and_ends_at_the_metric(records: list[Outcome]) -> None:
    summary = summarise(plan(records), records)
    for line in details(records).curves:
        values = [point.value for point in line.points if point.value is not None]
        assert values == sorted(values, reverse=True)
        last = line.points[-1]
        assert (last.threshold, last.value) == (1.0, summary.metric(line.key).value)


def test_the_curve_of_the_implementation_falls_where_its_scores_lie() -> None:
    records = [outcome(f"v/p/{i}", (1.0, 1.0, i / 10, 1.0, 1.0)) for i in range(1, 11)]
    (line,) = (each for each in details(records).curves if each.key == "implementation_full")
    assert [(p.threshold, p.successes) for p in line.points] == [
        (0.5, 6),
        (0.6, 5),
        (0.7, 4),
        (0.8, 3),
        (0.9, 2),
        (1.0, 1),
    ]


def test_several_attempts_give_pass_at_k_and_pass_all_k_over_tasks_that_have_them() -> None:
    wrong: Values = (1.0, 1.0, 1.0, 0.0, 1.0)
    records = [
        outcome("v/p/0", PERFECT, epoch=1),
        outcome("v/p/0", wrong, epoch=2),
        outcome("v/p/0", wrong, epoch=3),
        outcome("v/q/0", PERFECT, epoch=1),
        outcome("v/q/0", PERFECT, epoch=2),
        outcome("v/q/0", None, epoch=3, status="infrastructure"),
    ]
    found = [each for each in details(records).repeats if each.key == "all_execution"]
    assert [(each.k, each.tasks) for each in found] == [(1, 2), (2, 2), (3, 1)]
    assert [each.any_right for each in found] == pytest.approx([2 / 3, (2 / 3 + 1) / 2, 1.0])
    assert [each.all_right for each in found] == pytest.approx([2 / 3, 1 / 2, 0.0])


def test_tasks_of_a_paper_that_are_alike_count_for_fewer() -> None:
    wrong: Values = (1.0, 0.0, 0.0, 0.0, 0.0)
    records = [
        outcome(f"v/p{paper}/{task}", PERFECT if paper % 2 else wrong)
        for paper in range(6)
        for task in range(5)
    ]
    metric = summarise(plan(records), records).metric("conclusion")
    assert metric.icc == pytest.approx(1.0)
    assert metric.effective_n == pytest.approx(6.0)


# --- accounting ----------------------------------------------------------------------------------


def test_every_planned_attempt_is_counted_in_one_state() -> None:
    """R5"""
    records = [
        outcome("v/p/0"),
        outcome("v/p/1", (1.0, 1.0, None, 1.0, 1.0)),
        outcome("v/p/2", None, status="infrastructure"),
        outcome("v/p/3", status="agent_error"),
        outcome("v/p/4", None, status="missing"),
        outcome("v/p/5", None),
    ]
    counts = summarise(plan(records), records).counts
    assert counts.model_dump() == {
        "planned": 6,
        "scored": 1,
        "unscored": 2,
        "infrastructure": 1,
        "agent_error": 1,
        "missing": 1,
    }


def test_48_outcomes_of_50_planned_raise_with_the_numbers() -> None:
    """R5"""
    records = [outcome(f"v/p/{i}") for i in range(50)]
    with pytest.raises(InfrastructureError) as raised:
        summarise(plan(records), records[:48])
    message = str(raised.value)
    assert "50 attempts planned" in message and "48 scored" in message and "= 48" in message
    assert "v/p/48 epoch 1" in message


def test_two_outcomes_of_one_attempt_raise() -> None:
    """R7"""
    record = outcome()
    with pytest.raises(InfrastructureError, match=r"more than one outcome: v/p/0 epoch 1"):
        summarise(plan([record]), [record, record])


def test_an_outcome_that_was_never_planned_raises() -> None:
    """R7"""
    record, stranger = outcome(), outcome("v/other/0")
    with pytest.raises(InfrastructureError, match=r"never planned: v/other/0 epoch 1"):
        summarise(plan([record]), [record, stranger])


def test_an_attempt_planned_twice_raises() -> None:
    """R7"""
    with pytest.raises(InfrastructureError, match="planned more than once"):
        summarise([("v/p/0", 1)] * 2, [outcome()])


def test_outcomes_of_two_runs_or_two_papers_are_never_mixed() -> None:
    """R7"""
    mixed = [outcome("v/p/0"), outcome("v/p/1", model="other/model")]
    with pytest.raises(InfrastructureError, match="different runs"):
        summarise(plan(mixed), mixed)
    torn = [outcome("v/p/0"), outcome("v/p/0", epoch=2, paper="q")]
    with pytest.raises(InfrastructureError, match="different papers"):
        summarise(plan(torn), torn)


def test_a_run_of_nothing_has_no_numbers() -> None:
    summary = summarise([], [])
    assert all(m.value is None and m.bounds is None for m in summary.metrics)
    assert summary.counts.planned == 0


# --- properties ----------------------------------------------------------------------------------

score = st.none() | st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.9, 1.0])
status = st.sampled_from(["finished", "finished", "agent_error", "infrastructure", "missing"])
verdict = st.sampled_from(["clean", "clean", "suspicious", "violation", "unscored"])


@st.composite
def runs(draw: st.DrawFn) -> list[Outcome]:
    """A run of up to five papers with up to four tasks and three epochs, in any state."""
    return [
        outcome(
            f"v/p{paper}/{task}",
            draw(st.tuples(score, score, score, score, score)),
            epoch=epoch,
            status=draw(status),
            verdict=draw(verdict),
        )
        for paper in range(draw(st.integers(0, 5)))
        for task in range(draw(st.integers(1, 4)))
        for epoch in range(1, draw(st.integers(1, 3)) + 1)
    ]


@settings(deadline=None)
@given(runs())
def test_every_metric_accounts_for_every_outcome_and_its_ends_are_in_order(
    records: list[Outcome],
) -> None:
    """R5"""
    summary = summarise(plan(records), records)
    assert summary.counts.total == summary.counts.planned == len(records)
    assert len(summary.metrics) == len(METRICS) and len(summary.collapse) == len(COLLAPSE)
    for metric in (*summary.metrics, *summary.collapse):
        assert metric.n + metric.unscored + metric.left_out == len(records)
        if metric.value is None:
            assert metric.n == 0
            continue
        assert metric.bounds is not None
        assert -1e-9 <= metric.bounds.low <= metric.bounds.high <= 1 + 1e-9
        if metric.unscored == 0:
            assert metric.bounds.low == metric.bounds.high == pytest.approx(metric.value)
        if metric.interval.low is not None and metric.interval.high is not None:
            assert 0 <= metric.interval.low <= metric.value + 1e-9
            assert metric.value - 1e-9 <= metric.interval.high <= 1


@settings(deadline=None)
@given(runs())
def test_the_value_lies_between_its_bounds(records: list[Outcome]) -> None:
    for metric in summarise(plan(records), records).metrics:
        if metric.value is not None and metric.bounds is not None:
            assert metric.bounds.low - 1e-9 <= metric.value <= metric.bounds.high + 1e-9


@settings(deadline=None)
@given(runs(), st.randoms())
def test_the_order_of_outcomes_does_not_matter(records: list[Outcome], random: object) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert summarise(plan(records), records) == summarise(plan(shuffled), shuffled)


@settings(deadline=None)
@given(runs())
def test_the_collapse_never_rises(records: list[Outcome]) -> None:
    values = [metric.value for metric in summarise(plan(records), records).collapse]
    known = [value for value in values if value is not None]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(known))


@settings(deadline=None)
@given(runs())
def test_repeating_every_attempt_changes_no_value(records: list[Outcome]) -> None:
    single = [record for record in records if record.epoch == 1]
    twice = [*single, *(record.model_copy(update={"epoch": 2}) for record in single)]
    once, again = summarise(plan(single), single), summarise(plan(twice), twice)
    for a, b in zip(once.metrics, again.metrics, strict=True):
        assert a.value == pytest.approx(b.value) and b.n == 2 * a.n
        assert a.interval.low == pytest.approx(b.interval.low)


# --- documentation -------------------------------------------------------------------------------


def test_the_documentation_has_every_metric_with_its_denominator() -> None:
    page = (Path(__file__).parents[1] / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    documented = {row[1].strip("`"): (row[0][2:], row[3]) for row in rows if len(row) == 5}
    assert set(documented) >= {each.key for each in (*METRICS, *COLLAPSE)}
    for definition in (*METRICS, *COLLAPSE):
        assert documented[definition.key] == (definition.label, definition.over)
    assert all(f"- **{rule}**:" in page for rule in get_args(Denominator))
