"""From what speaks for and against an item to a decision: a weighted sum.

The weights were fitted by logistic regression whose signs were held to what each sign means (more shared
words never speak against an item, a contradiction never for it), on labelled submissions of our own and
on reworded and spoilt ground truths of the release. ``docs/judging.md`` says how well that does on
papers that had no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Signs = Mapping[str, float]
"""By name, how much of each sign there is; between 0 and 1, and 0 where a name is missing."""


@dataclass(frozen=True)
class Evidence:
    """The part of a submission that says most of an item, verbatim, and the signs found."""

    quote: str
    signs: Signs


@dataclass(frozen=True)
class Match:
    """Whether an item was found, the passage that decided, and why not."""

    met: bool
    evidence: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Scale:
    """The weight of each sign. An item is met when the sum with ``bias`` is above zero."""

    bias: float
    weights: Mapping[str, float]

    def weigh(self, evidence: Evidence) -> Match:
        """The decision, and where it is against the item, the strongest sign that it was for."""
        parts = {
            name: weight * evidence.signs.get(name, 0.0) for name, weight in self.weights.items()
        }
        if self.bias + sum(parts.values()) > 0 and evidence.quote.strip():
            return Match(True, evidence.quote)
        worst = min(parts, key=lambda name: (parts[name], name))
        return Match(False, reason=_REASONS[worst] if parts[worst] < -_NOTABLE else _TOO_LITTLE)


_NOTABLE = 0.3
_TOO_LITTLE = "too little of it is there"
_REASONS = {
    "absent": "a value is not there",
    "absent_here": "a value is not where the rest is",
    "names_lacking": "something that it names is not there",
    "denied": "it is said to be left out or replaced",
    "unreported": "it is said not to have been looked at",
    "excepted": "the passage makes an exception",
    "mislabelled": "another value is given",
    "mislabelled_alone": "another value is given",
    "open": "the passage leaves it open",
    "open_here": "the passage leaves it open",
    "modal": "the passage says only that it may be so",
    "negated": "only one of the two is negated",
    "denies": "only one of the two is negated",
    "conflict": "it is said under another condition",
    "withdrawn": "it is taken back",
    "opposed": "the passage says the opposite",
    "against": "the passage points the other way",
    "against_anywhere": "a passage points the other way",
    "uncompared": "the passage compares nothing",
    "level": "the passage says that nothing differs",
    "rival": "the text singles out another one",
    "converse": "the passage fits the opposite better",
    "exchanged": "the passage exchanges the sides",
    "backwards": "the passage runs the other way round",
    "contrary": "the code does it with the opposite",
    "with_authors": _TOO_LITTLE,
}
