"""Which web addresses lead to the paper, to its code, or to other people's copies of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
)
"""Hosts of papers, their reviews and their metadata; subdomains count."""

_PAPER_PATHS = ("huggingface.co/papers", "huggingface.co/api/papers")
_RAW_HOSTS = ("raw.githubusercontent.com", "codeload.github.com", "gitcode.com", "gitee.com")
_CODE_HOSTS = named(
    "github.com api.github.com raw.githubusercontent.com codeload.github.com gitlab.com "
    "bitbucket.org gitee.com codeberg.org huggingface.co sourcegraph.com cdn.jsdelivr.net "
    "ghproxy.com gitcode.com"
)
_HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?([\w.-]+)(?::\d+)?(?:[/:](.*))?", re.DOTALL)
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Project:
    """The paper of a task: the name of its repository, and its title's words."""

    owner: str = ""
    name: str = ""
    title: tuple[str, ...] = ()

    @classmethod
    def of(cls, task: ResearchTask) -> Project:
        """The project of a task; a tree that ships with the suite has no owner."""
        host, path = split_url(task.repository.url)
        parts = [part for part in path.removesuffix(".git").split("/") if part]
        owner, name = (parts[0], parts[1]) if host in _CODE_HOSTS and len(parts) > 1 else ("", "")
        return cls(owner.lower(), name.lower(), tuple(words(task.title)))

    def is_same(self, url: str) -> bool:
        """Whether an address is the repository, a fork of it (any owner), or a file in one."""
        host, path = split_url(url)
        if not self.name or host not in _CODE_HOSTS:
            return False
        parts = [p.removesuffix(".git") for p in re.split(r"[/@?#]", path.lower()) if p]
        return self.name in parts[:6]

    def is_package(self, requirement: str) -> bool:
        """Whether a pip requirement names the package that the repository itself publishes."""
        bare = re.split(r"[=<>!~\[; @]", requirement.lower(), maxsplit=1)[0]
        plain = re.sub(r"[-_.]+", "-", bare)
        return bool(self.name) and plain == re.sub(r"[-_.]+", "-", self.name)

    def is_titled(self, text: str) -> bool:
        """Whether a text holds four fifths of the title's words; short titles never count."""
        found = set(words(unquote_plus(text[:20_000])))
        long = [word for word in self.title if len(word) > 2]
        return len(long) >= 3 and sum(word in found for word in long) >= 0.8 * len(long)


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
    return any(p in whole for p in _PAPER_PATHS) or any(
        f"://{h}" in inner or f"site:{h}" in inner for h in PAPER_HOSTS
    )


def is_raw_code(url: str) -> bool:
    """Whether an address is on a host of raw source files."""
    return split_url(url)[0] in _RAW_HOSTS
