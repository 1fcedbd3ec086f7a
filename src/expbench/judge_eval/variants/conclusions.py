"""Submitted conclusions from claims: reworded, opposite, other numbers, hedged, partly, invented."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from expbench.judge_eval.cases import Label, LabelledItem
from expbench.judge_eval.variants.wording import (
    absent,
    alike,
    numbers_of,
    other_numbers,
    reworded,
    turned,
    without,
    words_of,
)
from expbench.schema import ResearchTask, RubricItem

_MOSTLY = 0.6
"""Share of a claim's words that must stand nowhere else, for its absence to be sure."""
_SOME = 0.3
"""The same for a claim that is contradicted or left open in its own words."""
_NEAR = 0.4
"""From this likeness on, two claims may be about the same thing."""
_WORDS = 4
"""Fewest telling words of a claim that was cut from a text."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_HEDGES = (
    "We cannot say whether the following holds, since our runs point both ways: {claim}",
    "Open question, on which we have no result: {claim}",
    "It may or may not be the case that, as others suspect, {claim} Our data do not decide it.",
)


@dataclass(frozen=True)
class _Piece:
    """What the submitted conclusion says about one claim."""

    claim: RubricItem
    said: str
    label: Label
    kind: str


def varied_conclusion(
    task: ResearchTask,
    items: Sequence[RubricItem],
    other: ResearchTask | None,
    number: int,
    chance: random.Random,
) -> tuple[str, tuple[LabelledItem, ...]]:
    """A conclusion and its claims: in round 0 all are right, in round 3 it is another paper's."""
    claims = [item for item in items if item.phase == "conclusion"]
    if not claims:
        return "", ()
    foreign = other.reference.conclusion if other else ""
    if number == 3:
        if not foreign.strip():
            return "", ()
        pieces = [_Piece(claim, "", "not_met", "invented") for claim in claims]
        said = [reworded(foreign, chance)]
    else:
        pieces = [
            _right(claim, chance)
            if number == 0 or (len(claims) > 1 and chance.random() < 0.5)
            else _wrong(claim, number, chance)
            for claim in claims
        ]
        said = [piece.said for piece in pieces if piece.said]
        if number == 0 and not task.reference.claims:  # split claims read badly in another order
            said = [reworded(task.reference.conclusion, chance)]
    chance.shuffle(said)
    text = "\n".join(said) or "No result yet."
    return text, tuple(
        LabelledItem(
            phase="conclusion",
            text=piece.claim.text,
            label=piece.label,
            kind=piece.kind,
            rubric_kind=piece.claim.kind,
            essential=piece.claim.essential,
        )
        for piece in pieces
        if _clear(piece.claim, task) and _sure(piece, pieces, text)
    )


def _clear(claim: RubricItem, task: ResearchTask) -> bool:
    """Whether the claim can be judged by itself: a piece that was cut from a text may not."""
    return bool(task.reference.claims) or (claim.essential and len(words_of(claim.text)) >= _WORDS)


def _sure(piece: _Piece, pieces: list[_Piece], text: str) -> bool:
    """Whether nothing else in the conclusion makes the label doubtful."""
    if piece.label == "met":
        return all(
            alike(piece.claim.text, each.claim.text) < _NEAR
            for each in pieces
            if each.label == "not_met"
        )
    rest = without(text, piece.said)
    hidden = numbers_of(piece.claim.text) - numbers_of(rest)
    if piece.kind == "wrong_number":
        return bool(hidden)
    if piece.said and piece.kind != "partly":  # it is taken back in its own words
        return bool(hidden) or absent(piece.claim.text, rest) >= _SOME
    return absent(piece.claim.text, rest) >= _MOSTLY


def _right(claim: RubricItem, chance: random.Random) -> _Piece:
    return _Piece(claim, reworded(claim.text, chance), "met", "right_paraphrased")


def _wrong(claim: RubricItem, number: int, chance: random.Random) -> _Piece:
    ways = [_opposite, _wrong_number, _hedged, _partly]
    if number == 2:
        ways.reverse()
    first = ways.pop(0) if chance.random() < 0.5 else None
    chance.shuffle(ways)
    for way in ([first] if first else []) + ways:
        piece = way(claim, chance)
        if piece is not None:
            return piece
    return _Piece(claim, "", "not_met", "not_mentioned")


def _opposite(claim: RubricItem, chance: random.Random) -> _Piece | None:
    """One sentence with one direction, turned round."""
    said = turned(claim.text) if len(_SENTENCE.split(claim.text.strip())) == 1 else None
    return _Piece(claim, said, "not_met", "opposite") if said else None


def _wrong_number(claim: RubricItem, chance: random.Random) -> _Piece | None:
    said = other_numbers(claim.text, chance)
    return _Piece(claim, said, "not_met", "wrong_number") if said else None


def _hedged(claim: RubricItem, chance: random.Random) -> _Piece | None:
    said = chance.choice(_HEDGES).format(claim=claim.text)
    return _Piece(claim, said, "not_met", "hedged")


def _partly(claim: RubricItem, chance: random.Random) -> _Piece | None:
    """Of a claim of several sentences the first only, where what is left out has a number."""
    sentences = _SENTENCE.split(claim.text.strip())
    if len(sentences) < 3:
        return None
    kept, lost = sentences[0], " ".join(sentences[1:])
    if not numbers_of(lost) - numbers_of(kept) or absent(lost, kept) < _MOSTLY:
        return None
    return _Piece(claim, reworded(kept, chance), "not_met", "partly")
