"""Submitted designs from a reference design: reworded, dropped, changed, negated, contradicted, vague."""

from __future__ import annotations

import random
from dataclasses import dataclass

from expbench.judge_eval.cases import Label, LabelledItem
from expbench.judge_eval.variants.wording import (
    absent,
    alike,
    listed,
    numbers_of,
    other_numbers,
    reworded,
    without,
)
from expbench.schema import DesignItem, ResearchTask

_MOSTLY = 0.6
"""Share of an item's words that must stand nowhere else, for its absence to be sure."""
_NEAR = 0.5
"""From this likeness on, two items may be about the same thing."""

_STYLES = (
    "{name}: {value}",
    "- {name} = {value}",
    "* **{name}** {value}",
    "For {name} we take {value}.",
    "{name} ({value})",
)
_INTROS = (
    "Experiment plan",
    "## Design\n",
    "What we hold fixed, what we vary and what we measure:",
    "Setup of the study.",
)


@dataclass(frozen=True)
class _Piece:
    """What the submitted design says about one item; an empty ``said`` is nothing."""

    item: DesignItem
    said: str
    label: Label
    kind: str
    later: str = ""
    """Said at the end of the design."""


def varied_design(
    task: ResearchTask, other: ResearchTask | None, number: int, chance: random.Random
) -> tuple[str, tuple[LabelledItem, ...]]:
    """A design and its items: in round 0 all are there, in round 3 it is another paper's."""
    items = task.reference.design
    if not items:
        return "", ()
    style, intro = chance.choice(_STYLES), chance.choice(_INTROS)
    foreign = list(other.reference.design) if other else []
    if number == 3:
        pieces = [_Piece(item, "", "not_met", "other_paper") for item in items]
        said = [_said(item, style, chance) for item in foreign]
        if not said:
            return "", ()
    else:
        pieces = [
            _kept(item, style, chance)
            if number == 0 or chance.random() < 0.45
            else _changed(item, style, foreign, chance)
            for item in items
        ]
        said = [piece.said for piece in pieces if piece.said]
    chance.shuffle(said)
    later = [piece.later for piece in pieces if piece.later]
    text = "\n".join([intro, *said, *later])
    return text, tuple(
        LabelledItem(
            phase="design",
            text=piece.item.text,
            label=piece.label,
            kind=piece.kind,
            rubric_kind=piece.item.kind,
        )
        for piece in pieces
        if _sure(piece, pieces, text)
    )


def _sure(piece: _Piece, pieces: list[_Piece], text: str) -> bool:
    """Whether nothing else in the design makes the label doubtful."""
    if piece.label == "met":
        wrong = [each for each in pieces if each.label == "not_met"]
        return all(
            alike(piece.item.name, each.item.name) < _NEAR
            and alike(_content(piece.item), _content(each.item)) < _NEAR
            for each in wrong
        )
    rest = without(text, piece.said, piece.later)
    hidden = numbers_of(_content(piece.item)) - numbers_of(rest)
    if piece.kind == "value_flipped" and not hidden:
        return False
    twins = [e for e in pieces if e is not piece and alike(e.item.name, piece.item.name) >= _NEAR]
    if twins and piece.kind != "other_paper":  # "model" may be met by what "llm model" says
        return False
    return absent(_content(piece.item), rest) >= _MOSTLY


def _content(item: DesignItem) -> str:
    return " ".join(item.values) or item.name


def _name(item: DesignItem) -> str:
    return item.name.replace("_", " ")


def _said(item: DesignItem, style: str, chance: random.Random) -> str:
    values = [reworded(value, chance) for value in item.values]
    if item.kind != "constant":  # a constant's values may be steps in an order
        chance.shuffle(values)
    if not values:
        return f"- {reworded(_name(item), chance)}"
    return style.format(name=_name(item), value=listed(values))


def _kept(item: DesignItem, style: str, chance: random.Random) -> _Piece:
    if item.kind == "independent" and len(item.values) > 1 and chance.random() < 0.2:
        extra = "in addition one setting of our own choice"
        return _Piece(item, f"{_said(item, style, chance)} ({extra})", "met", "superset")
    return _Piece(item, _said(item, style, chance), "met", "paraphrased")


def _changed(
    item: DesignItem, style: str, foreign: list[DesignItem], chance: random.Random
) -> _Piece:
    ways = [_dropped, _flipped, _negated, _vague, _subset]
    chance.shuffle(ways)
    for way in (*ways, _dropped):
        piece = way(item, style, chance)
        if piece is not None:
            return piece
    raise AssertionError("an item can always be dropped")


def _dropped(item: DesignItem, style: str, chance: random.Random) -> _Piece | None:
    return _Piece(item, "", "not_met", "dropped")


def _flipped(item: DesignItem, style: str, chance: random.Random) -> _Piece | None:
    """Every number another one; half of the time the right ones first, then taken back."""
    values = [other_numbers(value, chance) for value in item.values]
    if not values or any(value is None for value in values):
        return None
    wrong = [value for value in values if value is not None]
    if chance.random() < 0.5:
        return _Piece(
            item,
            _said(item, style, chance),
            "not_met",
            "contradicted",
            f"Correction: {_name(item)} is not as written above; every run has {listed(wrong)}.",
        )
    said = style.format(name=_name(item), value=listed(wrong))
    return _Piece(item, said, "not_met", "value_flipped")


def _negated(item: DesignItem, style: str, chance: random.Random) -> _Piece | None:
    if not item.values:
        return None
    said = chance.choice(
        (
            "Left out of this study: {name} ({value}); nothing of it was done.",
            "We decided against {name}: {value}. It is not part of the experiment.",
        )
    ).format(name=_name(item), value=listed(list(item.values)))
    return _Piece(item, said, "not_met", "negated")


def _vague(item: DesignItem, style: str, chance: random.Random) -> _Piece | None:
    """Named, without a value: only where the values say something that could be missing."""
    if len(item.values) < 2 and not numbers_of(_content(item)):
        return None
    value = chance.choice(
        ("several settings", "the usual choice", "to be decided", "as appropriate")
    )
    return _Piece(item, style.format(name=_name(item), value=value), "not_met", "vague")


def _subset(item: DesignItem, style: str, chance: random.Random) -> _Piece | None:
    """One value of the list is missing, and it is said that there are no others."""
    if len(item.values) < 3:
        return None
    values = list(item.values)
    missing = values.pop(chance.randrange(len(values)))
    if absent(missing, " ".join(values)) < _MOSTLY:
        return None
    said = style.format(name=_name(item), value=f"{listed(values)}, and no other")
    return _Piece(item, said, "not_met", "subset")
