"""Matching design variables and claims against an agent's prose.

An item is met when some passage has enough of its words, all of its numbers, and nothing that says
the opposite. Passages are tried from the one that shares most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from expbench.judges.passages import Passage, runs, sentences
from expbench.judges.relations import contradicts
from expbench.judges.values import mandatory, missing, with_steps
from expbench.judges.words import Token, coverage, covered, forms, tokens

_CLAIM_COVERAGE = 0.45
_CLAIM_SENTENCES = 5
_VALUE_COVERAGE = 0.5
_NAME_COVERAGE = 0.5
_NUMBER_WEIGHT = 0.7
_NEAR = 24
_NEAREST_WORDS = 3
_STRIDE = 2
_ASIDE = re.compile(r"\([^()]*\)|(?<=[.;])\s+[A-Z].*$", re.DOTALL)
"""What explains a value and is no part of it: brackets, and further sentences."""


@dataclass(frozen=True)
class Match:
    """Whether an item was found, the passage that decided, and why not."""

    met: bool
    evidence: str = ""
    reason: str = ""


def match_design(item: str, kind: str, design: str) -> Match:
    """Whether ``design`` has the variable ``item``, written as ``name: value; value``."""
    name, _, values = item.partition(": ")
    text = with_steps(tokens(design), design)
    wanted_name = tokens(name)
    parts = _joined_values(values.split("; ") if values else [])
    if not parts:
        return _name_alone(wanted_name, text, design)
    matches = [_match_value(part, wanted_name, text, design) for part in parts]
    failed = next((m for m in matches if not m.met), None)
    if failed is None:
        return max(matches, key=lambda m: len(m.evidence))
    numbers = [number for part in parts for number in mandatory(tokens(part), part)]
    if kind == "dependent" and not missing(numbers, text, exact=True):
        alone = _name_alone(wanted_name, text, design)
        if alone.met:
            return alone
    return failed


def match_claim(claim: str, conclusion: str) -> Match:
    """Whether ``conclusion`` states ``claim``; a claim of several sentences needs each of them."""
    parts = _sentences(conclusion)
    own = [p for p in _claim_sentences(claim) if any(t.content for t in p.tokens)]
    matches = [_match_statement(part, parts) for part in own]
    if not matches:
        return Match(False, reason="the claim has no words to compare")
    return next((m for m in matches if not m.met), matches[0])


@lru_cache(maxsize=8)
def _sentences(conclusion: str) -> list[Passage]:
    return sentences(conclusion)


@lru_cache(maxsize=8)
def _runs(conclusion: str) -> list[tuple[int, int, Passage]]:
    """Every run of sentences; kept, since each claim is compared with all of them."""
    return list(runs(_sentences(conclusion), _CLAIM_SENTENCES))


def _claim_sentences(claim: str) -> list[Passage]:
    parts = sentences(claim)
    if len(parts) <= 1 or len(claim) < 400:
        return [Passage(claim, 0, len(claim))]
    return parts


def _match_statement(claim: Passage, parts: list[Passage]) -> Match:
    numbers = mandatory(claim.tokens, claim.quote, modifiers=False)
    candidates: list[tuple[float, int, int, Passage]] = []
    closest, lacking = 0.0, list[Token]()
    for first, last, run in _runs(parts[0].text) if parts else ():
        share = _share(claim.tokens, numbers, run.known, run.tokens, exact=False)
        absent = missing(numbers, run.tokens, exact=False)
        if share > closest:
            closest, lacking = share, absent
        if not absent and share >= _CLAIM_COVERAGE:
            crossed = parts[last - 1].paragraph - parts[first].paragraph
            candidates.append((share - 0.1 * (last - first) - 0.1 * crossed, first, last, run))
    if not candidates:
        if closest >= _CLAIM_COVERAGE and lacking:
            return Match(False, reason=f"the value {lacking[0].stem} is not there")
        return Match(False, reason="no passage says this")
    _, first, last, run = max(candidates, key=lambda c: c[0])
    passage = [p for p in parts[first:last] if _concerns(p, claim)] or parts[first:last]
    why = contradicts(claim, passage, parts)
    return Match(not why, run.quote, f"the nearest passage {why}" if why else "")


def _concerns(part: Passage, claim: Passage) -> bool:
    """Whether a sentence of a passage has to do with the claim at all."""
    own = frozenset(token.stem for token in part.tokens if token.content)
    shared = {token.stem for token in claim.tokens if token.content} & own
    results = [token for token in claim.tokens if token.number and token.number.decimals]
    return len(shared) > 1 or len(missing(results, part.tokens, exact=False)) < len(results)


def _joined_values(values: Sequence[str]) -> list[str]:
    """Values that are bare numbers as one value, since they stand in one list; the others alone."""
    bare = [value for value in values if not any(t.content for t in tokens(value))]
    worded = [value for value in values if value not in bare]
    numeric = [value for value in bare if tokens(value)]
    symbols = [value for value in bare if value and value not in numeric]
    return ([", ".join(numeric)] if numeric else []) + symbols + worded


def _match_value(value: str, name: list[Token], text: list[Token], design: str) -> Match:
    wanted = tokens(value)
    numbers = mandatory(wanted, value)
    if not wanted:
        return Match(value in design, value if value in design else "", "the value is not there")
    if not any(token.content for token in wanted):
        return _match_numbers(numbers, name, text, design)
    core = tokens(_ASIDE.sub(" ", value).strip()) if _ASIDE.search(value) else wanted
    core = core if any(token.content for token in core) else wanted
    size = 30 + 2 * len(wanted)
    best, lacking, where = 0.0, list[Token](), range(0)
    for start in range(0, max(len(text) - size, 0) + _STRIDE, _STRIDE):
        window = text[start : start + size]
        known = forms(window)
        share = max(_share(w, numbers, known, window, exact=True) for w in (wanted, core))
        near = 0.25 * coverage(name, known)
        absent = missing(numbers, window, exact=True)
        total = share + near - (1 if absent else 0)
        if total > best or not where:
            best, lacking, where = total, absent, range(start, min(start + size, len(text)))
    if lacking:
        return Match(False, reason=f"the value {lacking[0].stem} is not there")
    known = forms(text)
    unnamed = next((t.stem for t in wanted if t.name and not covered(t, known)), "")
    if unnamed:
        return Match(False, reason=f"{unnamed!r} is not named")
    met = best >= _VALUE_COVERAGE + 0.1
    return Match(
        met, _quote(design, text, where) if met else "", "" if met else f"no passage has {value!r}"
    )


def _match_numbers(
    numbers: list[Token], name: list[Token], text: list[Token], design: str
) -> Match:
    """Numbers whose only words are the variable's name: they have to stand near it."""
    size = _NEAR + 2 * len(numbers)
    for start in range(0, max(len(text) - size, 0) + 1):
        window = text[start : start + size]
        if missing(numbers, window, exact=True):
            continue
        if coverage(name, forms(window)) < _NAME_COVERAGE:
            continue
        if len(numbers) > 1 or _belongs(numbers[0], name, window, design):
            return Match(True, _quote(design, text, range(start, start + len(window))))
    return Match(False, reason="the values do not stand near the variable's name")


