"""Statistics against reference implementations, published worked examples, and by simulation."""

from __future__ import annotations

import itertools
import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, permutation_test

from expbench.statistics import (
    Components,
    Plan,
    cluster_bootstrap,
    cluster_error,
    cluster_t,
    clustering,
    components,
    correlation,
    design_effect,
    detectable,
    epochs_needed,
    holm,
    mean_interval,
    paired,
    paired_components,
    pass_all_k,
    pass_at_k,
    plan_of,
    power_of,
    rogan_gladen,
    share_interval,
    sign_flip,
    standard_error,
    tasks_needed,
)

VALUES = [0.2, 0.5, 0.4, 0.9, 1.0, 0.8, 0.1, 0.0, 0.3, 0.6, 0.7, 0.35]
PAPERS = list("aaabbbccccde")


# --- intervals over papers -------------------------------------------------------------------------


def test_the_cluster_robust_error_and_interval_are_those_of_statsmodels() -> None:
    """OLS on a constant, ``cov_type="cluster"``, ``use_t=True``, of statsmodels 0.15.0."""
    error, clusters = cluster_error(VALUES, PAPERS)
    assert (error, clusters) == (pytest.approx(0.15107758193686088, abs=1e-14), 5)
    interval = cluster_t(VALUES, PAPERS)
    assert interval.low == pytest.approx(0.06804138712628427, abs=1e-12)
    assert interval.high == pytest.approx(0.9069586128737162, abs=1e-12)


def test_the_bootstrap_over_papers_is_scipys_over_their_sums_and_sizes() -> None:
    values, papers = clustered(40, 6, 0.3, 0.2, np.random.default_rng(3))
    sums = np.array(
        [sum(v for v, p in zip(values, papers, strict=True) if p == q) for q in names(40)]
    )
    sizes = np.full(40, 6.0)

    def ratio(s: object, n: object, axis: int = -1) -> object:
        return np.sum(s, axis=axis) / np.sum(n, axis=axis)

    theirs = bootstrap(
        (sums, sizes),
        ratio,
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    ours = cluster_bootstrap(values, papers)
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)
    assert ours == cluster_bootstrap(values, papers), "the same every time"


def test_the_widest_interval_is_shown() -> None:
    values, papers = clustered(20, 5, 0.3, 0.4, np.random.default_rng(5))
    shown = share_interval(values, papers, bootstrap=True)
    both = (cluster_t(values, papers), cluster_bootstrap(values, papers))
    assert shown.width == max(share_interval(values, papers).width, *(i.width for i in both))


def names(papers: int) -> list[str]:
    return [f"p{i:02}" for i in range(papers)]


def clustered(
    papers: int, size: int, rate: float, icc: float, random: np.random.Generator
) -> tuple[list[float], list[str]]:
    """Right and wrong tasks, alike within papers: beta-binomial with this correlation."""
    total = 1 / icc - 1
    chances = random.beta(rate * total, (1 - rate) * total, size=papers)
    values = (random.random((papers, size)) < chances[:, None]).astype(float)
    return values.ravel().tolist(), [name for name in names(papers) for _ in range(size)]


@pytest.mark.parametrize(
    ("rate", "icc", "papers", "size"),
    [(0.3, 0.2, 50, 9), (0.5, 0.05, 50, 9), (0.2, 0.3, 25, 6), (0.1, 0.1, 50, 9)],
)
def test_of_nominal_95_per_cent_intervals_of_clustered_shares_cover(
    rate: float, icc: float, papers: int, size: int
) -> None:
    random = np.random.default_rng(20)
    hits = {"t": 0, "bootstrap": 0, "shown": 0}
    rounds = 500
    for _ in range(rounds):
        values, of = clustered(papers, size, rate, icc, random)
        found = {
            "t": cluster_t(values, of),
            "bootstrap": cluster_bootstrap(values, of),
            "shown": share_interval(values, of, bootstrap=True),
        }
        for name, each in found.items():
            assert each.low is not None and each.high is not None
            hits[name] += each.low <= rate <= each.high
    for name, count in hits.items():
        assert 0.90 <= count / rounds <= 0.98, (name, count / rounds)


