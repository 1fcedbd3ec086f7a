"""How far answers to one question agree: among the judges of a panel, and among a judge's samples.

Everything is computed from the votes that verdicts keep (:class:`~expbench.schema.Vote`), so it can
be done again on stored judgements. An unscored answer is a missing value, never a disagreement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

from pydantic import Field

from expbench.policy import Record
from expbench.schema import Judgement, Vote


class Share(Record):
    """``hits`` of ``of``; the ``value`` is ``None`` when there was nothing to count."""

    hits: int = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None


class Agreement(Record):
    """How far votes agree.

    Attributes:
        unanimous: the items on which all judges agree, of those that two or more of them decided.
        alpha: Krippendorff's alpha of the judges (nominal); ``None`` where nothing varies.
        own: by judge, the pairs of its samples on one item that agree, of all such pairs.
    """

    unanimous: Share = Share()
    alpha: float | None = None
    own: dict[str, Share] = Field(default_factory=dict)


def agreement(judgements: Iterable[Judgement]) -> Agreement:
    """The agreement of all votes in ``judgements``; each verdict is a unit of its own."""
    units = [v.votes for judgement in judgements for v in judgement.verdicts if v.votes]
    judged = [list(_opinions(votes).values()) for votes in units]
    several = [known for unit in judged if len(known := [o for o in unit if o is not None]) > 1]
    return Agreement(
        unanimous=Share(hits=sum(len(set(known)) == 1 for known in several), of=len(several)),
        alpha=krippendorff_alpha(judged),
        own=_self_agreement(units),
    )


def krippendorff_alpha(units: Iterable[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's alpha for nominal values, by coincidences; ``None`` is a missing value.

    ``units`` has one sequence for each item, with one value for each rater. 1 is perfect agreement and
    0 what chance gives. Without two values on some item, or when all values are the same, it is not
    defined: ``None``. Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
    """
    total: Counter[Hashable] = Counter()
    observed = 0.0
    for unit in units:
        counts = Counter(value for value in unit if value is not None)
        size = counts.total()
        if size < 2:
            continue
        total += counts
        observed += (size**2 - sum(n**2 for n in counts.values())) / (size - 1)
    size = total.total()
    expected = size**2 - sum(n**2 for n in total.values())
    return 1 - (size - 1) * observed / expected if expected else None


def _opinions(votes: Iterable[Vote]) -> dict[str, str | None]:
    """What each judge decided: the majority of its samples, ``None`` without one."""
    by_judge: dict[str, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        by_judge[vote.judge][vote.state] += 1
    return {judge: _majority(states) for judge, states in by_judge.items()}


def _majority(states: Mapping[str, int]) -> str | None:
    met, not_met = states.get("met", 0), states.get("not_met", 0)
    if met == not_met:
        return None
    return "met" if met > not_met else "not_met"


def _self_agreement(units: Iterable[Sequence[Vote]]) -> dict[str, Share]:
    found: dict[str, Share] = {}
    for votes in units:
        by_judge: dict[str, list[str]] = defaultdict(list)
        for vote in votes:
            if vote.state != "unscored":
                by_judge[vote.judge].append(vote.state)
        for judge, states in by_judge.items():
            pairs = list(combinations(states, 2))
            before = found.get(judge, Share())
            found[judge] = Share(
                hits=before.hits + sum(a == b for a, b in pairs), of=before.of + len(pairs)
            )
    return {judge: share for judge, share in found.items() if share.of}
