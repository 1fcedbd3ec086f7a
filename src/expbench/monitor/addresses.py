"""Which web addresses lead to the paper, to its code, or to other people's copies of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import unquote_plus

from expbench.monitor.programs import named
from expbench.schema import ResearchTask

PAPER_HOSTS = (
    "arxiv.org",
    "ar5iv.org",
    "alphaxiv.org",
    "openreview.net",
    "semanticscholar.org",
    "paperswithcode.com",
    "papers.nips.cc",
    "proceedings.neurips.cc",
    "neurips.cc",
    "nips.cc",
    "iclr.cc",
    "icml.cc",
    "proceedings.mlr.press",
    "jmlr.org",
    "openaccess.thecvf.com",
    "aclanthology.org",
    "dl.acm.org",
    "ieeexplore.ieee.org",
    "link.springer.com",
    "sciencedirect.com",
    "biorxiv.org",
    "scholar.google.com",
    "scholar.archive.org",
    "researchgate.net",
    "connectedpapers.com",
    "catalyzex.com",
    "paperdigest.org",
    "sci-hub.se",
    "dblp.org",
    "doi.org",
    "crossref.org",
    "openalex.org",
    "core.ac.uk",
    "annas-archive.org",
    "libgen.is",
    "scirate.com",
)
"""Hosts of papers, their reviews and their metadata; subdomains count."""

_PAPER_PATHS = ("huggingface.co/papers", "huggingface.co/api/papers")
_PASSES_ON = ("://", "site:", "cache:", "/http/", "=", "://www.", "=www.")
"""What stands before an address that another one is asked for."""
_IDENTIFIED = re.compile(
    r"/(?:abs|pdf|html|arxiv|papers?|e-print|ps|format)/[012]\d(?:0[1-9]|1[012])\.\d{4,5}\b"
)
"""An identifier of arXiv's in an address, whichever host has it."""
_RAW_HOSTS = ("raw.githubusercontent.com", "codeload.github.com", "gitcode.com", "gitee.com")
_CODE_HOSTS = named(
    "github.com api.github.com raw.githubusercontent.com codeload.github.com gitlab.com "
    "bitbucket.org gitee.com codeberg.org huggingface.co sourcegraph.com cdn.jsdelivr.net "
    "ghproxy.com gitcode.com"
)
_SEARCH_ENGINES = re.compile(
    r"(?:^|\.)(?:duckduckgo|google|bing|yandex|baidu|yahoo|ecosia|qwant|startpage|mojeek|kagi|brave|you|"
    r"perplexity|searx\w*|searxng|sogou|naver|ask|metager|swisscows|presearch|serpapi|serper|tavily|exa)"
    r"(?:\.[a-z]{2,6}){1,2}$"
)
_HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?([\w.-]+)(?::\d+)?(?:[/:](.*))?", re.DOTALL)
_WORD = re.compile(r"[a-z0-9]+")
_AFFIXES = re.compile(
    r"(?:python3?|py|lib)?(.{3,}?)(?:python|py|js|cpu|gpu|nightly|dev|torch|pytorch)?"
)
_ARCHIVE = re.compile(
    r"([A-Za-z][\w.-]{1,80}?)[-_]v?\d[\w.+-]{0,80}?\.(?:tar\.\w+|tgz|whl|zip|egg|conda|deb)$"
)
_LIBRARY = re.compile(r"`([A-Za-z]\w{2,40})`(?:'s)? (?:library|package|code ?base|repository)")
_COMMON = named(
    """
    analysis app apps baseline baselines bench benchmark benchmarks bin client code common conf
    config configs core data data_process dataset datasets demo detection docs e2e egs eval
    evaluation example examples exp experiment experiments lib libs main method methods model
    models modules network notebook notebooks project projects research results run runs scripts
    segmentation server source src submodules task tasks test tests third_party tools train
    training utils vendor zoo
    """
)


