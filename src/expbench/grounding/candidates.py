"""Pairs of numbers of the outputs that a difference, ratio or change of a conclusion may be of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from expbench.grounding.binding import HERE, NEAR, SURE
from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.matching import pool_of
from expbench.grounding.names import Token, label_tokens
from expbench.grounding.outputs import Outputs
from expbench.grounding.pairs import Pair, beside, one_apart, pairs
from expbench.grounding.quality import is_metric
from expbench.grounding.scene import Scene, is_number, is_weak
from expbench.schema import ReportedClaim

_THAN = re.compile(
    r"[^.;,()]{0,25}?\b(?:ahead of|above|below|behind|(?:\w+er|better|worse|more|less)\s(?:\w+\s)?than)\s"
    r"(?:the\s|that of\s|those of\s)?"
)
_JOINED = re.compile(r"\s?%?(?:,|\sand|,\sand)\s")
_WHOLE = frozenset(("full", "baseline", "base", "vanilla", "complete", "original", "default"))
"""What a label has of a model that nothing was taken from."""
_NEAR_BEHIND = 3
_FEW_NUMBERS = 8
_FEW_SAID = 2
_MOST_ALIKE = 800


def set_against(scene: Scene, figure: Figure) -> frozenset[Token]:
    """The name that a number is a distance from: *2.5 points ahead of B*."""
    than = _THAN.match(scene.conclusion.text, figure.end)
    if than is None:
        return frozenset()
    near = scene.within(than.end(), than.end() + 60)
    first = [m for m in near if m.start <= than.end() + _NEAR_BEHIND and not is_metric(m.token)]
    return frozenset(m.token for m in first if not is_number(m) and not is_weak(m.token))


def between(pair: Pair, name: frozenset[Token]) -> bool:
    """Whether a pair is of a name and of another one."""
    return not name or bool(pair[0].tokens & name) != bool(pair[1].tokens & name)


def of_removed(scene: Scene, figure: Figure) -> list[Pair]:
    """Pairs of what a clause takes away and of the whole: *removing the angles costs 7.7 and 4.4*."""
    said = scene.said_of(figure)
    before = [f for f in scene.conclusion.figures if f.end <= figure.start]
    if (
        not said
        and before
        and _JOINED.fullmatch(scene.conclusion.text[before[-1].end : figure.start])
    ):
        said = scene.said_of(before[-1])
    names = [m.token for m in said if isinstance(m.token, str) and scene.removed(m.token)]
    kept = _usable(scene.outputs, names[0], names[1:]) if names else []
    found = []
    for cell in pool_of(scene.outputs, [names[0], *kept])[:40] if names else ():
        rivals = [each for each in scene.outputs.alike(cell) if _is_whole(cell, each)]
        found += [(cell, each) for each in rivals]
    return found


def _is_whole(cell: Cell, other: Cell) -> bool:
    """Whether a number is the same of the whole, from which something was taken for the first."""
    place = one_apart(cell, other)
    return place is not None and bool(label_tokens(other.labels[place][1]) & _WHOLE)


def of_said(said: Sequence[Cell]) -> list[Pair]:
    """Pairs of the numbers that a sentence states."""
    return [(one, other) for at, one in enumerate(said) for other in said[at + 1 :]]


def of_earlier_said(said: Sequence[Cell], earlier: Sequence[Cell]) -> list[Pair]:
    """Pairs of a number of the sentence and one of the sentences before it, of one table and column."""
    return [
        (one, other)
        for one in said[:_FEW_SAID]
        for other in earlier
        if (one.source, one.group) == (other.source, other.group)
        and (one.labels[-1:] == other.labels[-1:] or one_apart(one, other) is not None)
    ]


def of_earlier_pairs(earlier: Sequence[Cell], bound: dict[Token, float]) -> list[Pair]:
    """Pairs of numbers that earlier sentences state for two names of this one: *A is 2 % better than B*."""
    here = {token for token, strength in bound.items() if strength >= HERE}
    return [
        (one, other)
        for one, other in of_said(earlier)
        if (one.group, one.labels[-1:]) == (other.group, other.labels[-1:])
        and bool((one.tokens - other.tokens) & here)
        + bool((other.tokens - one.tokens) & here)
        + (one_apart(one, other) is not None)
        > 1
    ]


def of_earlier_steps(
    scene: Scene, earlier: Sequence[Cell], bound: dict[Token, float]
) -> list[Pair]:
    """Pairs that earlier sentences state, where this one names nothing else: *The gain is 2.1*."""
    if not earlier:
        return []
    table = {t for cell in scene.outputs.alike(earlier[0])[:_MOST_ALIKE] for t in cell.tokens}
    here = {t for t, strength in bound.items() if strength >= HERE} & table
    return [
        (one, other)
        for one, other in of_said(earlier)
        if one_apart(one, other) is not None
        and all(t in one.tokens | other.tokens or any(t in c.tokens for c in earlier) for t in here)
    ]


def of_said_name(outputs: Outputs, said: Sequence[Cell]) -> list[Pair]:
    """Pairs of a number that the sentence states and the same of the other names: *at 2.2 times (92.4)*."""
    return [
        (cell, other)
        for cell in said[:_FEW_SAID]
        for other in outputs.alike(cell)
        if one_apart(cell, other) is not None
    ]


def of_names(scene: Scene, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of two names of the sentence that exclude each other, under its other labels."""
    outputs = scene.outputs
    here = [token for token, strength in bound.items() if strength >= HERE]
    given = [token for token, strength in bound.items() if strength >= NEAR]
    found: dict[tuple[int, int], Pair] = {}
    for one, other in _rivals(scene, here):
        shared = [t for t in given if t not in (one, other) and not _excluded(scene, t, one, other)]
        for pair in pairs(outputs, [one], [other], _usable(outputs, one, shared)):
            found[id(pair[0]), id(pair[1])] = pair
    return list(found.values())


