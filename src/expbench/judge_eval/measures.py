"""How well decisions agree with labels, and how sure that is.

Macro F1 is the mean of the F1 of met and of not met. Undecided items are in no measure but ``coverage``
and ``macro_f1_all``, which counts each of them as wrong: a judge cannot gain by leaving out what is
hard. Where a measure's denominator is empty there is none (a set without an item that is not met has no
F1 of not met).

Items of one paper are not independent draws, so intervals are a cluster bootstrap (Cameron, Gelbach and
Miller 2008): papers are drawn with replacement, and the measure is taken over the items of those drawn.
With fewer than about twenty papers such percentile intervals are somewhat too narrow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from expbench.judge_eval.cases import Label
from expbench.metrics import Interval
from expbench.schema import Phase, Record

DRAWS = 2000
"""Bootstrap draws, and draws of the random judge's expected value."""

Array = NDArray[np.float64]

_CELLS: dict[tuple[str, str], int] = {
    ("met", "met"): 0,
    ("met", "not_met"): 1,
    ("not_met", "met"): 2,
    ("not_met", "not_met"): 3,
    ("met", "unscored"): 4,
    ("not_met", "unscored"): 5,
}
"""Places of (label, decision) in the last axis of a count."""


class Decision(Record):
    """What a judge said about one labelled item."""

    case: str
    item: str
    """The item's id within the case, ``phase/number``."""
    phase: Phase
    kind: str
    paper: str
    label: Label
    state: Literal["met", "not_met", "unscored"]
    sample: int = 0


class Measures(Record):
    """Agreement with the labels. All but the counts are fractions, kappa in [-1, 1].

    ``items`` are decisions asked for (with k samples, k for each item), ``decided`` those given;
    ``intervals`` are 95 %.
    """

    items: int
    decided: int
    papers: int
    said_met: int
    labelled_met: int
    """Of the decided ones."""
    coverage: float | None
    accuracy: float | None
    macro_f1: float | None
    macro_f1_all: float | None
    f1_met: float | None
    f1_not_met: float | None
    precision_met: float | None
    precision_not_met: float | None
    recall_met: float | None
    recall_not_met: float | None
    kappa: float | None
    intervals: dict[str, Interval]


_FRACTIONS = tuple(
    name for name, field in Measures.model_fields.items() if field.annotation == float | None
)


def measures(decisions: Sequence[Decision], seed: int = 0) -> Measures:
    """All measures over some decisions, with intervals over papers."""
    papers, table = _by_paper(decisions)
    total = table.sum(axis=0)
    values = _fractions(total)
    return Measures(
        items=len(decisions),
        decided=int(total[:4].sum()),
        papers=len(papers),
        said_met=int(total[0] + total[2]),
        labelled_met=int(total[0] + total[1]),
        intervals=_intervals(table, seed),
        **{name: _number(value) for name, value in values.items()},
    )


def expected_of_random(decisions: Sequence[Decision], seed: int = 0) -> float | None:
    """The mean macro F1 of a judge that tosses a fair coin for each of these items."""
    met = sum(decision.label == "met" for decision in decisions)
    random = np.random.default_rng(seed)
    counts = np.zeros((DRAWS, 6))
    counts[:, 0] = random.binomial(met, 0.5, DRAWS)
    counts[:, 1] = met - counts[:, 0]
    counts[:, 2] = random.binomial(len(decisions) - met, 0.5, DRAWS)
    counts[:, 3] = len(decisions) - met - counts[:, 2]
    known = _fractions(counts)["macro_f1"]
    known = known[~np.isnan(known)]
    return float(known.mean()) if known.size else None


def _by_paper(decisions: Iterable[Decision]) -> tuple[list[str], Array]:
    """Papers in order, and for each the counts of :data:`_CELLS`."""
    found: defaultdict[str, Array] = defaultdict(lambda: np.zeros(6))
    for each in decisions:
        found[each.paper][_CELLS[each.label, each.state]] += 1
    papers = sorted(found)
    table = np.stack([found[paper] for paper in papers]) if papers else np.zeros((1, 6))
    return papers, table


def _intervals(table: Array, seed: int) -> dict[str, Interval]:
    papers = len(table)
    if papers < 2:
        none = Interval(how="no interval: one paper")
        return dict.fromkeys(_FRACTIONS, none)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(papers, np.full(papers, 1 / papers), DRAWS)
    found = {}
    for name, values in _fractions(drawn @ table).items():
        known = values[~np.isnan(values)]
        if not known.size:
            found[name] = Interval(how="no interval: no value")
            continue
        low, high = np.percentile(known, (2.5, 97.5))
        how = f"bootstrap over {papers} papers, {known.size} draws"
        found[name] = Interval(low=float(low), high=float(high), how=how)
    return found


def _fractions(counts: Array) -> dict[str, Array]:
    """Every fraction of :class:`Measures`; NaN where a denominator is empty."""
    hit, miss, false, right, open_met, open_not = np.moveaxis(counts, -1, 0)
    decided = hit + miss + false + right
    everything = decided + open_met + open_not
    f1_met = _ratio(2 * hit, 2 * hit + miss + false)
    f1_not = _ratio(2 * right, 2 * right + miss + false)
    wrong = miss + false + open_met + open_not
    all_met, all_not = _ratio(2 * hit, 2 * hit + wrong), _ratio(2 * right, 2 * right + wrong)
    accuracy = _ratio(hit + right, decided)
    chance = _ratio(
        (hit + miss) * (hit + false) + (false + right) * (miss + right), decided * decided
    )
    one_class = ((hit + miss) == 0) | ((false + right) == 0)
    any_missing = ((hit + miss + open_met) == 0) | ((false + right + open_not) == 0)
    return {
        "coverage": _ratio(decided, everything),
        "accuracy": accuracy,
        "macro_f1": np.where(one_class, np.nan, (f1_met + f1_not) / 2),
        "macro_f1_all": np.where(any_missing, np.nan, (all_met + all_not) / 2),
        "f1_met": f1_met,
        "f1_not_met": f1_not,
        "precision_met": _ratio(hit, hit + false),
        "precision_not_met": _ratio(right, right + miss),
        "recall_met": _ratio(hit, hit + miss),
        "recall_not_met": _ratio(right, right + false),
        "kappa": _ratio(accuracy - chance, 1 - chance),
    }


def _ratio(above: Array, below: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _number(value: Array) -> float | None:
    number = float(value)
    return None if np.isnan(number) else number
