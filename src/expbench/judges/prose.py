"""Matching design variables and claims against an agent's prose.

With a measure of similarity what an item says in other words counts too: the similarity of the item to the
sentence that is most alike, for the share of the item's words that the text does not have. It has weights of
its own, so that the judge without it stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable

from expbench.judges import claims, designs
from expbench.judges.weighing import Evidence, Match, Scale

Similarity = Callable[[str, str], float]
"""How alike an item is to the part of a text that is most alike, 0 to 1."""


def match_design(item: str, kind: str, design: str, alike: Similarity | None = None) -> Match:
    """Whether ``design`` has the variable ``item``, written as ``name: value; value``."""
    evidence = designs.evidence_for(item, kind, design)
    if alike is None:
        return DESIGN.weigh(evidence)
    return DESIGN_ALIKE.weigh(in_other_words(evidence, item, design, alike))


def match_claim(claim: str, conclusion: str, alike: Similarity | None = None) -> Match:
    """Whether ``conclusion`` states ``claim``."""
    evidence = claims.evidence_for(claim, conclusion)
    if alike is None:
        return CLAIM.weigh(evidence)
    return CLAIM_ALIKE.weigh(in_other_words(evidence, claim, conclusion, alike))


def in_other_words(evidence: Evidence, item: str, text: str, alike: Similarity) -> Evidence:
    """The evidence with the sign that the text is like the item where it has not its words."""
    lacking = 1 - evidence.signs.get("words", 0.0)
    return Evidence(evidence.quote, {**evidence.signs, "otherwise": lacking * alike(item, text)})


DESIGN = Scale(
    bias=-2.25,
    weights={
        "tight": 1.47,
        "words": 1.37,
        "sentence": 1.07,
        "numeric": 0.87,
        "measured": 0.57,
        "name": 0.56,
        "mislabelled_alone": -0.68,
        "mislabelled": -0.95,
        "absent": -1.15,
        "absent_here": -2.34,
        "unreported": -2.79,
        "denied": -3.00,
        "names_lacking": -3.10,
    },
)
CLAIM = Scale(
    bias=-1.90,
    weights={
        "words_nearest": 1.70,
        "words": 1.56,
        "figures": 0.76,
        "numbers_nearest": 0.68,
        "numeric": 0.56,
        "denies": -0.36,
        "excepted": -0.64,
        "against_anywhere": -0.67,
        "names_lacking": -0.75,
        "modal": -0.87,
        "denied": -1.08,
        "unreported": -1.23,
        "converse": -1.50,
        "uncompared": -1.89,
        "against": -2.00,
        "open_here": -2.02,
        "rival": -2.50,
        "negated": -2.59,
        "open": -2.64,
        "conflict": -2.50,
        "absent": -2.83,
        "opposed": -4.00,
        "withdrawn": -4.00,
        "level": -4.36,
        "backwards": -6.69,
        "exchanged": -6.92,
    },
)
DESIGN_ALIKE = Scale(
    bias=-2.34,
    weights={
        "tight": 1.47,
        "words": 1.44,
        "sentence": 1.07,
        "numeric": 0.87,
        "measured": 0.57,
        "name": 0.56,
        "otherwise": 0.25,
        "mislabelled_alone": -0.68,
        "mislabelled": -0.95,
        "absent": -1.15,
        "absent_here": -2.34,
        "unreported": -2.79,
        "denied": -3.00,
        "names_lacking": -3.10,
    },
)
CLAIM_ALIKE = Scale(
    bias=-1.38,
    weights={
        "words_nearest": 1.70,
        "words": 0.87,
        "figures": 0.76,
        "numbers_nearest": 0.68,
        "numeric": 0.56,
        "otherwise": 0.46,
        "denies": -0.36,
        "excepted": -0.64,
        "against_anywhere": -0.67,
        "names_lacking": -0.75,
        "modal": -0.87,
        "denied": -1.08,
        "unreported": -1.23,
        "converse": -1.50,
        "uncompared": -1.89,
        "against": -2.00,
        "open_here": -2.02,
        "rival": -2.50,
        "negated": -2.59,
        "open": -2.64,
        "conflict": -2.50,
        "absent": -2.83,
        "opposed": -4.00,
        "withdrawn": -4.00,
        "level": -4.36,
        "backwards": -6.69,
        "exchanged": -6.92,
    },
)
