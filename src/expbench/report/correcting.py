"""D and I as they would be without the judge's known errors: an extra line, never in place of a score.

A judge-eval says how often a judge sees what is met and what is not. By that the mean share of met items is
corrected (:func:`expbench.statistics.rogan_gladen`), over the attempts that are not convicted: zeros of the
monitor's gate are no verdicts of a judge. C asks for every essential claim at once, and cannot be corrected
by errors on single claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from expbench.judge_eval.known import KnownEval
from expbench.metrics import METRICS, gated, numbers
from expbench.report.text import percent, span
from expbench.schema import Outcome, Phase, Record
from expbench.statistics.correction import rogan_gladen
from expbench.statistics.intervals import Interval, cluster_error

_PHASES: dict[str, Phase] = {"design": "design", "implementation": "implementation"}


class Correction(Record):
    """A mean over attempts that are not convicted, reported and corrected; fractions in [0, 1]."""

    key: str
    label: str
    attempts: int
    reported: float
    value: float | None
    """``None`` where the judge is no better than chance."""
    interval: Interval
    judged_on: str
    """The labelled set that the judge's errors are known from."""

    @property
    def sentence(self) -> str:
        """One line for reports."""
        begin = f"{self.label} without the judge's errors on set {self.judged_on}: "
        if self.value is None:
            return begin + self.interval.how
        ends = span(self.interval.low, self.interval.high)
        return (
            f"{begin}about {percent(self.value)} ({ends}), reported {percent(self.reported)} "
            f"of {self.attempts} attempts that are not convicted"
        )


def corrections(outcomes: Sequence[Outcome], known: KnownEval | None) -> tuple[Correction, ...]:
    """The corrected means, as far as the judge's errors are known and there are two papers."""
    views = [(outcome, gated(outcome)) for outcome in outcomes]
    honest = [(outcome, view) for outcome, view in views if not view.convicted]
    found = []
    for definition in METRICS:
        phase = known.phases.get(_PHASES.get(definition.key, "")) if known else None
        counts = phase.counts if phase else None
        if known is None or counts is None:
            continue
        by_task, paper_of = numbers(definition, honest)
        scored = {task: [n for n in own if n is not None] for task, own in by_task.items()}
        means = {task: fmean(own) for task, own in scored.items() if own}
        papers = [paper_of[task] for task in means]
        if len(set(papers)) < 2:
            continue
        reported = fmean(means.values())
        error, _ = cluster_error(list(means.values()), papers)
        corrected = rogan_gladen(reported, error, *counts)
        found.append(
            Correction(
                key=definition.key,
                label=definition.label,
                attempts=sum(map(len, scored.values())),
                reported=reported,
                value=corrected.value,
                interval=corrected.interval,
                judged_on=known.set,
            )
        )
    return tuple(found)
