"""Words by which findings are told in other words, and the same finding by another word of comparison.

What a claim says with "rises" a text may say with "climbs", and with "needs" what another says with "takes".
They are joined for claims only: in settings and in code they are no synonyms.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from expbench.judges.converse import fact
from expbench.judges.passages import Passage
from expbench.judges.words import stem

_GROUPS = (
    "add append include attach extra additional",
    "remove drop omit delete discard strip ablate exclude eliminate disable without lack absence",
    "keep retain maintain preserve hold stay remain sustain",
    "need require demand take cost consume spend",
    "reach attain achieve obtain arrive hit score get yield",
    "give bring provide deliver produce offer",
    "gain advantage benefit improvement lead edge margin win payoff",
    "damage harm hurt penalty degradation loss cost price toll",
    "fast quick rapid speed speedup throughput latency time runtime duration slow",
    "cheap inexpensive economical affordable cost expensive",
    "robust resilient stable steady insensitive tolerant",
    "sensitive fragile brittle unstable volatile",
    "same equal identical indistinguishable equivalent unchanged level tie tied alike par",
    "differ difference vary variation spread disagree scatter",
    "agree match coincide correspond consistent concord",
    "collapse break diverge explode unusable fail breakdown",
    "disappear vanish fade evaporate gone cease",
    "saturate plateau flatten level stall stagnate",
    "enough suffice sufficient adequate",
    "double twice twofold",
    "halve half",
    "triple thrice threefold",
    "tenfold ten",
    "combine join fuse merge union together hybrid mix joint both",
    "mistake error wrong misclassify incorrect",
    "right correct accurate accuracy correctness",
    "help useful benefit pay worthwhile worth assist effective",
    "matter important effect influence impact affect decisive role",
    "cause drive explain due owing stem responsible",
    "depend hinge vary governed",
    "predict forecast anticipate prediction",
    "detect find catch spot discover identify recognise recognize flag",
    "solve complete succeed success finish",
    "choose prefer favour favor pick like select",
    "big large great wide broad huge",
    "small little tiny minor slight marginal negligible mere",
    "rare infrequent scarce uncommon few sparse",
    "frequent common popular often usual",
    "early beginning start initial outset",
    "late end final last eventual ultimately",
    "hard difficult challenging tough",
    "easy simple trivial straightforward",
    "deep depth layer",
    "long length longer",
    "wide width",
    "annotate label labelled annotated",
    "people person participant user human rater annotator listener",
    "remedy mitigation countermeasure fix cure treatment",
    "memory ram footprint",
    "noise noisy corruption perturbation corrupted",
    "example demonstration shot",
    "network model net architecture",
    "image picture photo",
    "word token",
    "step iteration update",
    "whole full entire complete all every each",
    "none no nothing zero never neither",
    "beyond above past exceed over upward",
    "below under beneath within",
    "only sole alone solely just nobody unique",
    "always every everywhere throughout consistent whichever whatever regardless irrespective whenever any",
    "third one-third",
    "transfer generalise generalize carry",
    "imbalance skew uneven",
    "original baseline plain vanilla unmodified",
    "aggregate sum total pool",
)
_CLASSES: dict[str, set[int]] = defaultdict(set)
for _number, _group in enumerate(_GROUPS):
    for _word in _group.split():
        _CLASSES[stem(_word)].add(_number)


class Retold:
    """Where the sentences of a text say things that may be said in other words."""

    def __init__(self, sentences: Sequence[Passage], starts: Sequence[int]) -> None:
        """``starts`` are where the words of the text's index begin, in order."""
        self._places: dict[str | int, list[int]] = defaultdict(list)
        for part in sentences:
            for at, token in enumerate(part.tokens):
                for meaning in _meanings(part, at):
                    place = bisect_left(starts, part.start + token.start)
                    self._places[meaning].append(place)

    def places(self, claim: Passage) -> dict[str, set[int]]:
        """By the stem of each telling word of a claim the places that say it."""
        found: dict[str, set[int]] = defaultdict(set)
        for at, token in enumerate(claim.tokens):
            if token.content:
                for meaning in _meanings(claim, at):
                    found[token.stem].update(self._places.get(meaning, ()))
        return found


def _meanings(part: Passage, at: int) -> Iterator[str | int]:
    """Which way a word compares, if it does, and the numbers of its groups."""
    if finding := fact(part, at):
        yield finding
    yield from _CLASSES.get(part.tokens[at].stem, ())
