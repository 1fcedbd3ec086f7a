"""Whether a claim's number follows from two of a sentence: "0.92 instead of 0.91" is a gain of 0.01."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from expbench.judges.numbers import Number

_MOST = 6
"""Numbers of a sentence; of more of them some two differ by nearly anything."""
_EXACT = 1e-9


def follows(wanted: Number, said: Sequence[Number]) -> bool:
    """Whether it is the difference of two numbers, to its last digit."""
    if len(said) > _MOST or not wanted.values[0]:
        return False
    step = 0.5 * 10.0**-wanted.decimals if wanted.decimals else 0.1
    for first, second in combinations(said, 2):
        if first.percent != second.percent:
            continue
        a, b, value = abs(first.values[0]), abs(second.values[0]), abs(wanted.values[0])
        if abs(abs(a - b) - value) <= step + _EXACT:
            return True
    return False
