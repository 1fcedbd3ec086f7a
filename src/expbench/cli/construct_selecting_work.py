"""What ``expbench construct select`` does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from expbench.candidates import (
    Candidate,
    Filters,
    GitHub,
    OpenReview,
    Scholar,
    Selection,
    difficulty_of,
    merged,
    read_candidates,
    select,
)
from expbench.candidates.clients import Service
from expbench.candidates.figure import write_page
from expbench.errors import UserError
from expbench.runs import write_atomically

_ROWS = 30


@dataclass(frozen=True)
class Asked:
    """What the command was asked for; ``services`` are tokens and addresses by the services' names."""

    files: tuple[Path, ...]
    openreview: str
    scholar: str
    enrich: bool
    most: int
    clones: Path | None
    filters: Filters
    out: Path | None
    page: Path | None
    services: Mapping[str, str]


def select_and_show(asked: Asked, as_json: bool) -> int:
    """Read, ask, filter, rank and tell. Raises UserError."""
    if not (asked.files or asked.openreview or asked.scholar):
        raise UserError("Name where candidates come from: --from FILE, --openreview or --scholar.")
    if asked.clones is not None and not asked.clones.is_dir():
        raise UserError(f"{asked.clones} is no folder: --clones wants one that holds clones.")
    console = Console(stderr=True)
    candidates = merged([*_read(asked.files), *_listed(asked)])
    if asked.enrich:
        candidates = merged(_enriched(candidates, asked, console))
    difficulties = {
        each.title: difficulty_of(each, _clone(each, asked.clones)) for each in candidates
    }
    selection = select(candidates, difficulties, asked.filters)
    _write(asked, selection)
    if as_json:
        print(selection.model_dump_json())  # noqa: T201
    else:
        _show(selection, asked, Console())
    return 0


def _read(files: Iterable[Path]) -> Iterator[Candidate]:
    for file in files:
        yield from read_candidates(file)


def _listed(asked: Asked) -> Iterator[Candidate]:
    services = _services(asked.services)
    if asked.openreview:
        yield from services.openreview.papers(asked.openreview, asked.most)
    if asked.scholar:
        filters = asked.filters
        venue = ",".join(filters.venues)
        year = f"{filters.since_year}-" if filters.since_year else ""
        found = services.scholar.papers(asked.scholar, venue, year, asked.most)
        yield from itertools.islice(found, asked.most)


@dataclass(frozen=True)
class _Services:
    openreview: OpenReview
    scholar: Scholar
    github: GitHub


def _services(given: Mapping[str, str]) -> _Services:
    """The services, with the user's tokens, at the addresses that the user gave instead of theirs."""

    def at(name: str, usual: Service, headers: Mapping[str, str]) -> Service:
        return Service(given.get(f"{name}_url", usual.address).rstrip("/"), headers)

    token, key = given.get("github_token", ""), given.get("scholar_key", "")
    return _Services(
        OpenReview(at("openreview", OpenReview().service, {})),
        Scholar(at("scholar", Scholar().service, {"x-api-key": key} if key else {})),
        GitHub(
            at("github", GitHub().service, {"Authorization": f"Bearer {token}"} if token else {})
        ),
    )


def _enriched(
    candidates: Sequence[Candidate], asked: Asked, console: Console
) -> Iterator[Candidate]:
    """Each candidate, and after it what the services know of it."""
    services = _services(asked.services)
    shown = track(
        candidates, "asking", console=console, transient=True, disable=not console.is_terminal
    )
    for each in shown:
        yield each
        paper = services.scholar.paper(each.title) if _lacks_citations(each) else None
        if paper is not None:
            yield paper.model_copy(update={"title": each.title})
        lacks = each.repository and each.stars is None
        found = services.github.repository(each.repository) if lacks else None
        if found is not None:
            yield found.model_copy(update={"repository": each.repository})


def _lacks_citations(candidate: Candidate) -> bool:
    return candidate.citations is None and candidate.sources != ("github",)


def _clone(candidate: Candidate, clones: Path | None) -> Path | None:
    if clones is None or not candidate.repository:
        return None
    name = candidate.repository.rpartition("/")[2]
    places: Callable[[Path], bool] = Path.is_dir
    return next(filter(places, (clones / candidate.repository, clones / name)), None)


def _write(asked: Asked, selection: Selection) -> None:
    try:
        if asked.out is not None:
            lines = [f"{each.model_dump_json()}\n" for each in selection.selected]
            write_atomically(asked.out, "".join(lines).encode())
        if asked.page is not None:
            write_page(selection, asked.page)
    except OSError as error:
        raise UserError(f"{error.filename or asked.out} cannot be written: {error}.") from None


def _show(selection: Selection, asked: Asked, console: Console) -> None:
    funnel = Table(title="Filters", title_justify="left")
    funnel.add_column("filter")
    for name in ("came", "passed"):
        funnel.add_column(name, justify="right")
    for step in selection.steps:
        funnel.add_row(step.name, str(step.came), str(step.passed))
    console.print(funnel)
    table = Table(title="Passed, by rank", title_justify="left")
    for name in ("paper", "repository", "cited", "stars", "forks", "difficulty"):
        table.add_column(name, justify="right" if name in ("cited", "stars", "forks") else "left")
    for fate in selection.selected[:_ROWS]:
        each = fate.candidate
        level = fate.difficulty.level
        table.add_row(
            Text(each.title),
            Text(each.repository),
            *(("–" if v is None else str(v)) for v in (each.citations, each.stars, each.forks)),
            "–" if level is None else str(level),
        )
    if (left := len(selection.selected) - _ROWS) > 0:
        table.caption = f"{left} more"
    console.print(table)
    for file in filter(None, (asked.out, asked.page)):
        console.print(f"Written: {file}", soft_wrap=True, highlight=False, markup=False)
