"""One paper that tasks could be made from, as far as it is known."""

from __future__ import annotations

import re
import unicodedata

from expbench.schema import Record

_REPOSITORY = re.compile(r"github\.com[/:]([\w.-]+)/([\w.-]+)")


class Candidate(Record):
    """A paper with its repository. ``None`` is what is not known; it never counts as zero.

    ``repository`` is ``owner/name``; ``pushed`` the day of the last push (ISO 8601); ``size_mb`` the
    repository's size in megabytes; ``licence`` an SPDX id in lower case; ``sources`` name where it was read.
    """

    title: str
    venue: str = ""
    year: int | None = None
    paper_url: str = ""
    arxiv: str = ""
    repository: str = ""
    citations: int | None = None
    stars: int | None = None
    forks: int | None = None
    pushed: str = ""
    licence: str = ""
    size_mb: float | None = None
    archived: bool | None = None
    language: str = ""
    abstract: str = ""
    readme: str = ""
    sources: tuple[str, ...] = ()


def repository_in(text: str) -> str:
    """The first repository that a text names, as ``owner/name`` in lower case; empty where it names none."""
    found = _REPOSITORY.search(text)
    if not found:
        return ""
    name = found[2].rstrip(".-").removesuffix(".git")
    return f"{found[1]}/{name}".lower() if name else ""


def plain_title(title: str) -> str:
    """A title without case, accents, signs and spaces more than one: equal for the same paper."""
    decomposed = unicodedata.normalize("NFKD", title)
    letters = "".join(each for each in decomposed if not unicodedata.combining(each))
    return " ".join(re.findall(r"[a-z0-9]+", letters.lower()))