def of_earlier_names(claim: ReportedClaim, scene: Scene, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of the two names of an earlier sentence, where this one has none: *On B it loses by 1.4*."""
    sure = [t for t, s in bound.items() if s >= SURE]
    here = [t for t, s in bound.items() if s >= HERE]
    here = [t for t in here if t in sure or not any(scene.rivals(t, own) for own in sure)]
    if any(_rivals(scene, [t for t in here if isinstance(t, str)])):
        return []
    passage = scene.conclusion.passage(claim.start)
    if passage is None:
        return []
    before = scene.within(scene.block_start(passage), passage.sentence[0])[::-1]
    names = list(dict.fromkeys(m.token for m in before if not is_number(m)))
    free = [t for t in names if not any(scene.rivals(t, own) for own in here)]
    for one, other in _rivals(scene, free[:_FEW_NUMBERS]):
        shared = _usable(scene.outputs, one, here)
        if len(shared) == len(here):
            return pairs(scene.outputs, [one], [other], shared)
    return []


def _rivals(scene: Scene, tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    for at, one in enumerate(tokens):
        for other in tokens[at + 1 :]:
            if scene.rivals(one, other):
                yield one, other


def _excluded(scene: Scene, token: Token, one: Token, other: Token) -> bool:
    return scene.rivals(token, one) or scene.rivals(token, other)


def _usable(outputs: Outputs, name: Token, given: Iterable[Token]) -> list[Token]:
    """The given labels under which a name has numbers, one after the other."""
    kept: list[Token] = []
    for token in given:
        if pool_of(outputs, [name, *kept, token]):
            kept.append(token)
    return kept


def of_one_name(outputs: Outputs, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of a name's numbers and those beside them, under the sentence's other labels."""
    given = [token for token, strength in bound.items() if strength >= NEAR]
    names = [token for token in given if isinstance(token, str)]
    found: list[Pair] = []
    for name in names[:4]:
        kept = _usable(outputs, name, [t for t in given if t != name])
        for cell in pool_of(outputs, [name, *kept])[:40]:
            found += [(cell, other) for other in beside(outputs, cell, name)]
    return found


def of_condition(outputs: Outputs, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of the few numbers under a condition: *at depth 8 the difference is 11.2 points*."""
    given = [token for token, strength in bound.items() if strength >= NEAR]
    cells = pool_of(outputs, given) if given else []
    if not 2 <= len(cells) <= _FEW_NUMBERS:
        return []
    return [(one, other) for at, one in enumerate(cells) for other in cells[at + 1 :]]
