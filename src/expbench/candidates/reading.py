"""Candidates from files: JSON lines of our own, and what OpenReview, Semantic Scholar and GitHub export.

The kind of a file is told from what is in it. Records of the same paper, or of a paper and its repository,
become one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from expbench.candidates.record import Candidate, plain_title, repository_in
from expbench.errors import DataError

MOST_BYTES = 512 * 1024 * 1024
_CODE_FIELDS = ("code", "code_url", "software", "supplementary_code", "github", "repository")


def read_candidates(file: Path) -> list[Candidate]:
    """All candidates of one export.

    Raises:
        DataError: it cannot be read, or a record is of no known kind; with its place.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            raise DataError(f"{file} is larger than {MOST_BYTES >> 20} MiB: split it.")
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}.") from None
    found = []
    for place, given in _records(text, file):
        candidate = candidate_of(given)
        if candidate is None:
            raise DataError(
                f"{file}, {place}: no paper of OpenReview or Semantic Scholar, no repository of GitHub, and "
                "no candidate with a title."
            )
        found.append(candidate)
    return found


def _records(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each record with its place, of a JSON document or of JSON lines."""
    try:
        whole = json.loads(text)
    except ValueError:
        yield from _lines(text, file)
        return
    if isinstance(whole, dict):
        inside = next((whole[k] for k in ("notes", "data", "items") if k in whole), [whole])
    else:
        inside = whole
    if not isinstance(inside, list):
        raise DataError(f"{file}: no list of papers or repositories.")
    for number, each in enumerate(inside, 1):
        if not isinstance(each, dict):
            raise DataError(f"{file}, record {number}: no JSON object.")
        yield f"record {number}", each


def _lines(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except ValueError as error:
            raise DataError(f"{file}, line {number}: no JSON ({error}).") from None
        if not isinstance(given, dict):
            raise DataError(f"{file}, line {number}: no JSON object.")
        yield f"line {number}", given


def candidate_of(given: Mapping[str, Any]) -> Candidate | None:
    """One record of any of the four kinds; ``None`` for what is none of them."""
    try:
        if isinstance(given.get("candidate"), dict):  # a line of an earlier selection
            return Candidate.model_validate(given["candidate"])
        if isinstance(given.get("content"), dict):
            return _openreview(given)
        if "full_name" in given:
            return _github(given)
        if "paperId" in given or "externalIds" in given:
            return _scholar(given)
        return Candidate.model_validate({**given, "sources": given.get("sources") or ("file",)})
    except (ValidationError, TypeError, ValueError, AttributeError):
        return None


def _openreview(note: Mapping[str, Any]) -> Candidate:
    """A note of the API, version 2 (fields hold their value below ``value``) or 1."""
    content = note["content"]

    def value(name: str) -> str:
        found = content.get(name, "")
        found = found.get("value", "") if isinstance(found, dict) else found
        return found if isinstance(found, str) else ""

    abstract = value("abstract")
    code = " ".join(map(value, _CODE_FIELDS))
    venue = value("venue") or value("venueid")
    forum = str(note.get("forum") or note.get("id") or "")
    return Candidate(
        title=_title(value("title")),
        venue=venue,
        year=_year(venue),
        paper_url=f"https://openreview.net/pdf?id={forum}" if forum else "",
        repository=repository_in(f"{code} {abstract}"),
        abstract=abstract,
        sources=("openreview",),
    )


def _scholar(paper: Mapping[str, Any]) -> Candidate:
    """A paper of the Graph API."""
    ids = paper.get("externalIds") or {}
    access = paper.get("openAccessPdf") or {}
    abstract = paper.get("abstract") or ""
    return Candidate(
        title=_title(paper["title"]),
        venue=paper.get("venue") or "",
        year=paper.get("year"),
        paper_url=access.get("url") or "",
        arxiv=ids.get("ArXiv") or "",
        repository=repository_in(abstract),
        citations=paper.get("citationCount"),
        abstract=abstract,
        sources=("semantic scholar",),
    )


def _github(repository: Mapping[str, Any]) -> Candidate:
    """A repository of the REST API; its description stands for the title until a paper is found."""
    licence = (repository.get("license") or {}).get("spdx_id") or ""
    size = repository.get("size")
    about = f"{repository.get('description') or ''} {repository.get('homepage') or ''}"
    return Candidate(
        title=_title((repository.get("description") or "").strip() or repository["full_name"]),
        repository=repository["full_name"].lower(),
        stars=repository.get("stargazers_count"),
        forks=repository.get("forks_count"),
        pushed=(repository.get("pushed_at") or "")[:10],
        licence="" if licence == "NOASSERTION" else licence.lower(),
        size_mb=None if size is None else round(size / 1024, 2),
        archived=repository.get("archived"),
        language=repository.get("language") or "",
        abstract=about.strip(),
        sources=("github",),
    )


def _title(text: str) -> str:
    if not text.strip():
        raise ValueError("no title")
    return " ".join(text.split())


def _year(venue: str) -> int | None:
    numbers = [int(each) for each in venue.replace("/", " ").split() if each.isdecimal()]
    return next((each for each in numbers if 1990 <= each <= 2100), None)


@dataclass
class _Group:
    """Records of one paper, in the order in which they came."""

    members: list[Candidate] = field(default_factory=list)


def merged(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Records of the same title, arXiv id or repository as one, in the order of their first ones.

    What one says and another does not is taken over; of numbers that differ the larger one counts,
    since exports are of different days. A repository that two papers name is theirs both.
    """
    groups: list[_Group] = []
    by_key: dict[str, _Group] = {}
    for each in candidates:
        keys = _keys(each)
        group = next((by_key[key] for key in keys if key in by_key), None)
        if group is None:
            group = _Group()
            groups.append(group)
        group.members.append(each)
        for key in keys:
            by_key.setdefault(key, group)
    return _with_repositories([_one(group.members) for group in groups])


def _keys(each: Candidate) -> list[str]:
    keys = [f"title:{plain_title(each.title)}"]
    if each.arxiv:
        keys.append(f"arxiv:{each.arxiv.partition('v')[0]}")
    return keys


def _one(members: Sequence[Candidate]) -> Candidate:
    found: dict[str, Any] = {}
    for each in members:
        for name, value in each:
            if name == "sources" or value is None or value == "":
                continue
            before = found.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[name] = value if before is None or name == "year" else max(before, value)
            else:
                found.setdefault(name, value)
    sources = tuple(dict.fromkeys(source for each in members for source in each.sources))
    return Candidate(**(found | {"sources": sources}))


def _with_repositories(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Papers with what GitHub says of their repositories; a repository of no paper stays for itself."""
    bare = {each.repository: each for each in candidates if each.sources == ("github",)}
    papers = [each for each in candidates if each.sources != ("github",)]
    used = {each.repository for each in papers if each.repository in bare}
    joined = {
        id(each): _one((each, bare[each.repository])) for each in papers if each.repository in bare
    }
    return [
        joined.get(id(each), each)
        for each in candidates
        if not (each.sources == ("github",) and each.repository in used)
    ]
