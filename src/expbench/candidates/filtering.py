"""Filtering and ranking: which candidates pass, which fell out at which filter and why, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from scipy.stats import rankdata

from expbench.candidates.difficulty import Difficulty
from expbench.candidates.duplicates import in_benchmark, twin
from expbench.candidates.record import Candidate
from expbench.schema import Record

UNKNOWN = "unknown"
_GPU_SIDES = {0: 1, 1: 2, 4: 3, 8: 4}
"""Levels of the difficulty record by the most GPUs that are to be had."""


class Filters(Record):
    """What a candidate must be. A bound of ``None`` is no filter; what is unknown fails a filter that is
    set, unless ``keep_unknown``. ``level`` is the hardest side of the difficulty record, ``gpus`` GPUs."""

    venues: tuple[str, ...] = ()
    since_year: int | None = None
    citations: int | None = None
    stars: int | None = None
    forks: int | None = None
    pushed_since: date | None = None
    licences: tuple[str, ...] = ()
    size_mb: float | None = None
    gpus: int | None = None
    level: int | None = None
    archived: bool = False
    """Whether archived repositories are taken."""
    keep_unknown: bool = False


class Fate(Record):
    """One candidate: passed with its rank from 1, or the filter at which it fell out and why."""

    candidate: Candidate
    difficulty: Difficulty = Difficulty()
    filter: str = ""
    why: str = ""
    rank: int | None = None
    score: float | None = None
    """Mean of its percentiles by citations, stars and forks among those that passed, in [0, 1]."""

    @property
    def passed(self) -> bool:
        """Whether every filter let it through."""
        return not self.filter


class Step(Record):
    """One filter: how many came to it, and how many it let through."""

    name: str
    came: int
    passed: int


class Selection(Record):
    """What became of every candidate; those that passed first, by rank."""

    fates: tuple[Fate, ...]
    steps: tuple[Step, ...]

    @property
    def selected(self) -> tuple[Fate, ...]:
        """Those that passed, by rank."""
        return tuple(each for each in self.fates if each.passed)


@dataclass(frozen=True)
class _Filter:
    name: str
    refusal: Callable[[Candidate, Difficulty], str]
    """Why it does not pass; empty when it does."""


def select(
    candidates: Sequence[Candidate], difficulties: Mapping[str, Difficulty], filters: Filters
) -> Selection:
    """Pass candidates through the filters, one after the other, and rank what is left.

    Args:
        difficulties: by the candidates' titles.
    """
    left = [(each, difficulties.get(each.title, Difficulty())) for each in candidates]
    out: list[Fate] = []
    steps: list[Step] = []
    for one in (*_sieves(filters), _twins()):
        came, kept = len(left), []
        for candidate, difficulty in left:
            if why := one.refusal(candidate, difficulty):
                out.append(
                    Fate(candidate=candidate, difficulty=difficulty, filter=one.name, why=why)
                )
            else:
                kept.append((candidate, difficulty))
        left = kept
        steps.append(Step(name=one.name, came=came, passed=len(left)))
    return Selection(fates=(*_ranked(left), *out), steps=tuple(steps))


def _ranked(left: Sequence[tuple[Candidate, Difficulty]]) -> list[Fate]:
    columns = [
        [getattr(candidate, name) for candidate, _ in left]
        for name in ("citations", "stars", "forks")
    ]
    percentiles = [_percentiles(column) for column in columns]
    scores = [sum(each) / len(each) for each in zip(*percentiles, strict=True)] if left else []
    order = sorted(range(len(left)), key=lambda at: (-scores[at], left[at][0].title))
    return [
        Fate(candidate=left[at][0], difficulty=left[at][1], rank=rank, score=scores[at])
        for rank, at in enumerate(order, 1)
    ]


def _percentiles(values: Sequence[int | None]) -> list[float]:
    """The share of the others that are below, ties by half; the unknown are at the bottom."""
    if len(values) < 2:
        return [1.0] * len(values)
    ranks = rankdata([-1 if value is None else value for value in values])
    return [(float(rank) - 1) / (len(values) - 1) for rank in ranks]


def _sieves(filters: Filters) -> Iterator[_Filter]:
    yield _Filter("already in the benchmark", lambda c, _: _named("it is", in_benchmark(c)))
    yield _Filter("has a repository", lambda c, _: "" if c.repository else "no repository is known")
    if not filters.archived:
        yield _Filter(
            "not archived", lambda c, _: "the repository is archived" if c.archived else ""
        )
    if filters.venues:
        yield _Filter("venue", lambda c, _: _venue(c, filters))
    yield from (
        _at_least(name, value, filters.keep_unknown)
        for name, value in (
            ("year", filters.since_year),
            ("citations", filters.citations),
            ("stars", filters.stars),
            ("forks", filters.forks),
        )
        if value is not None
    )
    if filters.pushed_since is not None:
        yield _Filter("activity", lambda c, _: _activity(c, filters))
    if filters.licences:
        yield _Filter("licence", lambda c, _: _licence(c, filters))
    if filters.size_mb is not None:
        yield _Filter(
            "size", lambda c, _: _most(c.size_mb, filters.size_mb, "MB", filters.keep_unknown)
        )
    if filters.gpus is not None:
        most = max(lv for number, lv in _GPU_SIDES.items() if number <= filters.gpus)
        yield _Filter("GPUs", lambda _, d: _gpus(d, 5 if (filters.gpus or 0) > 8 else most))
    if filters.level is not None:
        yield _Filter(
            "difficulty", lambda _, d: _most(d.level, filters.level, "", filters.keep_unknown)
        )


def _twins() -> _Filter:
    """The last filter: it remembers what it let through."""
    kept: list[Candidate] = []

    def refusal(candidate: Candidate, _: Difficulty) -> str:
        why = _named("the same as", twin(candidate, kept))
        if not why:
            kept.append(candidate)
        return why

    return _Filter("not twice", refusal)


def _named(what: str, name: str) -> str:
    return f"{what} {name}" if name else ""


def _at_least(name: str, least: int, keep_unknown: bool) -> _Filter:
    def refusal(candidate: Candidate, _: Difficulty) -> str:
        value = getattr(candidate, name)
        if value is None:
            return "" if keep_unknown else UNKNOWN
        return "" if value >= least else f"{value}, wanted {least}"

    return _Filter(name, refusal)


def _most(value: float | None, most: float | None, unit: str, keep_unknown: bool) -> str:
    if value is None or most is None:
        return "" if keep_unknown or most is None else UNKNOWN
    return "" if value <= most else f"{value:g} {unit}".strip() + f", at most {most:g}"


def _venue(candidate: Candidate, filters: Filters) -> str:
    if not candidate.venue:
        return "" if filters.keep_unknown else UNKNOWN
    words = candidate.venue.lower()
    return "" if any(each.lower() in words for each in filters.venues) else candidate.venue


def _activity(candidate: Candidate, filters: Filters) -> str:
    if not candidate.pushed:
        return "" if filters.keep_unknown else UNKNOWN
    try:
        last = date.fromisoformat(candidate.pushed[:10])
    except ValueError:
        return f"{candidate.pushed!r} is no day"
    return (
        "" if filters.pushed_since is None or last >= filters.pushed_since else f"last push {last}"
    )


def _licence(candidate: Candidate, filters: Filters) -> str:
    if not candidate.licence:
        return "" if filters.keep_unknown else "no licence is known"
    wanted = {each.lower() for each in filters.licences}
    return "" if candidate.licence.lower() in wanted else candidate.licence


def _gpus(difficulty: Difficulty, most: int) -> str:
    """A README that says nothing of GPUs passes: most that need several say so."""
    sign = difficulty.of("gpus")
    return "" if sign is None or sign.level <= most else sign.quote
