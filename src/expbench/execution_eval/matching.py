"""Which extracted claim is which labelled one, by its place in the conclusion and its digits.

The match knows nothing of how claims are extracted. A labelled number is the extracted numbers that
overlap it and have its digits, whatever the power of ten (so per cent and fraction are the same); a
labelled relation is the extracted relations that share at least half of the shorter text with it. Where
there is none of that kind, one of the other kind that covers most of the label counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from expbench.execution_eval.cases import ExpectedClaim
from expbench.schema import GroundedClaim, Grounding

Seen = Literal["grounded", "contradicted", "not_found", "not_checkable", "missed"]
"""A claim's state, or that it was not extracted at all."""

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORST: tuple[Seen, ...] = ("contradicted", "not_found", "not_checkable", "grounded")


def state_of(
    label: ExpectedClaim, conclusion: str, grounding: Grounding
) -> tuple[Seen, tuple[GroundedClaim, ...]]:
    """The state that a labelled claim was given, and by which extracted claims.

    Of several the worst counts: a label is grounded when all of it is.
    """
    start = conclusion.find(label.text)
    end = start + len(label.text)
    near = [
        (each, shared)
        for each in grounding.claims
        if (shared := min(end, each.claim.end) - max(start, each.claim.start)) > 0
    ]
    found = _of_kind(label, near) or _covering(len(label.text), near)
    states = {each.state for each in found}
    return next((state for state in _WORST if state in states), "missed"), tuple(found)


def _of_kind(label: ExpectedClaim, near: list[tuple[GroundedClaim, int]]) -> list[GroundedClaim]:
    if label.is_number:
        digits = {_significant(number) for number in _NUMBER.findall(label.text)}
        return [
            each
            for each, _ in near
            if each.claim.kind == "number"
            and each.claim.value is not None
            and _significant(f"{abs(each.claim.value):.12g}") in digits
        ]
    return [
        each
        for each, shared in near
        if each.claim.kind == "relation"
        and 2 * shared >= min(len(label.text), each.claim.end - each.claim.start)
    ]


def _covering(length: int, near: Iterable[tuple[GroundedClaim, int]]) -> list[GroundedClaim]:
    return [each for each, shared in near if 2 * shared >= length]


def _significant(number: str) -> str:
    """Its significant digits, without sign, point, commas, exponent and zeros at both ends."""
    mantissa = re.split("[eE]", number)[0]
    return re.sub(r"[,.]", "", mantissa).strip("0")
