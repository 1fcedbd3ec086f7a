"""What no agent may fetch: the paper's own package, its repository and forks, and sites of papers.

Names are compared without case and separators, so that every spelling is one, and without what
republished packages add to a name (``py…``, ``python-…``, ``…-cpu``, ``…-pytorch``). Sites of papers
are refused even when the user allows their host, and so are addresses of the repository where a path
is visible. Behind TLS only a host is: a code host that the user allows by name is let through.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from expbench.monitor.addresses import Project, is_paper
from expbench.schema import ResearchTask

_AFFIXES = re.compile(
    r"(?:python3?|py|lib)?(.{3,}?)(?:python|py|js|cpu|gpu|nightly|dev|torch|pytorch)?"
)
_LEAD = re.compile(r"\s*([^:]{3,40}?)\s*:")
_BRACKETED = re.compile(r"\(([\w.+-]{3,40})\)")
_COINED = re.compile(r".*(?:[A-Z].*[A-Z]|[a-z].*[A-Z]|\d).*")
_VERSION = re.compile(r"[-_](?=v?\d|(?:main|master|latest)\b)")


@dataclass(frozen=True)
class Denied:
    """What is denied. Each method says why, or nothing where there is no objection.

    ``packages`` are names in the form of :func:`core`.
    """

    packages: frozenset[str] = frozenset()
    project: Project = field(default_factory=Project)

    @classmethod
    def of_task(cls, task: ResearchTask, repository_names: Iterable[str] = ()) -> Denied:
        """What a task's agent may not fetch.

        Args:
            repository_names: distributions that the repository itself builds (setup.py, pyproject).
        """
        project = Project.of(task)
        names = [project.name, *repository_names, *coined(task.title)]
        return cls(frozenset(core(name) for name in names if core(name)), project)

    def package(self, name: str) -> str:
        """Why a package may not be had in any index; scoped npm names count with and without scope."""
        bare = name.rpartition("/")[2]
        if {core(name), core(bare)} & self.packages:
            return "It is the paper's own package, or one of its name."
        return ""

    def file(self, name: str) -> str:
        """Why a file of an index may not be had (``name-1.0.tar.gz``, a wheel, ``name_1.0_all.deb``)."""
        plain = decoded(name).rpartition("/")[2]
        for found in _VERSION.finditer(plain):
            if why := self.package(plain[: found.start()]):
                return why
        return self.package(plain.partition(".")[0])

    def host(self, name: str) -> str:
        """Why nothing of a host may be had."""
        if is_paper(name):
            return "It is a site of papers, reviews or paper metadata."
        return ""

    def url(self, address: str) -> str:
        """Why one address may not be had."""
        for text in {address, decoded(address)}:
            if is_paper(text):
                return "It is a site of papers, reviews or paper metadata."
            if self.project.is_same(text):
                return "It is the paper's repository, or a fork of it."
            if self.project.is_titled(text):
                return "It names the paper's title."
        return self.file(decoded(address).partition("?")[0].rstrip("/"))


def core(name: str) -> str:
    """A package's name without case, separators and the affixes of republished packages."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    squashed = "".join(c for c in plain if c.isalnum())
    found = _AFFIXES.fullmatch(squashed)
    return found[1] if found else squashed


def coined(title: str) -> Iterator[str]:
    """The names that a title makes up: what stands before its colon, or in brackets.

    A single word counts if it is spelled like no word (``BERTScore``, ``LLaMA``), or else a paper
    with the title "Attention: …" would deny a package of that name.
    """
    lead = _LEAD.match(title)
    if lead and 2 <= len(lead[1].split()) <= 3:
        yield lead[1]
    for name in [*([lead[1]] if lead else []), *_BRACKETED.findall(title)]:
        if " " not in name and _COINED.fullmatch(name):
            yield name


def decoded(text: str) -> str:
    """A text with its percent signs resolved, however often they were encoded."""
    for _ in range(5):
        plain = unquote(text)
        if plain == text:
            break
        text = plain
    return text