def test_for_a_rare_conjunction_only_the_exact_interval_keeps_its_promise() -> None:
    """Half a per cent, as the publication's All·E: the others miss it much too often."""
    random = np.random.default_rng(4)
    hits = {"t": 0, "shown": 0}
    rounds = 400
    for _ in range(rounds):
        values, of = clustered(42, 10, 0.005, 0.02, random)
        for name, each in (
            ("t", cluster_t(values, of)),
            ("shown", share_interval(values, of, bootstrap=True)),
        ):
            assert each.low is not None and each.high is not None
            hits[name] += each.low <= 0.005 <= each.high
    assert hits["shown"] / rounds >= 0.94
    assert hits["t"] / rounds < 0.92


def test_naive_intervals_of_the_same_data_cover_too_little() -> None:
    """Why papers are the unit: with an ICC of 0.3 the independent interval is right 7 times in 10."""
    random = np.random.default_rng(6)
    hits = 0
    for _ in range(400):
        values, _ = clustered(50, 9, 0.3, 0.3, random)
        mean = fmean(values)
        hits += abs(mean - 0.3) <= 1.96 * math.sqrt(mean * (1 - mean) / len(values))
    assert hits / 400 < 0.80


# --- how alike tasks of a paper are ----------------------------------------------------------------


def test_the_intraclass_correlation_of_shrout_and_fleiss() -> None:
    """Table 2 of Shrout and Fleiss (1979): six targets, four judges, ICC(1, 1) = 0.17."""
    rated = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
    values = [float(value) for row in rated for value in row]
    found = clustering(values, [name for name in "abcdef" for _ in range(4)])
    assert found.icc == pytest.approx(0.1657, abs=5e-5)
    assert found.design_effect == pytest.approx(1 + 3 * 0.16574, abs=1e-4)
    assert found.effective_n == pytest.approx(24 / found.design_effect)


@pytest.mark.parametrize(
    ("icc", "effect", "effective"),
    [(0.05, 1.49, 303), (0.1, 1.98, 228), (0.2, 2.96, 153), (0.3, 3.94, 115), (0.5, 5.9, 77)],
)
def test_design_effects_of_the_452_tasks_of_50_papers(
    icc: float, effect: float, effective: int
) -> None:
    found = design_effect(icc, 10.8)
    assert found == pytest.approx(effect, abs=0.011)
    assert 452 / found == pytest.approx(effective, abs=1)


def test_unequal_papers_give_the_intraclass_correlation_that_they_were_made_with() -> None:
    random = np.random.default_rng(8)
    sizes = random.integers(1, 30, size=300)
    papers = [f"p{i}" for i, size in enumerate(sizes) for _ in range(size)]
    own = np.repeat(random.normal(0, 0.5, 300), sizes)
    values = own + random.normal(0, 1, len(own))
    assert clustering(values.tolist(), papers).icc == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize(
    ("values", "papers"),
    [([], []), ([0.3], ["p"]), ([0.3, 0.4], ["p", "q"]), ([0.5] * 4, list("ppqq"))],
    ids=["none", "one", "a task a paper", "no spread"],
)
def test_without_spread_or_repeats_no_correlation_is_claimed(
    values: list[float], papers: list[str]
) -> None:
    found = clustering(values, papers)
    assert (found.icc, found.effective_n) == (None, len(values))


# --- several attempts ------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_at_k_counts_the_subsets_of_attempts(right: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(right)))
    subsets = list(itertools.combinations(right, k))
    counts = len(right), sum(right), k
    assert pass_at_k(*counts) == pytest.approx(fmean(map(any, subsets)))
    assert pass_all_k(*counts) == pytest.approx(fmean(map(all, subsets)))


def test_pass_at_k_is_the_product_of_chen_and_others() -> None:
    n, c, k = 200, 13, 10
    product = 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))
    assert pass_at_k(n, c, k) == pytest.approx(product, abs=1e-12)


