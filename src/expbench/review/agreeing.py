"""How far reviewers agree about the same fields, by kind of field.

Kappa is Cohen's (1960). Fields of one task are no independent draws, so its interval is a cluster bootstrap
(Cameron, Gelbach and Miller 2008): tasks are drawn with replacement, 2,000 times by a fixed seed. A draw in
which chance explains everything has no kappa and is left out; ``defined`` says how many were left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from expbench.construct.decisions import Place, about, standing
from expbench.construct.records import Decision
from expbench.failures.sampling import kappa
from expbench.judges.agreement import krippendorff_alpha
from expbench.review.views import TaskLine
from expbench.schema import Record
from expbench.statistics.intervals import NOTHING, Interval, share_interval

DRAWS = 2_000
SEED = 20_250_524
ONE_TASK = "no interval: one task"
UNDEFINED = "no interval: one word for everything"
_BOOTSTRAP = "bootstrap over tasks"

Row = tuple[str, str, str]
"""The task, and the word of each of two reviewers."""


class PairAgreement(Record):
    """Two reviewers on one kind of field, or on all.

    ``same`` of ``both`` fields that both decided got the same word (accept, fix, reject, or the label);
    ``kappa`` is ``None`` where chance explains everything; ``alike`` of ``fixed`` fields that both fixed
    got the same value.
    """

    kind: str
    first: str
    second: str
    same: int
    both: int
    interval: Interval
    kappa: float | None
    kappa_interval: Interval
    defined: int
    fixed: int
    alike: int


class ReviewerSummary(Record):
    """What one reviewer did, of all fields, and in how many minutes."""

    name: str
    decided: int
    minutes: float
    words: dict[str, int]


class ReviewAgreement(Record):
    """All reviewers of a project or run; ``alpha`` is Krippendorff's, over all of them and all fields."""

    fields: int
    reviewers: tuple[ReviewerSummary, ...]
    pairs: tuple[PairAgreement, ...]
    alpha: float | None


def agree(tasks: Sequence[TaskLine], made: Mapping[str, Sequence[Decision]]) -> ReviewAgreement:
    """The agreement about the present values of all fields.

    Args:
        made: decisions by reviewer.
    """
    held = {name: _present(tasks, own) for name, own in made.items()}
    pairs: list[PairAgreement] = []
    for first, second in combinations(held, 2):
        pairs += _pairs(first, second, held[first], held[second])
    places = [(task.id, name) for task in tasks for name in task.fields]
    words = [[_word(own.get(place)) for own in held.values()] for place in places]
    return ReviewAgreement(
        fields=len(places),
        reviewers=tuple(_summary(name, held[name], made[name]) for name in held),
        pairs=tuple(pairs),
        alpha=krippendorff_alpha(words) if len(held) > 1 else None,
    )


def _present(tasks: Sequence[TaskLine], own: Iterable[Decision]) -> dict[Place, Decision]:
    held = standing(own)
    found = {}
    for task in tasks:
        for name, digest in task.fields.items():
            if (each := about(held.get((task.id, name)), digest)) is not None:
                found[task.id, name] = each
    return found


def _word(decision: Decision | None) -> str | None:
    if decision is None:
        return None
    return str(decision.value) if decision.kind == "label" else decision.kind


def _summary(
    name: str, held: Mapping[Place, Decision], made: Sequence[Decision]
) -> ReviewerSummary:
    words: dict[str, int] = defaultdict(int)
    for each in held.values():
        words[_word(each) or ""] += 1
    minutes = sum(each.seconds for each in made) / 60
    return ReviewerSummary(name=name, decided=len(held), minutes=minutes, words=dict(words))


def _pairs(
    first: str, second: str, one: Mapping[Place, Decision], other: Mapping[Place, Decision]
) -> Iterator[PairAgreement]:
    both = [place for place in one if place in other]
    kinds: dict[str, list[Place]] = {"all": both}
    for place in both:
        kinds.setdefault(place[1].partition("/")[0], []).append(place)
    for kind, places in kinds.items():
        rows = [(p[0], _word(one[p]) or "", _word(other[p]) or "") for p in places]
        fixed = [p for p in places if one[p].kind == other[p].kind == "fix"]
        same = [float(a == b) for _, a, b in rows]
        interval, defined = kappa_interval(rows)
        yield PairAgreement(
            kind=kind,
            first=first,
            second=second,
            same=int(sum(same)),
            both=len(rows),
            interval=_share(same, [task for task, _, _ in rows]),
            kappa=kappa([a for _, a, _ in rows], [b for _, _, b in rows]),
            kappa_interval=interval,
            defined=defined,
            fixed=len(fixed),
            alike=sum(one[p].value == other[p].value for p in fixed),
        )


def _share(same: Sequence[float], tasks: Sequence[str]) -> Interval:
    one = len(set(tasks)) == 1
    return Interval(how=ONE_TASK) if one else share_interval(same, tasks)


def kappa_interval(rows: Sequence[Row]) -> tuple[Interval, int]:
    """The interval of kappa over tasks, and the number of draws that have one."""
    if not rows:
        return Interval(how=NOTHING), 0
    tasks = {task: at for at, task in enumerate(dict.fromkeys(task for task, _, _ in rows))}
    if len(tasks) < 2:
        return Interval(how=ONE_TASK), 0
    words = {word: at for at, word in enumerate(sorted({w for _, *two in rows for w in two}))}
    table = np.zeros((len(tasks), len(words), len(words)))
    for task, first, second in rows:
        table[tasks[task], words[first], words[second]] += 1
    often = np.random.default_rng(SEED).multinomial(
        len(tasks), np.full(len(tasks), 1 / len(tasks)), DRAWS
    )
    drawn = np.einsum("dt,tij->dij", often.astype(float), table)
    total = drawn.sum((1, 2))
    seen = np.einsum("dii->d", drawn) / total
    chance = (drawn.sum(2) * drawn.sum(1)).sum(1) / total**2
    fine = chance < 1 - 1e-12
    if not fine.any():
        return Interval(how=UNDEFINED), 0
    values = (seen[fine] - chance[fine]) / (1 - chance[fine])
    low, high = np.quantile(values, (0.025, 0.975))
    return Interval(low=float(low), high=float(high), how=_BOOTSTRAP), int(fine.sum())
