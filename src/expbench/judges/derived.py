"""Whether a claim's number follows from those of a sentence.

"0.92 instead of 0.91" is a gain of 0.01, "-0.4" a loss of 0.4, and "0.74 of its regret" 26 % less of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from expbench.judges.numbers import Number

_MOST = 6
"""Numbers of a sentence; of more of them some two differ by nearly anything."""
_WHOLE_STEP = 0.1
_EXACT = 1e-9
_HUNDRED = 100
_FAR = 20
"""How many times larger or smaller a number that keeps a bound may be."""


def follows(wanted: Number, said: Sequence[Number]) -> bool:
    """Whether it is one number without its sign, what one lacks to a whole, or a difference of two."""
    value = abs(wanted.values[0])
    if len(said) > _MOST or not value:
        return False
    step = (0.5 * 10.0**-wanted.decimals if wanted.decimals else _WHOLE_STEP) + _EXACT
    return any(abs(each - value) <= step for each in _derived(wanted, said))


def _derived(wanted: Number, said: Sequence[Number]) -> Iterator[float]:
    for each in said:
        if each.values[0] < 0 and each.percent == wanted.percent:
            yield -each.values[0]
        elif wanted.percent and not each.percent and each.decimals > 1 and 0 < each.values[0] < 1:
            yield _HUNDRED * (1 - each.values[0])
    for first, second in combinations(said, 2):
        counts = first.whole and second.whole
        if first.percent == second.percent and not (wanted.percent and counts):
            yield abs(abs(first.values[0]) - abs(second.values[0]))


def keeps(wanted: Number, side: int, said: Sequence[Number]) -> bool:
    """Whether one of the numbers is above the wanted one (``side`` 1) or below it (-1), of its size."""
    if not side or len(said) > _MOST:
        return False
    limit = abs(wanted.values[0])
    for each in said:
        value = abs(each.values[0])
        if each.percent == wanted.percent and value and limit:
            beyond = value > limit if side > 0 else value < limit
            if beyond and max(value, limit) <= _FAR * min(value, limit):
                return True
    return False
