"""Agreement of reviewers in words, for the page and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from expbench.report.text import interval_text
from expbench.review.agreeing import PairAgreement, ReviewAgreement
from expbench.statistics.intervals import Interval


@dataclass(frozen=True)
class AgreementRow:
    """Two reviewers on one kind of field, in words."""

    reviewers: str
    kind: str
    same: str
    interval: str
    kappa: str
    kappa_interval: str
    fixes: str


def agreement_rows(found: ReviewAgreement) -> tuple[AgreementRow, ...]:
    """All pairs of reviewers, kind by kind."""
    return tuple(map(_row, found.pairs))


def alpha_text(found: ReviewAgreement) -> str:
    """Krippendorff's alpha over everything, or why there is none."""
    if found.alpha is None:
        return "not defined: needs two reviewers who differ somewhere, or fields that do"
    return f"{found.alpha:.2f}"


def _row(pair: PairAgreement) -> AgreementRow:
    return AgreementRow(
        reviewers=f"{pair.first} and {pair.second}",
        kind=pair.kind.replace("_", " "),
        same=f"{pair.same} of {pair.both}",
        interval=interval_text(pair.interval),
        kappa="not defined" if pair.kappa is None else f"{pair.kappa:.2f}",
        kappa_interval=_kappa_interval(pair.kappa_interval),
        fixes=f"{pair.alike} of {pair.fixed}" if pair.fixed else "–",
    )


def _kappa_interval(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return interval.how
    return f"{interval.low:.2f} – {interval.high:.2f}"
