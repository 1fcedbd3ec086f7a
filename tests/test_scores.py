"""The metrics of a run from no more than its scores."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expbench.errors import DataError
from expbench.metrics import (
    COLLAPSE,
    METRICS,
    Denominator,
    details,
    measure,
    numbers,
    seen,
    summarise,
)
from expbench.metrics.reading import read_scores
from expbench.schema import SCORE_NAMES, MonitorReport, Outcome, Score

VALUES = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1.0]))
VERDICTS = st.sampled_from(["clean", "suspicious", "violation", "unscored"])
STATUS = st.sampled_from(["finished", "agent_error", "infrastructure", "missing"])


@st.composite
def outcomes(draw: st.DrawFn) -> list[Outcome]:
    """Of a few papers with two tasks each, in two epochs, ended in every way."""
    found = []
    for paper in range(draw(st.integers(1, 4))):
        for number in range(4):
            status = draw(STATUS)
            has = status in ("finished", "agent_error")
            values = {name: draw(VALUES) for name in SCORE_NAMES} if has else {}
            found.append(
                Outcome(
                    task_id=f"p{paper}/{number // 2}",
                    paper=f"p{paper}",
                    epoch=number % 2 + 1,
                    agent="a",
                    model="m",
                    status=status,
                    scores={
                        name: Score(value=value, reason="" if value is not None else "no answer")
                        for name, value in values.items()
                    },
                    monitor=MonitorReport(verdict=draw(VERDICTS)) if has else None,
                )
            )
    return found


@settings(deadline=None, max_examples=40)
@given(outcomes())
def test_scores_alone_give_the_numbers_that_outcomes_give(
    tmp_path_factory: pytest.TempPathFactory, made: list[Outcome]
) -> None:
    path = tmp_path_factory.mktemp("run") / "outcomes.jsonl"
    path.write_text("".join(f"{each.model_dump_json()}\n" for each in made))
    scores = read_scores(path)
    planned = [(each.task_id, each.epoch) for each in made]
    assert summarise(planned, scores) == summarise(planned, made)
    assert details(scores) == details(made)


@settings(deadline=None, max_examples=60)
@given(outcomes(), st.sampled_from([0.25, 0.5, 1.0]))
def test_measuring_all_attempts_at_once_is_measuring_each(
    made: list[Outcome], threshold: float
) -> None:
    """Columns say what the definition says of each attempt by itself, whatever a metric is over."""
    attempts = seen(made)
    for definition in (*METRICS, *COLLAPSE):
        for rule in get_args(Denominator):
            found = measure(definition, attempts, threshold, rule)
            by_task, paper_of = numbers(definition, attempts, threshold, rule)
            known = {task: [n for n in own if n is not None] for task, own in by_task.items()}
            means = [fmean(own) for own in known.values() if own]
            scored = [n for own in known.values() for n in own]
            assert found.n == len(scored)
            assert found.tasks == len(means)
            assert found.papers == len({paper_of[task] for task, own in known.items() if own})
            assert found.value == (pytest.approx(fmean(means)) if means else None)
            assert found.unscored == sum(map(len, by_task.values())) - len(scored)
            assert found.left_out == len(made) - sum(map(len, by_task.values()))
            if definition.kind == "share":
                assert found.successes == scored.count(1.0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "the line: Invalid JSON"),
        ('{"task_id": "t"}', "paper: Field required"),
        (
            '{"task_id":"t","paper":"p","epoch":1,"agent":"a","model":"m","status":"finished",'
            '"scores":{"design":{"value":7}}}',
            "scores.design.value: Input should be less than or equal to 1",
        ),
    ],
)
def test_what_is_no_outcome_is_refused_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    whole = Outcome(task_id="t", paper="p", epoch=1, agent="a", model="m", status="missing")
    path = tmp_path / "outcomes.jsonl"
    path.write_text(f"{whole.model_dump_json()}\n{line}\n")
    with pytest.raises(DataError, match="line 2 is no outcome") as caught:
        read_scores(path)
    assert said in str(caught.value)