def _belongs(number: Token, name: list[Token], window: list[Token], design: str) -> bool:
    """Whether the number in ``window`` is the variable's: it counts it, or follows its name."""
    known = forms(name)
    for place, token in enumerate(window):
        if missing([number], [token], exact=True):
            continue
        counted = _adjoining(window[place + 1 : place + 3], token.end, design)
        if any(covered(t, known) for t in counted):
            return True
        named = [t for t in window[:place] if t.content][-_NEAREST_WORDS:]
        joined = bool(named) and "," not in design[named[-1].end : token.start]
        if any(covered(t, known) for t in named) and (joined or not counted):
            return True
    return False


def _adjoining(following: list[Token], end: int, design: str) -> list[Token]:
    """Those of the following words that no comma or bracket parts from what ends at ``end``."""
    return [t for t in following if t.content and not set(",;()") & set(design[end : t.start])]


def _name_alone(name: list[Token], text: list[Token], design: str) -> Match:
    size = 6 + 2 * len(name)
    for start in range(0, max(len(text) - size, 0) + 1):
        window = text[start : start + size]
        if coverage(name, forms(window)) >= 0.75:
            return Match(True, _quote(design, text, range(start, start + len(window))))
    return Match(False, reason="the variable is not named")


def _share(
    wanted: Sequence[Token],
    numbers: Sequence[Token],
    known: frozenset[str],
    window: Sequence[Token],
    exact: bool,
) -> float:
    """The weighted share of an item's words and numbers that a window has."""
    distinct = {token.stem: token for token in wanted if token.content}
    words = sum(token.weight for token in distinct.values())
    found = sum(token.weight for token in distinct.values() if covered(token, known))
    there = len(numbers) - len(missing(numbers, window, exact))
    total = words + _NUMBER_WEIGHT * len(numbers)
    return (found + _NUMBER_WEIGHT * there) / total if total else 0.0


def _quote(design: str, text: Sequence[Token], where: range) -> str:
    return design[text[where.start].start : text[where.stop - 1].end] if where and text else ""
