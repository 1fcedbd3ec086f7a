"""The publication's numbers: whole, and recomputed from the counts that they imply."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from scipy.stats import binomtest

from expbench.metrics import METRICS
from expbench.published import COUNTED, KEYS, implied_count, published

COUNTS = {
    ("OpenHands", "o3-mini"): (420, 63, 12, 2),
    ("OpenHands", "claude-3.7-sonnet"): (235, 78, 35, 1),
    ("OpenHands", "nova-pro"): (56, 15, 0, 0),
    ("OpenHands", "claude-3.5-haiku"): (237, 22, 3, 0),
    ("OpenHands", "deepseek-r1"): (140, 1, 0, 0),
    ("IterativeAgent", "claude-3.5-haiku"): (111, 28, 6, 0),
    ("IterativeAgent", "nova-pro"): (215, 39, 0, 0),
}
"""#E, and the successes of E, I·E and All·E."""


def test_half_a_per_cent_is_2_of_420() -> None:
    row = published().row("OpenHands", "o3-mini")
    found = row.counted("All·E")
    assert (row.percent("All·E"), found.successes, found.n) == (0.5, 2, 420)
    assert round(100 * 2 / 420, 1) == 0.5
    assert found.interval.low == pytest.approx(0.000577209904409, abs=1e-12)
    assert found.interval.high == pytest.approx(0.017094977163024, abs=1e-12)


@pytest.mark.parametrize("who", COUNTS, ids=" ".join)
def test_every_share_of_checked_tasks_is_a_whole_number_of_them(who: tuple[str, str]) -> None:
    n, *expected = COUNTS[who]
    row = published().row(*who)
    found = [row.counted(column) for column in COUNTED]
    assert (row.n_e, [each.successes for each in found]) == (n, expected)
    for column, each in zip(COUNTED, found, strict=True):
        assert round(100 * each.successes / n, 1) == row.percent(column)
        exact = binomtest(each.successes, n).proportion_ci(0.95, method="exact")
        assert each.interval.low == pytest.approx(exact.low, abs=1e-9)
        assert each.interval.high == pytest.approx(exact.high, abs=1e-9)


def test_all_rows_are_there_and_a_conjunction_is_never_above_its_parts() -> None:
    rows = published().overall
    assert {(row.agent, row.model) for row in rows} == set(COUNTS)
    for row in rows:
        e, i_e, all_e = (row.counted(column).successes for column in COUNTED)
        assert e >= i_e >= all_e
        assert row.percent("All") <= min(row.percent("D"), row.percent("C"))
    collapse = [value for _, value in published().collapse]
    assert collapse == sorted(collapse, reverse=True)


def test_columns_are_our_metrics_and_other_columns_have_no_count() -> None:
    labels = {each.key: each.label for each in METRICS}
    assert {column: labels[key] for column, key in KEYS.items()} == {c: c for c in KEYS}
    with pytest.raises(KeyError):
        published().overall[0].counted("All")
    with pytest.raises(KeyError):
        published().overall[0].percent("n")


@pytest.mark.parametrize(("percent", "n"), [(0.5, 2000), (50.1, 10)], ids=["several", "none"])
def test_a_rate_that_is_no_one_count_is_refused(percent: float, n: int) -> None:
    with pytest.raises(ValueError, match="of"):
        implied_count(percent, n)


def test_the_data_name_their_source() -> None:
    facts = published()
    assert "2505.24785" in facts.source
    assert facts.failure_counts["insights"] == 3238
    assert set(facts.time_and_cost) == {f"{agent}|{model}" for agent, model in COUNTS}


def test_the_table_in_the_documentation_is_of_these_numbers() -> None:
    page = (Path(__file__).parents[1] / "docs" / "metrics.md").read_text("utf-8")
    for row in published().overall:
        cells = []
        for column in COUNTED:
            found = row.counted(column)
            low, high = (100 * (end or 0.0) for end in (found.interval.low, found.interval.high))
            cells.append(f"{row.percent(column):.1f} = {found.successes} ({low:.1f} – {high:.1f})")
        line = f"| {row.agent}, {row.model} | {row.n_e} | {' | '.join(cells)} |"
        assert re.search(f"^{re.escape(line)}$", page, re.M), line


def test_the_facts_are_json_that_another_reader_can_use() -> None:
    path = Path(__file__).parents[1] / "src" / "expbench" / "published" / "exp_bench.json"
    assert json.loads(path.read_text("utf-8"))["overall"][0]["All·E"] == 0.5
