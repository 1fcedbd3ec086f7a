"""Whether a passage says the opposite of a claim.

Only positive signs of a contradiction count, since a paraphrase may leave out any given word:

- a superlative that is never said of the claim's subject;
- no comparison at all (those that point the other way: :mod:`~expbench.judges.directions`);
- two names that have exchanged their numbers or conditions;
- a change, or a ranking, that runs the other way round;
- a negation that only one of the two texts has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from expbench.judges.directions import QUANTITY_STEMS, Direction, overlap, relation
from expbench.judges.lexicon import ANTONYMS, NEGATIONS, SUPERLATIVES, UNCHANGED, word_set
from expbench.judges.passages import Passage
from expbench.judges.senses import is_comparison
from expbench.judges.values import same
from expbench.judges.words import Token, covered, forms

_NEGATED = 5
_NEGATED_WORD = 6
_UN = "un"
_LACKING = word_set("without none nothing nobody nor")
"""Words of a claim that deny, too: "without a remedy" is said as "no remedy"."""
_FAR = 12
_CLEARLY_NEARER = 2
_BOUNDARY = 2
_SUBJECT_WORDS = 2
Compared = tuple[Passage, Sequence[Direction]]
"""A sentence and its comparisons."""
_Distances = dict[str, dict[str, int]]
_OPPOSITES = {a: b for pair in reversed(ANTONYMS) for a, b in (pair, pair[::-1])}
_COMPARES_TOO = word_set(
    "twice double half times too as than same equal difference different nothing no up down"
)
_RANKING = re.compile(r"\brank(?:s|ed|ing)?\b|\b\w+est to \w+", re.IGNORECASE)
_UPWARD = re.compile(r"(?:worst|lowest|smallest|least) to|ascending", re.IGNORECASE)


def contradictions(claim: Passage, passage: Sequence[Passage], compares: bool) -> tuple[str, ...]:
    """What shows that the sentences of ``passage`` contradict ``claim``, by name.

    ``compares`` says whether the claim does.
    """
    words = {word for part in passage for word in part.words}
    silent = compares and not any(is_comparison(word) or word in _COMPARES_TOO for word in words)
    numbers = any(token.number for part in passage for token in part.tokens)
    found = {
        "level": silent and not words.isdisjoint(UNCHANGED),
        "uncompared": silent and not numbers,
        "exchanged": _exchanged(claim, passage),
        "backwards": any(_runs_backwards(claim, part) for part in passage),
        "negated": negated_differently(claim, passage),
    }
    return tuple(name for name, shown in found.items() if shown)


def is_anothers(ours: Sequence[Direction], said: Sequence[Compared]) -> bool:
    """Whether what a claim singles out first is never the one that a text singles out so.

    ``said`` is the whole text. What it does not name at all may have another name there.
    """
    own = next((each for each in ours if each.alone), None)
    if own is None or own.object:
        return False
    known = frozenset[str]().union(*(part.known for part, _ in said))
    nearest = [word for word in own.lead if word not in QUANTITY_STEMS]
    names = known.intersection(nearest[:_SUBJECT_WORDS])
    metric = {word: near for word, near in own.subject.items() if word not in own.lead}
    named = [
        not names.isdisjoint(part.known)
        for part, theirs in said
        for other in theirs
        if other.alone and relation(own, other) == 1 and _of_the_same(own, metric, other)
    ]
    return bool(names and named) and not any(named)


def _of_the_same(own: Direction, metric: dict[str, float], other: Direction) -> bool:
    shared = any(same(a, b, exact=False) for a in own.numbers for b in other.numbers)
    return shared or overlap(metric, other.subject | other.object) > 0


def _exchanged(claim: Passage, passage: Sequence[Passage]) -> bool:
    """Whether two names have exchanged the numbers and conditions that they stand near.

    Of two names, each is clearly nearer to an anchor of its own in the claim; when in the passage
    each is nearer to the anchor of the other, and no anchor has kept its name, they have changed
    places.
    """
    ours = _names_near_anchors(claim, claim)
    theirs: dict[str, dict[str, int]] = {}
    for part in passage:
        for anchor, names in _names_near_anchors(part, claim).items():
            known = theirs.setdefault(anchor, {})
            for name, distance in names.items():
                known[name] = min(distance, known.get(name, distance))
    shared = sorted({name for near in ours.values() for name in near})
    return any(_changed_places(a, b, ours, theirs) for a, b in combinations(shared, 2))


def _changed_places(first: str, second: str, ours: _Distances, theirs: _Distances) -> bool:
    pairs = {
        (_nearer(first, second, near), _nearer(first, second, theirs.get(anchor, {})))
        for anchor, near in ours.items()
    }
    return pairs >= {(1, -1), (-1, 1)} and not pairs & {(1, 1), (-1, -1)}


def _nearer(first: str, second: str, near: dict[str, int]) -> int:
    """1 or -1 for the name that is clearly nearer to an anchor, 0 when neither is."""
    if first not in near and second not in near:
        return 0
    difference = near.get(second, _FAR) - near.get(first, _FAR)
    return 0 if abs(difference) < _CLEARLY_NEARER else (1 if difference > 0 else -1)


def _names_near_anchors(part: Passage, claim: Passage) -> _Distances:
    """For each anchor of the claim in ``part``, the distance of every name.

    Anchors are measured numbers and words that have an opposite; a comma between adds to the
    distance.
    """
    found: _Distances = {}
    names = [
        (place, token.stem)
        for place, token in enumerate(part.tokens)
        if token.content and token.weight == 1.0 and token.stem not in QUANTITY_STEMS
    ]
    for at, anchor in _anchors(part, claim):
        near = found.setdefault(anchor, {})
        for place, name in names:
            distance = _distance(part, place, at)
            if place != at and distance <= _FAR:
                near[name] = min(distance, near.get(name, distance))
    return found


def _anchors(part: Passage, claim: Passage) -> list[tuple[int, str]]:
    conditions = {word for word in claim.words if word in _OPPOSITES or word in SUPERLATIVES}
    found = [(place, word) for place, word in enumerate(part.words) if word in conditions]
    found.extend(
        (place, target.stem)
        for place, token in enumerate(part.tokens)
        for target in claim.tokens
        if _same_result(target, token)
    )
    often = Counter(anchor for _, anchor in found)
    return [(place, anchor) for place, anchor in found if often[anchor] == 1]


def _distance(part: Passage, here: int, there: int) -> int:
    first, last = sorted((here, there))
    between = part.quote[part.tokens[first].end : part.tokens[last].start]
    boundaries = sum(between.count(mark) for mark in (",", ";", ":", " and "))
    return last - first + _BOUNDARY * boundaries


def _same_result(wanted: Token, found: Token) -> bool:
    if not (wanted.number and found.number and wanted.number.decimals):
        return False
    return same(wanted.number, found.number, exact=False)


def _runs_backwards(claim: Passage, part: Passage) -> bool:
    """Whether "from x to y" reads "from y to x", or a ranking is listed in another order."""
    changes = _changes(part)
    for start, end in _changes(claim):
        if not _alike(start, end) and any(_alike(start, b) and _alike(end, a) for a, b in changes):
            return True
    if not (_RANKING.search(claim.quote) and _RANKING.search(part.quote)):
        return False
    places = {token.stem: at for at, token in reversed(list(enumerate(part.tokens)))}
    listed = dict.fromkeys(
        token.stem
        for token in claim.tokens
        if token.content and token.weight == 1.0 and not token.stem.startswith("rank")
    )
    shared = [places[word] for word in listed if word in places]
    pairs = list(combinations(shared, 2))
    backwards = sum(first > second for first, second in pairs) > len(pairs) / 2
    turned = bool(_UPWARD.search(claim.quote)) != bool(_UPWARD.search(part.quote))
    return len(pairs) > 2 and backwards != turned


def _changes(part: Passage) -> list[tuple[Token, Token]]:
    """Pairs of numbers that are joined by "to" or an arrow."""
    return [
        (first, last)
        for first, last, joint in zip(part.tokens, part.tokens[2:], part.words[1:], strict=False)
        if first.number and last.number and joint in ("to", "->", "→")
    ]


def _alike(first: Token, second: Token) -> bool:
    if not (first.number and second.number):
        return False
    return same(first.number, second.number, exact=False)


def negated_differently(claim: Passage, passage: Sequence[Passage]) -> bool:
    """Whether only one of the texts negates what both speak of, comparisons apart."""
    ours = _negated_words(claim)
    theirs = frozenset(word for part in passage for word in _negated_words(part))
    known = frozenset(form for part in passage for form in forms(part.tokens))
    if ours:
        negated = any(_denies(word) for part in passage for word in part.words)
        return not negated and (ours <= known or len(ours & known) > 1)
    if not _LACKING.isdisjoint(claim.words):
        return False
    plain = {t.stem for t in claim.tokens if t.content and covered(t, known)}
    return len(plain & theirs) >= max(2, 0.4 * len(plain))


def _negated_words(part: Passage) -> frozenset[str]:
    """The words that follow a negation which belongs to no comparison."""
    found = set[str]()
    for place, word in enumerate(part.words):
        reach = range(place + 1, min(place + 1 + _NEGATED, len(part.words)))
        if word in NEGATIONS and any(is_comparison(part.words[at]) for at in reach):
            continue
        if word in NEGATIONS:
            following = [part.tokens[at] for at in reach]
            found.update(t.stem for t in following if t.content and t.stem not in QUANTITY_STEMS)
        elif _denies(word):
            found.add(part.tokens[place].stem.removeprefix(_UN))
    return frozenset(found)


def _denies(word: str) -> bool:
    """Whether a word is a negation, or may be one by its prefix."""
    return word in NEGATIONS or (word.startswith(_UN) and len(word) >= _NEGATED_WORD)
