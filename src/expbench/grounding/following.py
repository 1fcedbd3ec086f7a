"""Numbers that are said in one breath with another: *0.88 against 0.71*, *from 0.91 down to 0.61*.

Of the second no name may be said at all: it is the other one's, or the other end's. Once one was found
in the outputs, the other is looked for among the numbers that differ from it in one label only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from expbench.grounding.binding import SURE
from expbench.grounding.cells import Cell
from expbench.grounding.names import Token
from expbench.grounding.outputs import Outputs
from expbench.grounding.pairs import one_apart

_AGAINST = re.compile(
    r"\s?%?\)?,?\s(?:vs\.?|versus|against|compared (?:with|to)|instead of|rather than|where \S+ \S+)\s"
    r"(?:only\s|about\s|the\s)?[$€£]?",
    re.IGNORECASE,
)
_TOWARDS = re.compile(
    r"\s?%?\s?(?:,?\s?(?:down |up |over |on )?to\s(?:only\s|about\s|just\s)?[$€£]?|→\s?|->\s?|–\s?)",
    re.IGNORECASE,
)
_FEW = 3


def partner(
    between: str, one: Cell, equal: Iterable[Cell], outputs: Outputs, bound: dict[Token, float]
) -> Cell | None:
    """The number that a figure is, where what stands between it and another one says that they are a pair.

    Args:
        between: the conclusion's text between the two.
        one: the number of the outputs that the other one was found to be.
        equal: numbers of the outputs that may be the figure's by their value.
        bound: the figure's labels; where one is bound surely, it has to have it.
    """
    against, towards = _AGAINST.fullmatch(between), _TOWARDS.fullmatch(between)
    if not against and not towards:
        return None
    firm = {token for token, strength in bound.items() if strength >= SURE}
    for cell in equal:
        differing = one_apart(one, cell)
        if differing is None or cell.value == one.value or not firm <= cell.tokens:
            continue
        others = [other for other in outputs.alike(one) if one_apart(one, other) == differing]
        last = bool(towards) and cell is others[-1]
        if len(others) <= _FEW or last or _extreme(cell, [one, *others]):
            return cell
    return None


def _extreme(cell: Cell, cells: Sequence[Cell]) -> bool:
    values = [each.value for each in cells]
    return cell.value in (min(values), max(values))
