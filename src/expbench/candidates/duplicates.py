"""Papers that are already in the benchmark, and candidates that are one paper twice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from expbench.candidates.record import Candidate, plain_title, repository_in
from expbench.dataset.release import released_papers
from expbench.schema import Record

ALIKE = 0.8
"""From which likeness of their titles two papers are one (Jaccard index of runs of three letters); papers
of one group of authors, with a number or a word of difference, stay below it."""


class Known(Record):
    """A paper of the release."""

    id: str
    title: str
    repository: str


@cache
def known_papers() -> tuple[Known, ...]:
    """The papers of the released data set."""
    return tuple(
        Known(id=f"{each.venue}/{each.id}", title=each.title, repository=repository_in(each.url))
        for each in released_papers().values()
    )


def in_benchmark(candidate: Candidate, known: Sequence[Known] | None = None) -> str:
    """The release's paper that the candidate is, by repository or title; empty when it is none."""
    for each in known_papers() if known is None else known:
        if candidate.repository and candidate.repository == each.repository:
            return each.id
        if likeness(candidate.title, each.title) >= ALIKE:
            return each.id
    return ""


def twin(candidate: Candidate, others: Sequence[Candidate]) -> str:
    """The title of an earlier candidate that is the same paper by a slightly different title."""
    return next(
        (each.title for each in others if likeness(candidate.title, each.title) >= ALIKE), ""
    )


def likeness(one: str, other: str) -> float:
    """How alike two titles are, from 0 to 1; 0 where their lengths alone keep them below :data:`ALIKE`."""
    first, second = _runs(one), _runs(other)
    small, large = sorted((len(first), len(second)))
    if small < ALIKE * large:
        return 0.0
    return len(first & second) / len(first | second)


@cache
def _runs(title: str) -> frozenset[str]:
    plain = plain_title(title)
    return frozenset(plain[at : at + 3] for at in range(max(1, len(plain) - 2)))
