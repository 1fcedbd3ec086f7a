"""Phase marks against labels: the measure that itemised judges and the ``paper`` protocol share.

The publication's protocol gives one mark for each phase and no verdicts, so there is nothing to count
item by item. What can be compared is what a run reports: the phase's score. For design and
implementation the right mark is the share of items labelled met, and a judge's mark is off by their
difference. For the conclusion the right mark is 1 where every essential claim is labelled met, else 0,
and a judge's mark is right where it is on the same side of one half. A judge that gives verdicts has the
mark that :func:`expbench.judges.score` makes of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from expbench.judge_eval.running import Judged
from expbench.judge_eval.sets import LabelledSet, ReadyCase
from expbench.judges.base import PHASES, score, verdict_on
from expbench.metrics import Interval, mean_interval, share_interval
from expbench.schema import Judgement, Phase, Record


class MarkMeasures(Record):
    """A phase's marks against the labels, over cases whose items of the phase are all labelled."""

    cases: int
    marked: int
    """Cases that got a mark; the numbers are over these."""
    error: float | None
    """Mean distance from the right mark, in [0, 1]."""
    bias: float | None
    """Mean of mark minus right mark: above 0 is lenient."""
    accuracy: float | None
    """For conclusions: the share of marks that are on the right side."""
    interval: Interval
    """95 %, over papers: of the accuracy for conclusions, else of the error."""


def mark_measures(labelled: LabelledSet, judged: Sequence[Judged]) -> dict[Phase, MarkMeasures]:
    """The measures of each phase that some case has labelled items of."""
    cases = {case.id: (case, right_marks(case)) for case in labelled.cases}
    pairs: dict[Phase, list[tuple[float | None, float, str]]] = defaultdict(list)
    for each in judged:
        case, right = cases[each.case]
        given = marks_of(each.judgement, case)
        for phase, truth in right.items():
            pairs[phase].append((given.get(phase), truth, case.paper))
    return {phase: _measures(phase, pairs[phase]) for phase in PHASES if pairs[phase]}


def right_marks(case: ReadyCase) -> dict[Phase, float]:
    """The marks that the labels give; phases with an unlabelled item have none."""
    pairs = list(zip(case.items, case.case.items, strict=True))
    verdicts = tuple(verdict_on(item, known.label == "met") for item, known in pairs)
    scores = score(Judgement(judge="labels", verdicts=verdicts), case.items)
    whole = {p: [k for _, k in pairs if k.phase == p] for p in PHASES}
    return {
        phase: value
        for phase in PHASES
        if whole[phase] and all(known.label is not None for known in whole[phase])
        if (value := scores[phase].value) is not None
    }


def marks_of(judgement: Judgement, case: ReadyCase) -> dict[Phase, float | None]:
    """A judgement's mark for each phase: its own, or the score of its verdicts."""
    scores = score(judgement, case.items)
    return {phase: scores[phase].value for phase in PHASES}


def _measures(phase: Phase, pairs: Sequence[tuple[float | None, float, str]]) -> MarkMeasures:
    marked = [(mark, truth, paper) for mark, truth, paper in pairs if mark is not None]
    errors = [abs(mark - truth) for mark, truth, _ in marked]
    sides = [float((mark >= 0.5) == (truth >= 0.5)) for mark, truth, _ in marked]
    papers = [paper for _, _, paper in marked]
    conclusion = phase == "conclusion"
    return MarkMeasures(
        cases=len(pairs),
        marked=len(marked),
        error=fmean(errors) if errors else None,
        bias=fmean(mark - truth for mark, truth, _ in marked) if marked else None,
        accuracy=fmean(sides) if conclusion and sides else None,
        interval=share_interval(sides, papers) if conclusion else mean_interval(errors, papers),
    )
