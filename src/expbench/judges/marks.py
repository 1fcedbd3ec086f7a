"""Scores from the marks of protocol ``paper``: one mark for a phase, so there is nothing to count."""

from __future__ import annotations

from typing import get_args

from expbench.schema import Judgement, Phase, Score


def score_marks(judgement: Judgement) -> dict[str, Score]:
    """The scores "design", "implementation" and "conclusion", each a mark or unscored with its reason.

    A phase without a mark had no ground truth.
    """
    marks = {mark.phase: mark for mark in judgement.marks}
    scores: dict[str, Score] = {}
    for phase in get_args(Phase):
        mark = marks.get(phase)
        if mark is None:
            scores[phase] = Score(reason=f"no ground truth for {phase}")
        elif mark.value is None:
            scores[phase] = Score(reason=mark.reason or "the judge gave no mark", unscored=1)
        else:
            scores[phase] = Score(value=mark.value, reason=mark.reason)
    return scores
