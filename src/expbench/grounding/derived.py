"""Numbers that a conclusion computes from the outputs: differences, ratios, changes in per cent, counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from expbench.grounding import candidates
from expbench.grounding.cells import Cell
from expbench.grounding.figures import Figure
from expbench.grounding.matching import Wanted, prediction_interval
from expbench.grounding.names import Token
from expbench.grounding.outputs import Outputs
from expbench.grounding.pairs import Pair
from expbench.grounding.scene import Scene
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
    r"fall\w*|fell|slows?|slowed|shorter|longer|change\w*|growth|vs\.?|beat\w*)\b|[-−+]\d",
    re.IGNORECASE,
)
_PLAINLY = re.compile(
    r"\b(?:gaps?|gains?|differences?|margins?|leads?|advantages?|improvements?|drops?|increases?|"
    r"decreases?|reductions?|"
    r"factors?|ratios?|speed-?ups?)\s(?:of|is|was|by|=|over \S+ is)?\s?(?:about |only |roughly )?# "
    r"|\b(?:gaps?|differences?|margins?|factors?|ratios?|speed-?ups?|leads?|advantages?)\b(?:[^.;#]|"
    r"\.\d){0,80}\b(?:from|to) # "
    r"|\bby (?:about |only |roughly |another |a further )?# "
    r"|# \S+\s(?:\([^)]*\)\s)?(?:and \S+\s(?:\([^)]*\)\s)?)?(?:points|"
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
    r"rose|leads?|ahead|behind)\b(?:[^.;:#]|\.\d){0,50}?(?<!\sto)(?<!\sfrom)(?:\sand|,)?\s(?:by |of )?"
    r"(?:only |about |just |another |some )?# "
    r"|\b(?:i\.e\.|that is|or|meaning),?\s(?:about |some |roughly |nearly |only )?# [\d.]+\s?(?:%|per)",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\d\s(?:[a-z-]+\s){1,3}\(# [\d.]+\s?%\s?\)")
"""A share behind a count: *919,717 documents (76 %)*."""
_GOES_ON = re.compile(
    r"\s(?:on|for|in|at|with)\s[^.;:,\d]{2,30}(?:,|,?\sand)\s(?:by\s|of\s|about\s)?"
)
_BEFORE, _AFTER, _CLOSE = 70, 50, 12
_FORMULAS = 4.0
_LIKELY = 0.5
_NAMED = 1.0
_FEWEST_RUNS = 2


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
    begun = _begun(scene, figure, passage.start)
    start = max(passage.start, begun - _BEFORE)
    around = f"{text[start:begun].rstrip()} # {text[figure.start : figure.end + _AFTER]}"
    found = []
    if figure.unit == "" and _in_points(claim, scene):
        return ("difference",)
    if (
        plainly
        and not _COUNT.search(around)
        and figure.unit in ("", "percent", "seconds")
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
    gained = text[figure.start] == "+"
    if figure.unit in ("points", "percent", "", "seconds") and (
        gained or _DIFFERENCE.search(around)
    ):
        found.append("difference")
    return tuple(dict.fromkeys(found))


def _begun(scene: Scene, figure: Figure, floor: int) -> int:
    """Where a list of like numbers begins that this one goes on: *a reduction of 9 % on A and 10 % on B*."""
    before = [f for f in scene.conclusion.figures if floor <= f.start and f.end <= figure.start]
    if not before or figure.unit not in ("percent", "points") or before[-1].unit != figure.unit:
        return figure.start
    between = scene.conclusion.text[before[-1].end : figure.start]
    return before[-1].start if _GOES_ON.fullmatch(between) else figure.start


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
    name = candidates.set_against(scene, figure)
    for options, most in (
        (candidates.of_said(said), _LIKELY),
        (candidates.of_names(scene, bound), _NAMED),
        (candidates.of_earlier_said(said, earlier), _LIKELY),
        (candidates.of_earlier_pairs(earlier, bound), _LIKELY),
        (candidates.of_removed(scene, figure), _LIKELY),
        (candidates.of_said_name(scene.outputs, said), _LIKELY),
        (candidates.of_earlier_names(claim, scene, bound), _LIKELY),
        (candidates.of_one_name(scene.outputs, bound), _LIKELY),
        (candidates.of_condition(scene.outputs, bound), _LIKELY / 2),
        (candidates.of_earlier_steps(scene, earlier, bound), _LIKELY / 2),
    ):
        unequal = [
            pair
            for pair in options
            if pair[0].value != pair[1].value
            and candidates.between(pair, name)
            and not any(map(scene.outputs.sets, pair))
        ]
        found = _best(scene.outputs, wanted, ways, unequal, most)
        if found is not None:
            return found
    return None


def of_pair(claim: ReportedClaim, scene: Scene, pair: Pair) -> Computed | None:
    """What a claim's number follows from when its place in a row tells the two numbers."""
    figure, ways = scene.figure(claim), kinds(claim, scene)
    if figure is None or pair[0].value == pair[1].value:
        return None
    wanted = Wanted.of(figure, scene.conclusion.text)
    return _best(scene.outputs, wanted, ways, [pair], _LIKELY)


def refuted(
    claim: ReportedClaim, scene: Scene, bound: dict[Token, float]
) -> tuple[list[Computed], bool]:
    """What the named numbers give instead, when the names leave no choice."""
    figure = scene.figure(claim)
    ways = kinds(claim, scene)
    options = candidates.of_names(scene, bound)
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
                close = any(
                    _near(value * worth, abs(result.value), wanted.tolerance * worth + slack)
                    for worth in (1.0, *wanted.worth)
                )
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
