"""How far coders agree about the same errors: kappa of each two, and Krippendorff's alpha of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from expbench.failures import Coded
from expbench.failures.sampling import kappa
from expbench.judges.agreement import krippendorff_alpha
from expbench.schema import Record
from expbench.statistics.intervals import Interval, share_interval


class CoderAgreement(Record):
    """Agreement in one phase, or in all.

    ``same`` of ``of`` errors that every coder coded got one and the same code. ``kappas`` are Cohen's, of
    each two coders; ``alpha`` takes also errors that some coder left open. ``None`` where only one code was
    used.
    """

    phase: str
    same: int
    of: int
    interval: Interval
    kappas: tuple[tuple[str, str, float | None], ...]
    alpha: float | None


def agree(codings: Mapping[str, Sequence[Coded]]) -> tuple[CoderAgreement, ...]:
    """The coders' agreement over everything, then by phase; all code the same insights in the same order."""
    names = list(codings)
    rows = [list(row) for row in zip(*codings.values(), strict=True)]
    phases = list(dict.fromkeys(row[0].insight.phase for row in rows))
    parts: list[tuple[str, list[list[Coded]]]] = [("all", rows)]
    parts += [(phase, [r for r in rows if r[0].insight.phase == phase]) for phase in phases]
    return tuple(_agreement(phase, names, own) for phase, own in parts)


def _agreement(phase: str, names: Sequence[str], rows: Sequence[Sequence[Coded]]) -> CoderAgreement:
    codes = [[None if each.by == "unanswered" else each.code for each in row] for row in rows]
    whole = [at for at, row in enumerate(codes) if None not in row]
    same = [float(len(set(codes[at])) == 1) for at in whole]
    kappas = []
    for one, other in combinations(range(len(names)), 2):
        pairs = [(row[one], row[other]) for row in codes]
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        value = kappa([a for a, _ in known], [b for _, b in known])
        kappas.append((names[one], names[other], value))
    return CoderAgreement(
        phase=phase,
        same=int(sum(same)),
        of=len(same),
        interval=share_interval(same, [rows[at][0].insight.paper for at in whole]),
        kappas=tuple(kappas),
        alpha=krippendorff_alpha(codes),
    )
