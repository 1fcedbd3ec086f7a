"""The claims of a conclusion beside the outputs in which they were sought, their quotations marked there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expbench.report.quoting import Quoted, quoted
from expbench.report.text import Cut
from expbench.schema import GroundedClaim

_LINE = re.compile(r":(\d+)")


@dataclass(frozen=True)
class ShownClaim:
    """A claim by its name (G1 is the first); ``marked`` where its quotation is marked in an output."""

    name: str
    found: GroundedClaim
    marked: bool


def with_claims(
    claims: Sequence[GroundedClaim], outputs: Mapping[str, Cut]
) -> tuple[tuple[ShownClaim, ...], dict[str, Quoted]]:
    """The claims, and the outputs by their names (``stdout``, a path) with the quotations of each."""
    quotes: dict[str, dict[str, str]] = {name: {} for name in outputs}
    lines: dict[str, int] = {}
    for number, claim in enumerate(claims, 1):
        for place in _places(claim.where, outputs):
            quotes[place][f"G{number}"] = claim.quote
            if line := _LINE.match(claim.where, len(place)):
                lines[f"G{number}"] = int(line[1])
    shown = {name: quoted(text, quotes[name], lines) for name, text in outputs.items()}
    marked = {name for text in shown.values() for name in text.places}
    names = ((f"G{number}", claim) for number, claim in enumerate(claims, 1))
    return tuple(ShownClaim(name, claim, name in marked) for name, claim in names), shown


def _places(where: str, outputs: Mapping[str, Cut]) -> list[str]:
    """The output that a claim was found in; none where it is not shown."""
    fitting = [name for name in outputs if where.startswith((f"{name}:", f"{name}#"))]
    return [max(fitting, key=len)] if fitting else []
