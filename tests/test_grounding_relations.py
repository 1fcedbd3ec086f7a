"""Superlatives before outputs of several regimes: the condition is bound before numbers are compared."""

from __future__ import annotations

import pytest
from grounding_cases import C, G, U

from expbench.grounding import Outputs, extract, ground
from expbench.schema import Repository, ResearchTask

TWO_REGIMES = """\
sharp classifier: true error 0.0000
RMSE of the estimate
n      width   sweep   debiased
100    0.1200  0.0700  0.0610
250    0.0760  0.0480  0.0380

overconfident classifier: true error 0.0663
RMSE of the estimate
n      width   sweep   debiased
100    0.0500  0.0325  0.0471
250    0.0336  0.0198  0.0426
"""
ESTIMATORS = """\
floor 0.001
gamma   cell        estimator  RMSE
0.5     both_right  naive      0.887
0.5     both_right  or         0.067
0.5     both_right  aipw       0.068
0.5     both_wrong  naive      0.412
0.5     both_wrong  or         0.275
0.5     both_wrong  aipw       0.481
2.0     both_right  naive      2.050
2.0     both_right  or         0.082
2.0     both_right  aipw       0.181
2.0     both_wrong  naive      2.050
2.0     both_wrong  or         0.779
2.0     both_wrong  aipw       2.845
best at floor 0.001: or, then aipw, or naive
"""


def states(outputs: str, conclusion: str, task: ResearchTask) -> list[str]:
    claims = [c for c in extract(conclusion, task) if c.kind == "relation"]
    return [each.state for each in ground(conclusion, claims, Outputs.of({"o": outputs})).claims]


@pytest.mark.parametrize(
    ("outputs", "conclusion", "state"),
    [
        (TWO_REGIMES, "For the over-confident classifier the sweep has the lowest RMSE.", G),
        (TWO_REGIMES, "For the over-confident classifier the sweep has the highest RMSE.", C),
        (TWO_REGIMES, "For the over-confident classifier debiased has the highest RMSE at n = 250.", G),
        (TWO_REGIMES, "For the over-confident classifier debiased has the lowest RMSE at n = 250.", C),
        (TWO_REGIMES, "For the muddled classifier the sweep has the lowest RMSE at n = 250.", U),
        (TWO_REGIMES, "At n = 250 the width estimator has the lowest RMSE.", C),
        (ESTIMATORS, "With both models right outcome regression has the lowest RMSE.", G),
        (ESTIMATORS, "With both models right outcome regression has the highest RMSE.", C),
        (ESTIMATORS, "With both models wrong AIPW has the highest RMSE at every gamma.", G),
        (ESTIMATORS, "In the harder cell AIPW has the highest RMSE at every gamma.", U),
        (ESTIMATORS, "In the harder cell AIPW has the lowest RMSE at every gamma.", C),
    ],
)  # fmt: skip
def test_a_superlative_is_looked_up_under_its_condition(
    outputs: str, conclusion: str, state: str
) -> None:
    task = ResearchTask(
        id="suite/paper/0",
        paper="paper",
        venue="suite",
        type=2,
        repository=Repository(url="local"),
        question="Which estimator is best?",
        method="",
    )
    assert states(outputs, conclusion, task) == [state]


@pytest.mark.parametrize(
    ("conclusion", "wanted"),
    [
        ("The sweep beats width (0.0325 against 0.0500) for the overconfident one.", [G, G, G]),
        ("The sweep beats width (0.0500 against 0.0325) for the overconfident one.", [G, C, C]),
        ("Narrow bins beat broad ones (RMSE 0.0325 against 0.0500).", [G, G, G]),
        ("Narrow bins beat broad ones (RMSE 0.0500 against 0.0325).", [C, G, G]),
    ],
)
def test_numbers_that_are_told_with_a_relation_go_with_its_sides(
    conclusion: str, wanted: list[str]
) -> None:
    question = "Which estimator has the lower RMSE, the error that is to be small?"
    claims = extract(conclusion)
    found = ground(conclusion, claims, Outputs.of({"o": TWO_REGIMES}), None, question)
    assert [each.state for each in found.claims] == wanted
