"""Who stands beside whom in a table: numbers that differ in the one label in which a name stands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from expbench.grounding.cells import Cell
from expbench.grounding.names import Mention, Token, label_tokens
from expbench.grounding.outputs import Outputs
from expbench.grounding.pairs import Pair, beside, one_apart
from expbench.grounding.quality import STATISTICS, is_metric

_MOST = 2_000
_LONG = 2
"""Words up to which a label is one name: *ipw_ht*."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
_PART = re.compile(r"[/_\s]+")
_PLACES = ("row", "column", "key")


def rivals_of(outputs: Outputs, cell: Cell, name: Token) -> list[Cell]:
    """The numbers of the others that compete with a name: by the labels' places, else by their words.

    In a table they are under the same labels but for the one that has the name, whatever words these
    labels share with other outputs.
    """
    found = [
        other
        for other in outputs.alike(cell)[:_MOST]
        if (place := one_apart(cell, other)) is not None
        and cell.labels[place][0].startswith(_PLACES)
        and name in (own := label_tokens(cell.labels[place][1]))
        and name not in (foreign := label_tokens(other.labels[place][1]))
        and not _of_quantity(own ^ foreign)
        and _of_one_path(cell.labels[place][1], other.labels[place][1])
    ]
    return found if len(found) > 1 else beside(outputs, cell, name) or found


def contests(outputs: Outputs, cells: Sequence[Cell], name: Token) -> list[Pair]:
    """Each number of a name with each that competes with it."""
    return [(cell, other) for cell in cells for other in rivals_of(outputs, cell, name)]


def sharp(mentions: Sequence[Mention]) -> list[Mention]:
    """Mentions without those of an abbreviation's parts: *RMSE* is the label ``rmse`` where there is one.

    Of *ECE*, which the outputs do not know, only the quantity is left: no *calibrated* classifier.
    """
    kept: list[Mention] = []
    at: dict[tuple[int, int], list[Mention]] = defaultdict(list)
    for mention in mentions:
        at[mention.start, mention.end].append(mention)
    for (start, end), same in at.items():
        exact = [m for m in same if isinstance(m.token, str) and len(m.token) == end - start]
        kept += exact or [m for m in same if is_metric(m.token)] or same
    return [m for m in mentions if m in kept]


def is_under(cell: Cell, token: Token) -> bool:
    """Whether a number stands under a label; of a setting's values the one nearest to it counts."""
    if token not in cell.tokens:
        return False
    name, equals, _ = str(token).rpartition("=")
    if not equals:
        return True
    labels = (label_tokens(label) for _, label in reversed(cell.labels))
    valued = (own for own in labels if any(str(each).startswith(f"{name}=") for each in own))
    return token in next(valued, cell.tokens)


def _of_one_path(one: str, other: str) -> bool:
    """Whether two long names, *rmse/0.5/both_right/or*, differ in one word of them, and in no setting."""
    first, second = (_PART.split(label) for label in (one, other))
    if max(len(first), len(second)) <= _LONG:
        return True
    apart = [pieces for pieces in zip(first, second, strict=False) if pieces[0] != pieces[1]]
    plain = not any(re.search(r"\d", piece) for pieces in apart for piece in pieces)
    return len(first) == len(second) and len(apart) == 1 and plain


def _of_quantity(words: frozenset[Token]) -> bool:
    """Whether labels differ in what was measured: the column *mean* and the column *regret*."""
    return any(is_metric(word) or word in STATISTICS for word in words)


def another_agrees(votes: Sequence[tuple[bool, Pair]]) -> bool:
    """Whether a claim holds throughout under some of the conditions in words: *noisy*, *both wrong*.

    Settings' values are no conditions in words: a claim that holds at one size only is not made good by that.
    """
    readings: dict[object, list[bool]] = defaultdict(list)
    for agrees, (cell, _) in votes:
        words = tuple(_NUMBER.sub("", label) for _, label in cell.labels)
        readings[cell.source, cell.group, words].append(agrees)
    return any(map(all, readings.values()))
