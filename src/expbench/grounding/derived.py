"""Numbers that a conclusion computes from the outputs: differences, ratios, changes in per cent, counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from expbench.grounding.binding import HERE, NEAR
from expbench.grounding.cells import Cell
from expbench.grounding.matching import Wanted, pool_of, prediction_interval
from expbench.grounding.names import Token
from expbench.grounding.outputs import Outputs
from expbench.grounding.pairs import Pair, beside, one_apart, pairs
from expbench.grounding.scene import Scene, is_number
from expbench.schema import ReportedClaim

_DIFFERENCE = re.compile(
    r"\b(?:gains?|gap|differ\w*|improv\w*|margin|advantage|ahead by|behind by|by|loses?|lost|loss of|"
    r"drops?|dropped|"
    r"falls?|fell|rises?|rose|increas\w*|decreas\w*|reduc\w*|decline\w*|more|less|higher|lower|better|"
    r"worse|fewer|"
    r"decades?|orders? of magnitude|points?|deficit|lag|change[sd]?|up|down|lift|boost|costs?|lead|"
    r"worth|adds?|added|sav(?:es|ed)|below|above|behind|ahead|apart|short)\b",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"\b(?:factors?|ratios?|fold|times|speed-?ups?|lead|twice|half|multiple|relative)\b|\d\s?[x×]|\d-fold",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:better|worse|lower\w*|rais\w*|higher|less|more|fewer|reduc\w*|improv\w*|increas\w*|decreas\w*|"
    r"drop\w*|faster|slower|"
    r"smaller|larger|greater|below|above|cheaper|gain\w*|sav\w*|relative|than|cuts?|grow\w*|of|rise[sn]?|"
    r"rose|"
    r"fall\w*|fell|shorter|longer|change\w*|growth|vs\.?|beat\w*)\b|[-−+]\d",
    re.IGNORECASE,
)
_PLAINLY = re.compile(
    r"\b(?:gaps?|gains?|differences?|margins?|leads?|advantages?|improvements?|drops?|increases?|"
    r"decreases?|reductions?|"
    r"factors?|ratios?|speed-?ups?)\s(?:of|is|was|by|=|over \S+ is)?\s?(?:about |only |roughly )?# "
    r"|\b(?:gaps?|differences?|margins?|factors?|ratios?|speed-?ups?|leads?|advantages?)\b(?:[^.;#]|"
    r"\.\d){0,80}\b(?:from|to) # "
    r"|\bby (?:about |only |roughly )?# |# \S+\s(?:\([^)]*\)\s)?(?:and \S+\s(?:\([^)]*\)\s)?)?(?:points|"
    r"decades|orders|higher|lower|better|worse|more|less|times|over|below|above|behind|ahead|apart|short)\b"
    r"|# \S+\s?(?:%|percent|per cent)\s(?:better|worse|lower|higher|less|more|fewer|reduc|improv|increas|"
    r"decreas|faster|slower|"
    r"smaller|larger|longer|shorter|cheaper|greater|below|above|of (?!the time|cases|all))"
    r"|\b(?:reduc|improv|increas|decreas|drop|cut|sav|fall|ris|gain|lower|rais)\w*\b(?:[^.;#]|"
    r"\.\d){0,50}\b(?:by|of) #"
    r"|\b(?:factors?|ratios?|gaps?|differences?)\b(?:[^.;#]|\.\d){0,60}\b(?:is|was|of|are)\s"
    r"(?:about |only |roughly |just |nearly |then |still )*#"
    r"|# [-+\d.]+\s?\S{0,10}\s?\((?:about |from )?[-+]?[\d.]+\s?\S{0,6}\s(?:vs\.?|versus|against|compared|"
    r"instead|→|->|to)\s"
    r"|\b(?:costs?|loses?|lost|gains?|gained|worth|adds?|added|sav(?:es|ed)|drops?|dropped|rises?|falls?|fell|"
    r"rose|leads?|ahead|behind)\b(?:[^.;:#]|\.\d){0,50}?(?:\sand|,)?\s(?:by |of )?"
    r"(?:only |about |just |another |some )?# "
    r"|\b(?:i\.e\.|that is|or|meaning),?\s(?:about |some |roughly |nearly |only )?# [\d.]+\s?(?:%|per)",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\d\s(?:[a-z-]+\s){1,3}\(# [\d.]+\s?%\s?\)")
"""A share behind a count: *919,717 documents (76 %)*."""
_BEFORE, _AFTER, _CLOSE = 70, 50, 12
_FORMULAS = 4.0
_LIKELY = 0.5
_NAMED = 1.0
_FEWEST_RUNS = 2
_FEW_NUMBERS = 8
_FEW_SAID = 2


@dataclass(frozen=True)
class Computed:
    """A value that follows from two numbers of the outputs, in words and with its chance."""

    value: float
    words: str
    cells: Pair
    slack: float = 0.0
    """How far the value may be off because the two numbers were rounded when they were put out."""

    @property
    def where(self) -> str:
        """The places of both."""
        return f"{self.cells[0].place} and {self.cells[1].place}"


def kinds(claim: ReportedClaim, scene: Scene, plainly: bool = False) -> tuple[str, ...]:
    """How a claim's number may have been computed, by its unit and the words around it.

    Args:
        plainly: only what its words leave no doubt about.
    """
    figure = scene.figure(claim)
    passage = scene.conclusion.passage(claim.start)
    if figure is None or passage is None or figure.total is not None:
        return ()
    text = scene.conclusion.text
    start = max(passage.start, figure.start - _BEFORE)
    around = f"{text[start : figure.start].rstrip()} # {text[figure.start : figure.end + _AFTER]}"
    found = []
    if figure.unit == "" and _in_points(claim, scene):
        return ("difference",)
    if (
        plainly
        and not _COUNT.search(around)
        and figure.unit in ("", "percent")
        and not figure.signed
        and not _PLAINLY.search(around)
    ):
        return ()
    close = around[: around.index("#") + 2 + figure.end - figure.start + _CLOSE]
    if figure.unit == "times" or (figure.unit == "" and _RATIO.search(close)):
        found.append("ratio")
    if figure.unit == "percent" and _COUNT.search(around):
        return ("share",)
    if figure.unit == "percent" and (figure.signed or _RELATIVE.search(around)):
        found += ["relative", "share"]
    if figure.unit in ("points", "percent", "") and _DIFFERENCE.search(around):
        found.append("difference")
    return tuple(dict.fromkeys(found))


def _in_points(claim: ReportedClaim, scene: Scene) -> bool:
    """Whether *only N* goes on a sentence of differences: *costs 12.9 points, B only 2.2*."""
    passage = scene.conclusion.passage(claim.start)
    figure = scene.figure(claim)
    if passage is None or figure is None:
        return False
    text = scene.conclusion.text
    earlier = re.search(r"\d\s(?:\w+\s)?points?\b", text[passage.sentence[0] : figure.start])
    return (
        earlier is not None
        and re.search(r"\b(?:only|just|by)\s$", text[: figure.start]) is not None
    )


def computed(
    claim: ReportedClaim,
    scene: Scene,
    bound: dict[Token, float],
    said: Sequence[Cell],
    earlier: Sequence[Cell] = (),
) -> Computed | None:
    """The two numbers that a claim's number follows from, unless a match would be likely by chance.

    Args:
        said: numbers of the outputs that the sentence states, which come first.
        earlier: those of the sentences before it.
    """
    figure = scene.figure(claim)
    ways = kinds(claim, scene, plainly=True)
    if figure is None or not ways:
        return None
    wanted = Wanted.of(figure, scene.conclusion.text)
    for options, most in (
        (_of_said(said), _LIKELY),
        (_of_names(scene, bound), _NAMED),
        (_of_earlier_said(said, earlier), _LIKELY),
        (_of_earlier_pairs(earlier, bound), _LIKELY),
        (_of_said_name(scene.outputs, said), _LIKELY),
        (_of_earlier_names(claim, scene, bound), _LIKELY),
        (_of_one_name(scene.outputs, bound), _LIKELY),
        (_of_condition(scene.outputs, bound), _LIKELY / 2),
    ):
        unequal = [
            pair
            for pair in options
            if pair[0].value != pair[1].value and not any(map(scene.outputs.sets, pair))
        ]
        found = _best(scene.outputs, wanted, ways, unequal, most)
        if found is not None:
            return found
    return None


def refuted(
    claim: ReportedClaim, scene: Scene, bound: dict[Token, float]
) -> tuple[list[Computed], bool]:
    """What the named numbers give instead, when the names leave no choice."""
    figure = scene.figure(claim)
    ways = kinds(claim, scene)
    options = _of_names(scene, bound)
    if figure is None or not ways or not options:
        return [], False
    results = [each for pair in options for each in _results(ways[0], pair, figure.unit)[:1]]
    distinct = {f"{each.value:.3g}" for each in results}
    return results, len(distinct) <= 2


def _best(
    outputs: Outputs, wanted: Wanted, ways: Sequence[str], options: Sequence[Pair], most: float
) -> Computed | None:
    """The first pair of which some way makes the wanted number, unless that is likely by chance."""
    value = abs(wanted.figure.value)
    likely = len(ways) * len(options) * 2 * wanted.tolerance / (_FORMULAS * max(value, 1e-12))
    if not options or likely > most:
        return None
    for way in ways:
        for pair in options:
            for at, result in enumerate(_results(way, pair, wanted.figure.unit)):
                slack = min(result.slack, 2 * wanted.tolerance)
                close = _near(value, abs(result.value), wanted.tolerance + slack)
                if close or _in_runs(outputs, wanted, way, pair, at):
                    return result
    return None


def _in_runs(outputs: Outputs, wanted: Wanted, way: str, pair: Pair, at: int) -> bool:
    """Whether a number lies in the prediction interval of what k runs give for it."""
    values = [outputs.values(cell) for cell in pair]
    if min(map(len, values)) < _FEWEST_RUNS:
        return False
    made = []
    for own in zip(*values, strict=False):
        cells = [
            replace(cell, figure=replace(cell.figure, value=value))
            for cell, value in zip(pair, own, strict=True)
        ]
        results = _results(way, (cells[0], cells[1]), wanted.figure.unit)
        made += [abs(result.value) for result in results[at : at + 1]]
    interval = prediction_interval(made)
    value = abs(wanted.figure.value)
    if interval is None or len(set(made)) < _FEWEST_RUNS:
        return False
    return interval[0] - wanted.tolerance <= value <= interval[1] + wanted.tolerance


def _near(value: float, found: float, tolerance: float) -> bool:
    return abs(value - found) <= tolerance * (1 + 1e-6) + 1e-9 * value


def _results(way: str, pair: Pair, unit: str) -> list[Computed]:
    """What a way of computing makes of two numbers, in either order."""
    a, b = pair[0].value, pair[1].value
    names = f"{pair[0].written or pair[0].derived} and {pair[1].written or pair[1].derived}"
    rounding = 0.5 * (pair[0].figure.step + pair[1].figure.step)
    if way == "difference":
        small = unit in ("points", "percent") and max(abs(a), abs(b)) <= 1
        factor, words = (100, " in points") if small else (1, "")
        return [
            Computed(factor * (a - b), f"difference of {names}{words}", pair, factor * rounding)
        ]
    found: list[Computed] = []
    for x, y, of in ((a, b, pair), (b, a, (pair[1], pair[0]))):
        if not y:
            continue
        off = (
            abs(x / y)
            * 0.5
            * (of[0].figure.step / max(abs(x), 1e-300) + of[1].figure.step / abs(y))
        )
        if way == "ratio":
            found.append(Computed(x / y, f"ratio of {names}", pair, off))
        elif way == "relative":
            change = 100 * (x - y) / abs(y)
            found.append(Computed(change, f"change between {names} in per cent", pair, 100 * off))
        else:
            found.append(
                Computed(100 * x / y, f"{names}: one in per cent of the other", pair, 100 * off)
            )
    return found


def _of_said(said: Sequence[Cell]) -> list[Pair]:
    return [(one, other) for at, one in enumerate(said) for other in said[at + 1 :]]


def _of_earlier_said(said: Sequence[Cell], earlier: Sequence[Cell]) -> list[Pair]:
    """Pairs of a number of the sentence and one of the sentences before it, of one table and column."""
    return [
        (one, other)
        for one in said[:_FEW_SAID]
        for other in earlier
        if (one.source, one.group) == (other.source, other.group)
        and (one.labels[-1:] == other.labels[-1:] or one_apart(one, other) is not None)
    ]


def _of_earlier_pairs(earlier: Sequence[Cell], bound: dict[Token, float]) -> list[Pair]:
    """Pairs of numbers that earlier sentences state for two names of this one: *A is 2 % better than B*."""
    here = {token for token, strength in bound.items() if strength >= HERE}
    return [
        (one, other)
        for one, other in _of_said(earlier)
        if (one.group, one.labels[-1:]) == (other.group, other.labels[-1:])
        and bool((one.tokens - other.tokens) & here)
        + bool((other.tokens - one.tokens) & here)
        + (one_apart(one, other) is not None)
        > 1
    ]


def _of_said_name(outputs: Outputs, said: Sequence[Cell]) -> list[Pair]:
    """Pairs of a number that the sentence states and the same of the other names: *at 2.2 times (92.4)*."""
    return [
        (cell, other)
        for cell in said[:_FEW_SAID]
        for other in outputs.alike(cell)
        if one_apart(cell, other) is not None
    ]


def _of_names(scene: Scene, bound: dict[Token, float]) -> list[Pair]:
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


def _of_earlier_names(claim: ReportedClaim, scene: Scene, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of the two names of an earlier sentence, where this one has none: *On B it loses by 1.4*."""
    if any(_rivals(scene, [t for t, s in bound.items() if s >= HERE and isinstance(t, str)])):
        return []
    passage = scene.conclusion.passage(claim.start)
    if passage is None:
        return []
    before = scene.within(scene.block_start(passage), passage.sentence[0])[::-1]
    names = list(dict.fromkeys(m.token for m in before if not is_number(m)))
    here = [t for t, s in bound.items() if s >= HERE]
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


def _of_one_name(outputs: Outputs, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of a name's numbers and those beside them, under the sentence's other labels."""
    given = [token for token, strength in bound.items() if strength >= NEAR]
    names = [token for token in given if isinstance(token, str)]
    found: list[Pair] = []
    for name in names[:4]:
        kept = _usable(outputs, name, [t for t in given if t != name])
        for cell in pool_of(outputs, [name, *kept])[:40]:
            found += [(cell, other) for other in beside(outputs, cell, name)]
    return found


def _of_condition(outputs: Outputs, bound: dict[Token, float]) -> list[Pair]:
    """Pairs of the few numbers under a condition: *at depth 8 the difference is 11.2 points*."""
    given = [token for token, strength in bound.items() if strength >= NEAR]
    cells = pool_of(outputs, given) if given else []
    if not 2 <= len(cells) <= _FEW_NUMBERS:
        return []
    return [(one, other) for at, one in enumerate(cells) for other in cells[at + 1 :]]
