"""D and I without the judge's known errors: what is corrected, what is left alone, and where it is shown."""

from __future__ import annotations

import pytest
from rich.console import Console
from test_compare import manifest
from test_metrics import PERFECT, outcome, plan

from expbench.judge_eval.known import KnownEval, KnownPhase, known_eval
from expbench.metrics import summarise
from expbench.report import corrections, summary_json, terminal_table
from expbench.schema import Outcome


def known(met: float = 0.8, not_met: float = 0.9, **more: int | None) -> KnownEval:
    phase = KnownPhase(
        items=300,
        coverage=1.0,
        macro_f1=0.8,
        low=0.7,
        high=0.9,
        recall_met=met,
        recall_not_met=not_met,
        kappa=0.5,
        **{"decided": 300, "labelled_met": 100, **more},
    )
    return KnownEval(
        judge="j", set="mine", set_digest="d", cases=9, papers=9, phases={"design": phase}
    )


def records() -> list[Outcome]:
    """D is 0.45 on average of those that are not convicted."""
    values = (0.2, 0.4, 0.5, 0.7)
    found = [outcome(f"v/p{i}/0", (1.0, d, 1.0, 1.0, 1.0)) for i, d in enumerate(values)]
    return [*found, outcome("v/q/0", PERFECT, verdict="violation")]


def test_the_mean_of_unconvicted_attempts_is_corrected_and_the_score_is_left() -> None:
    (found,) = corrections(records(), known())
    assert (found.key, found.attempts, found.reported) == ("design", 4, pytest.approx(0.45))
    assert found.value == pytest.approx((0.45 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert found.interval.low is not None and found.interval.high is not None
    assert found.interval.low < 0.5 < found.interval.high
    summary = summarise(plan(records()), records())
    assert summary.metric("design").value == pytest.approx(1.8 / 5), "the gate's zero counts there"


def test_it_stands_in_the_table_and_the_json_as_an_extra_line() -> None:
    summary, found = summarise(plan(records()), records()), corrections(records(), known())
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as shown:
        console.print(terminal_table(summary, manifest(), "", found))
    assert "D without the judge's errors on set mine: about 50.0 %" in shown.get()
    assert "36.0 %" in shown.get()
    record = summary_json(summary, manifest(), "", records(), found)
    assert [each.key for each in record.corrected] == ["design"]


@pytest.mark.parametrize(
    "what",
    [None, known(decided=None), known(labelled_met=None)],
    ids=["unknown", "old result", "old result"],
)
def test_without_counts_nothing_is_corrected(what: KnownEval | None) -> None:
    assert corrections(records(), what) == ()


def test_one_paper_has_no_error_to_go_by_and_a_blind_judge_says_nothing() -> None:
    assert corrections(records()[:1], known()) == ()
    (found,) = corrections(records(), known(met=0.4, not_met=0.5))
    assert found.value is None
    assert "no better than chance" in found.sentence


def test_the_shipped_judge_eval_has_the_counts_and_conclusions_are_not_corrected() -> None:
    shipped = known_eval("baseline")
    assert shipped is not None
    counts = shipped.phases["design"].counts
    assert counts is not None
    assert (counts[0][1] + counts[1][1], counts[0][1]) == (783, 449)
    assert counts[0][0] / 449 == pytest.approx(shipped.phases["design"].recall_met)
    assert [each.key for each in corrections(records(), shipped)] == ["design", "implementation"]