def test_more_attempts_than_there_were_are_refused() -> None:
    with pytest.raises(ValueError, match="4 of 3 attempts"):
        pass_at_k(3, 1, 4)


# --- two runs --------------------------------------------------------------------------------------


def test_the_sign_flip_test_is_scipys_over_the_papers_sums() -> None:
    random = np.random.default_rng(2)
    differences = random.normal(0.25, 1, size=40)
    papers = [f"p{i % 9}" for i in range(40)]
    sums = [
        sum(d for d, p in zip(differences, papers, strict=True) if p == f"p{i}") for i in range(9)
    ]
    theirs = permutation_test(
        (sums,),
        lambda x, axis=-1: np.sum(x, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    p, how = sign_flip(differences.tolist(), papers)
    assert how == "exact"
    assert p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_fishers_darwin_data_have_their_published_p_value() -> None:
    """Fisher (1935), section 21: 15 pairs of plants, 863 + 863 of 32,768 patterns at least as far."""
    eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    p, how = sign_flip([float(x) for x in eighths], [f"pot{i:02}" for i in range(15)])
    assert (p, how) == (pytest.approx(2 * 863 / 32_768, abs=1e-12), "exact")


def test_drawn_patterns_come_close_to_all_patterns() -> None:
    random = np.random.default_rng(9)
    differences = random.normal(0.4, 1, size=17)
    patterns = (np.arange(2**17)[:, None] >> np.arange(17) & 1) * 2.0 - 1.0
    exact = np.mean(np.abs(np.einsum("ij,j->i", patterns, differences)) >= differences.sum())
    p, how = sign_flip(differences.tolist(), [f"p{i:02}" for i in range(17)])
    assert how == "drawn"
    assert p == pytest.approx(exact, abs=0.012)


def test_two_equal_runs_do_not_differ() -> None:
    found = paired(VALUES, VALUES, PAPERS)
    assert (found.difference, found.p, found.how) == (0.0, 1.0, "none")
    assert (found.better, found.worse, found.correlation) == (0, 0, pytest.approx(1.0))


def test_a_paired_difference_is_the_intercept_of_the_differences() -> None:
    second = [min(1.0, value + 0.1 * (i % 3)) for i, value in enumerate(VALUES)]
    found = paired(VALUES, second, PAPERS)
    differences = [b - a for a, b in zip(VALUES, second, strict=True)]
    assert found.difference == pytest.approx(fmean(differences))
    assert found.interval == mean_interval(differences, PAPERS, True, (-1.0, 1.0))
    assert found.interval.low is not None and found.interval.low < fmean(differences)
    assert found.correlation == pytest.approx(correlation(VALUES, second))
    assert (found.better, found.worse) == (sum(d > 0 for d in differences), 0)


def test_under_no_difference_p_is_below_5_per_cent_about_5_times_in_100() -> None:
    """Also when tasks of a paper are alike, which a test over tasks would take for a finding."""
    random = np.random.default_rng(12)
    low = {"papers": 0, "tasks": 0}
    for _ in range(400):
        shift = np.repeat(random.normal(0, 1, 12), 6)
        differences = (shift + random.normal(0, 1, 72)).tolist()
        papers = [f"p{i // 6:02}" for i in range(72)]
        low["papers"] += sign_flip(differences, papers)[0] <= 0.05
        z = fmean(differences) / (np.std(differences, ddof=1) / math.sqrt(72))
        low["tasks"] += abs(z) > 1.96
    assert 0.02 <= low["papers"] / 400 <= 0.085
    assert low["tasks"] / 400 > 0.2


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_the_interval_of_a_paired_difference_covers_as_promised(rate: float) -> None:
    random = np.random.default_rng(14)
    hits = 0
    for _ in range(300):
        shared = np.repeat(random.beta(1.0, 1 / rate - 1, size=40), 8)
        first, second = ((random.random(320) < shared).astype(float) for _ in range(2))
        papers = [f"p{i // 8:02}" for i in range(320)]
        interval = mean_interval((second - first).tolist(), papers, True, (-1.0, 1.0))
        assert interval.low is not None and interval.high is not None
        hits += interval.low <= 0 <= interval.high
    assert 0.90 <= hits / 300 <= 0.98


def test_holms_adjustment_is_that_of_statsmodels() -> None:
    """``multipletests(..., method="holm")`` of statsmodels 0.15.0."""
    found = holm([0.01, 0.04, 0.03, 0.005, 0.2])
    assert found == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


# --- power -----------------------------------------------------------------------------------------

UNIT = Components(paper=0.0, task=1.0, attempt=0.0)


@pytest.mark.parametrize(("tasks", "size"), [(10, 0.9960019107624178), (51, 0.40003714145940483)])
def test_the_detectable_difference_is_that_of_statsmodels(tasks: int, size: float) -> None:
    """``TTestPower().solve_power(nobs, alpha=0.05, power=0.8)`` of statsmodels 0.15.0."""
    plan = Plan.even(tasks, tasks)
    # Its search ends at about 1e-5.
    assert detectable(UNIT, plan) == pytest.approx(size, abs=1e-5)


def test_power_of_a_fixed_difference_is_that_of_statsmodels() -> None:
    """``TTestPower().power(effect, nobs, 0.05)`` of statsmodels 0.15.0."""
    assert power_of(UNIT, Plan.even(51, 51), 0.3) == pytest.approx(0.5561715817027997, abs=1e-9)
    assert power_of(UNIT, Plan.even(10, 10), 0.5) == pytest.approx(0.2931756065140767, abs=1e-9)


def test_34_pairs_are_needed_for_half_a_standard_deviation() -> None:
    """Cohen's medium effect in a paired t test at 80 % power, as G*Power gives it."""
    assert tasks_needed(UNIT, Plan.even(10, 10), 0.5) == 34


def test_a_difference_that_is_just_detectable_is_found_four_times_in_five() -> None:
    random = np.random.default_rng(30)
    parts = Components(paper=0.02, task=0.1, attempt=0.06)
    plan = Plan.even(240, 30, epochs=2)
    difference = detectable(parts, plan)
    found, rounds = 0, 1500
    papers = random.normal(0, math.sqrt(0.02), (rounds, 30, 1, 1))
    tasks = random.normal(0, math.sqrt(0.1), (rounds, 30, 8, 1))
    attempts = random.normal(0, math.sqrt(0.06), (rounds, 30, 8, 2))
    means = difference + (papers + tasks + attempts).mean(axis=(2, 3))
    errors = means.std(axis=1, ddof=1) / math.sqrt(30)
    found = int((means.mean(axis=1) / errors > 2.045229642).sum())
    assert found / rounds == pytest.approx(0.8, abs=0.03)


def nested(random: np.random.Generator, parts: Components, epochs: int) -> list[list[float]]:
    own = random.normal(0, math.sqrt(parts.paper), (400, 1, 1))
    task = random.normal(0, math.sqrt(parts.task), (400, 5, 1))
    noise = random.normal(0, math.sqrt(parts.attempt), (400, 5, epochs))
    made: list[list[float]] = (own + task + noise).reshape(2000, epochs).tolist()
    return made


def test_variances_are_estimated_as_they_were_made() -> None:
    made = Components(paper=0.5, task=1.0, attempt=0.8)
    papers = [f"p{i // 5}" for i in range(2000)]
    found = components(nested(np.random.default_rng(1), made, 3), papers)
    assert found.paper == pytest.approx(0.5, rel=0.2)
    assert found.task == pytest.approx(1.0, rel=0.1)
    assert found.attempt == pytest.approx(0.8, rel=0.1)


def test_the_difference_of_two_runs_has_both_noises_and_not_what_they_share() -> None:
    random = np.random.default_rng(2)
    made = Components(paper=0.5, task=1.0, attempt=0.8)
    first = nested(random, made, 2)
    truth = Components(paper=0.1, task=0.2, attempt=0.4)
    change = nested(random, truth, 3)
    level = [fmean(own) for own in nested(random, made, 1)]
    second = [[base + d for d in own] for base, own in zip(level, change, strict=True)]
    first = [[base + n for n in random.normal(0, 0.5, 2)] for base in level]
    found = paired_components(first, second, [f"p{i // 5}" for i in range(2000)])
    assert found.paper == pytest.approx(0.1, abs=0.03)
    assert found.task == pytest.approx(0.2, abs=0.05)
    assert found.attempt == pytest.approx(0.4 + 0.25, abs=0.05)


def test_the_error_by_its_components_is_the_cluster_robust_one() -> None:
    made = Components(paper=0.5, task=1.0, attempt=0.8)
    attempts = nested(np.random.default_rng(7), made, 2)
    papers = [f"p{i // 5}" for i in range(2000)]
    error, _ = cluster_error([fmean(own) for own in attempts], papers)
    by_parts = standard_error(components(attempts, papers), plan_of(papers, epochs=2))
    assert by_parts == pytest.approx(error, rel=0.02)


def test_epochs_help_against_the_noise_of_attempts_only() -> None:
    plan = Plan.even(100, 20)
    noisy, steady = (Components(paper=0.0, task=t, attempt=a) for t, a in ((0.02, 0.4), (0.42, 0)))
    difference = 0.08
    needed = epochs_needed(noisy, plan, difference)
    assert needed is not None and needed > 1
    more, less = (plan.model_copy(update={"epochs": n}) for n in (needed, needed - 1))
    assert power_of(noisy, more, difference) >= 0.8 > power_of(noisy, less, difference)
    assert epochs_needed(steady, plan, difference) is None
    assert tasks_needed(steady, plan, 1e-9) is None


def test_two_runs_that_agree_on_what_is_hard_need_fewer_tasks() -> None:
    parts = Components(paper=0.05, task=0.15, attempt=0.05)
    plan = Plan.even(400, 50)
    apart, alike = (tasks_needed(parts.of_difference(r), plan, 0.1) for r in (0.0, 0.6))
    assert apart is not None and alike is not None and alike < apart / 1.8


# --- a judge's known errors ------------------------------------------------------------------------


@given(st.floats(0, 1), st.integers(60, 100), st.integers(60, 100))
def test_correcting_undoes_what_the_judges_errors_did(true: float, sees: int, denies: int) -> None:
    reported = true * sees / 100 + (1 - true) * (1 - denies / 100)
    found = rogan_gladen(reported, 0.0, (sees, 100), (denies, 100))
    assert found.value == pytest.approx(true, abs=1e-9)
    assert found.interval.low is not None and found.interval.high is not None
    assert found.interval.low <= true + 1e-9 and true - 1e-9 <= found.interval.high


def test_a_judge_that_tells_nothing_corrects_nothing() -> None:
    found = rogan_gladen(0.4, 0.02, (50, 100), (50, 100))
    assert (found.value, found.interval.low) == (None, None)
    assert found.interval.how.startswith("no correction")
    with pytest.raises(ValueError, match="101 of 100"):
        rogan_gladen(0.4, 0.02, (101, 100), (50, 100))


@pytest.mark.parametrize(("true", "sees", "denies"), [(0.2, 0.85, 0.9), (0.5, 0.8, 0.8)])
def test_corrected_intervals_cover_as_promised(true: float, sees: float, denies: float) -> None:
    random = np.random.default_rng(17)
    hits, rounds, n, known = 0, 1500, 400, 150
    chance = true * sees + (1 - true) * (1 - denies)
    reported = random.binomial(n, chance, rounds) / n
    right = random.binomial(known, sees, rounds), random.binomial(known, denies, rounds)
    for rate, a, b in zip(reported.tolist(), *(each.tolist() for each in right), strict=True):
        error = math.sqrt(rate * (1 - rate) / n)
        interval = rogan_gladen(rate, error, (a, known), (b, known)).interval
        assert interval.low is not None and interval.high is not None
        hits += interval.low <= true <= interval.high
    assert 0.90 <= hits / rounds <= 0.98