@dataclass(frozen=True)
class Project:
    """The paper of a task: the name of its repository, and its title's words.

    ``packages`` are the names that its distribution may have, in the form of :func:`plain_name`.
    """

    owner: str = ""
    name: str = ""
    title: tuple[str, ...] = ()
    packages: frozenset[str] = frozenset()

    @classmethod
    def of(cls, task: ResearchTask) -> Project:
        """The project of a task; a tree that ships with the suite has no owner."""
        host, path = split_url(task.repository.url)
        parts = [part for part in path.removesuffix(".git").split("/") if part]
        owner, name = (parts[0], parts[1]) if host in _CODE_HOSTS and len(parts) > 1 else ("", "")
        project = cls(owner.lower(), name.lower(), tuple(words(task.title)))
        return project.known_as([name, *_imported_as(task.mask)])

    def known_as(self, names: Iterable[str]) -> Project:
        """The same project, with further names of its distribution."""
        plain = {plain_name(name) for name in names if name.lower() not in _COMMON}
        return replace(self, packages=self.packages | (plain - {""}))

    def is_same(self, url: str) -> bool:
        """Whether an address is the repository, a fork of it (any owner), or a file in one."""
        host, path = split_url(url)
        if self.owner and f"{self.owner}/{self.name}" in unquote_plus(path).lower():
            return True
        if host not in _CODE_HOSTS:
            return False
        parts = [p.removesuffix(".git") for p in re.split(r"[/@?#]", path.lower()) if p]
        own = any(plain_name(part) in self.packages for part in parts[1:2])
        return own or (bool(self.name) and self.name in parts[:6])

    def is_named_in(self, asked: Iterable[str]) -> bool:
        """Whether one of some words is the project's name, or that of its package."""
        return any(word == self.name or plain_name(word) in self.packages for word in asked)

    def is_package(self, requirement: str) -> bool:
        """Whether a requirement (``name[extra]==1.0``) names the package of the repository."""
        bare = re.split(r"[=<>!~\[; @]", requirement.strip().lower(), maxsplit=1)[0]
        return plain_name(bare) in self.packages

    def is_archive(self, path: str) -> bool:
        """Whether a file or address is a distribution of that package (``name-1.0.tar.gz``)."""
        match = _ARCHIVE.fullmatch(
            path.partition("#")[0].partition("?")[0].rpartition("/")[2][:200]
        )
        return match is not None and self.is_package(match[1])

    def is_titled(self, text: str) -> bool:
        """Whether a text holds four fifths of the title's words; short titles never count."""
        found = set(words(unquote_plus(text[:20_000])))
        long = [word for word in self.title if len(word) > 2]
        return len(long) >= 3 and sum(word in found for word in long) >= 0.8 * len(long)


def plain_name(name: str) -> str:
    """A package's name without case, separators and what republished packages add to one."""
    squashed = "".join(_WORD.findall(name.lower().rpartition("/")[2]))
    match = _AFFIXES.fullmatch(squashed)
    return match[1] if match else squashed


def _imported_as(mask: Iterable[str]) -> Iterator[str]:
    """The top-level packages of masked Python files."""
    for path in mask:
        parts = PurePosixPath(path).parts
        inner = [part for part in parts[:-1] if part not in {"src", "lib", "python"}]
        if path.endswith(".py") and inner:
            yield inner[0]


def told(task: ResearchTask) -> list[str]:
    """Libraries that the task's prompt names; the workspace's own one may be among them."""
    view = task.prompt_view()
    return list(dict.fromkeys(_LIBRARY.findall(f"{view.method}\n{view.instructions}"[:50_000])))


def words(text: str) -> list[str]:
    """Lower-case words of letters and digits."""
    return _WORD.findall(text.lower())


def split_url(url: str) -> tuple[str, str]:
    """Host (lower case, without ``www.``) and path of an address; scp-like ones too."""
    match = _HOST.match(url.strip()[:2000])
    if match is None or "." not in match[1]:
        return "", ""
    return match[1].lower().removeprefix("www."), match[2] or ""


def is_paper(url: str) -> bool:
    """Whether an address is on a host of papers, or passes one to a reader service."""
    host, path = split_url(url)
    if any(host == known or host.endswith("." + known) for known in PAPER_HOSTS):
        return True
    whole = f"{host}/{path}".lower()
    inner = unquote_plus(whole)
    if host.startswith("sci-hub.") or _IDENTIFIED.search(inner):
        return True
    return any(p in whole for p in _PAPER_PATHS) or any(
        f"{mark}{h}" in inner or f"/{h}/" in inner for h in PAPER_HOSTS for mark in _PASSES_ON
    )


def is_search_engine(url: str) -> bool:
    """Whether an address is one of a web search, with or without its question."""
    host = split_url(url)[0]
    return _SEARCH_ENGINES.search(host) is not None and host not in {"drive.google.com"}


def is_raw_code(url: str) -> bool:
    """Whether an address is on a host of raw source files."""
    return split_url(url)[0] in _RAW_HOSTS
