"""What a rate would be without its judge's known errors: an extra line, never in place of the rate.

Rogan and Gladen (1978): a judge that sees what is met with chance ``sensitivity`` and what is not met with
chance ``specificity`` reports p = t * sensitivity + (1 - t) * (1 - specificity) where t is true; solved for
t. The interval takes the uncertainty of all three numbers by the delta method (Lang and Reiczigel 2014).
It holds where the judge errs here as often as where it was measured, which nobody knows.
"""

from __future__ import annotations

import math

from expbench.schema import Record
from expbench.statistics.intervals import Interval

HOW = "Rogan-Gladen, delta method"
BLIND = "no correction: the judge is no better than chance"
_Z = 1.959963984540054


class Corrected(Record):
    """A rate as it would be without the judge's errors; ``None`` where the judge tells nothing."""

    value: float | None
    interval: Interval


def rogan_gladen(
    rate: float,
    error: float,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
) -> Corrected:
    """Correct a reported ``rate`` with its standard ``error``.

    ``sensitivity`` and ``specificity`` are counts, right ones of all, from a judge-eval.
    Raises ValueError for a count that is more than its total, or a total of 0.
    """
    (sees, see_error), (denies, deny_error) = _rate(sensitivity), _rate(specificity)
    power = sees + denies - 1
    if power <= 0:
        return Corrected(value=None, interval=Interval(how=BLIND))
    true = min(1.0, max(0.0, (rate + denies - 1) / power))
    spread = error**2 + (true * see_error) ** 2 + ((1 - true) * deny_error) ** 2
    half = _Z * math.sqrt(spread) / power
    interval = Interval(low=max(0.0, true - half), high=min(1.0, true + half), how=HOW)
    return Corrected(value=true, interval=interval)


def _rate(counts: tuple[int, int]) -> tuple[float, float]:
    """A share and its standard error; one observation of each kind more keeps 0 and 1 uncertain."""
    right, total = counts
    if not 0 <= right <= total or total == 0:
        raise ValueError(f"{right} of {total} is no share")
    near = (right + 1) / (total + 2)
    return right / total, math.sqrt(near * (1 - near) / (total + 2))
