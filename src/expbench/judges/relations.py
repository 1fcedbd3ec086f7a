"""Whether a passage says the opposite of a claim.

Only positive signs of a contradiction count, since a paraphrase may leave out any given word:

- a comparison that points the other way (:mod:`~expbench.judges.directions`), or none at all;
- a superlative whose subject is somebody else;
- two names that have exchanged their numbers or conditions;
- a change, or a ranking, that runs the other way round;
- a word of time or place that is replaced by its opposite before the same word;
- a negation that only one of the two texts has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from expbench.judges.directions import QUANTITY_STEMS, directions, is_comparison, opposed
from expbench.judges.lexicon import ANTONYMS, NEGATIONS, SUPERLATIVES, UNCHANGED
from expbench.judges.passages import Passage
from expbench.judges.values import same
from expbench.judges.words import Token, covered, forms

_REACH = 9
_NEGATED = 5
_NEGATED_WORD = 6
_UN = "un"
_SUBJECT_WORDS = 2
_FAR = 12
_CLEARLY_NEARER = 2
_BOUNDARY = 2
_FOLLOWING = 3
_Distances = dict[str, dict[str, int]]
_OPPOSITES = {a: b for pair in reversed(ANTONYMS) for a, b in (pair, pair[::-1])}
_RANKING = re.compile(r"\brank(?:s|ed|ing)?\b|\b\w+est to \w+", re.IGNORECASE)
_UPWARD = re.compile(r"(?:worst|lowest|smallest|least) to|ascending", re.IGNORECASE)


def contradicts(claim: Passage, passage: Sequence[Passage], everything: Sequence[Passage]) -> str:
    """Why the sentences of ``passage`` contradict ``claim``; empty when nothing shows that they do.

    ``everything`` is the whole text that the passage is from: a word that is everywhere in it ties
    nothing to anything.
    """
    counts = Counter(token.stem for part in everything for token in part.tokens)
    ours = directions(claim, counts)
    theirs = [d for part in passage for d in directions(part, counts)]
    if word := opposed(ours, theirs):
        return f"points the other way at {word!r}"
    if ours and not theirs and any(w in UNCHANGED for part in passage for w in part.words):
        return "says that nothing differs"
    if ours and not theirs and not any(token.number for part in passage for token in part.tokens):
        return "compares nothing"
    if _subject_missing(claim, passage, counts):
        return "says it of something else"
    if _exchanged(claim, passage):
        return "exchanges the sides"
    if any(_runs_backwards(claim, part) for part in passage):
        return "runs the other way round"
    if _has_opposite(claim, passage, everything):
        return "has the opposite condition"
    if _negated_differently(claim, passage):
        return "is negated differently"
    return ""


def _subject_missing(claim: Passage, passage: Sequence[Passage], counts: Counter[str]) -> bool:
    """Whether no sentence with one of the claim's results names the claim's subject."""
    name = next((word for word in _subject(claim) if counts[word]), "")
    if not name:
        return False
    results = [token for token in claim.tokens if token.number and token.number.decimals]
    known: frozenset[str] = frozenset()
    for part in passage:
        before, known = known, part.known
        relevant = not results or any(_same_result(r, t) for r in results for t in part.tokens)
        if relevant and name in known | before:
            return False
    return True


def _subject(claim: Passage) -> list[str]:
    """The names right before the claim's first superlative, the one that sets it apart first."""
    words = claim.words
    place = next((at for at, word in enumerate(words) if word in SUPERLATIVES), 0)
    names: list[str] = []
    for at in range(place - 1, max(place - _REACH, 0) - 1, -1):
        token = claim.tokens[at]
        if set(claim.quote[token.end : claim.tokens[at + 1].start]) & set(",;:)("):
            break
        if token.content and token.weight == 1.0 and token.stem not in QUANTITY_STEMS:
            names.append(token.stem)
    return names[:_SUBJECT_WORDS][::-1]


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


def _has_opposite(
    claim: Passage, passage: Sequence[Passage], everything: Sequence[Passage]
) -> bool:
    """Whether a condition of the claim is turned round, and nowhere as it is."""
    ours = _conditions(claim)
    theirs = {pair for part in passage for pair in _conditions(part)}
    turned = {(_OPPOSITES[word], stem) for word, stem in ours}
    stated = {pair for part in everything for pair in _conditions(part)}
    return bool(turned & theirs) and not ours & stated


def _conditions(part: Passage) -> set[tuple[str, str]]:
    """Each word that has an opposite, with the next word that carries meaning."""
    found = set[tuple[str, str]]()
    for place, word in enumerate(part.words):
        if word in _OPPOSITES:
            following = part.tokens[place + 1 : place + 1 + _FOLLOWING]
            stem = next((t.stem for t in following if t.content or t.number), "")
            found.add((word, stem))
    return found


def _negated_differently(claim: Passage, passage: Sequence[Passage]) -> bool:
    """Whether only one of the texts negates what both speak of, comparisons apart."""
    ours = _negated_words(claim)
    theirs = frozenset(word for part in passage for word in _negated_words(part))
    known = frozenset(form for part in passage for form in forms(part.tokens))
    if ours:
        negated = any(_denies(word) for part in passage for word in part.words)
        return not negated and (ours <= known or len(ours & known) > 1)
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
