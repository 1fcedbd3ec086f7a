"""A repository's submodules, put into its tree as plain folders.

A submodule stands in a tree as the bare id of a commit of another repository; its address is text in
``.gitmodules``, written by a stranger. Here every address becomes an https one or is refused, the
recorded commit is brought, and its tree takes the place of the bare id. Only the folders on the way to
a submodule are written anew, so that the result depends on nothing but the commits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from expbench.errors import RepositoryError
from expbench.schema import Record
from expbench.workspace.repository.git import GitError, git, split_z
from expbench.workspace.repository.tree import SUBMODULE

MAX_DEPTH = 5
"""Submodules in submodules."""
MAX_SUBMODULES = 50
"""Of one repository; a tree of ids costs its author nothing."""

_SCP_FORM = re.compile(r"(?:[\w.+-]+@)?([\w.-]+):(?!//)/?(.+)")
_URL_FORM = re.compile(
    r"(?:https|http|git|ssh|git\+ssh|ssh\+git)://(?:[\w.+-]+@)?([\w.-]+)(:\d+)?/(.+)"
)
_PATH_PART = re.compile(r"(?!\.{1,2}$)[\w.+~-]+")


class Submodule(Record):
    """A submodule that is part of the tree: path, https address and recorded commit."""

    path: str
    url: str
    commit: str


class SubmoduleError(RepositoryError):
    """A submodule cannot be had; ``path`` says which, the cause why."""

    def __init__(self, path: str, cause: RepositoryError) -> None:
        super().__init__(f"Submodule {path} cannot be had: {cause}")
        self.path = path


@dataclass
class Vendored:
    """A tree with its submodules as folders; ``unresolved`` are ids that no address belongs to."""

    tree: str
    submodules: list[Submodule] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)


Bring = Callable[[Submodule], None]
"""Puts the submodule's commit into the repository at work, or raises RepositoryError."""


def vendor(git_dir: Path, commit: str, url: str, bring: Bring) -> Vendored:
    """The commit's tree with every submodule's files in their place, written to ``git_dir``.

    Args:
        url: the repository's own address, which relative addresses start from.

    Raises:
        SubmoduleError: a submodule cannot be had.
        RepositoryError: they nest too deeply or are too many.
    """
    found = Vendored("")
    found.tree = _vendor(_Work(git_dir, bring, found), commit, url, "", 0)
    return found


@dataclass(frozen=True)
class _Work:
    git_dir: Path
    bring: Bring
    found: Vendored


def _vendor(work: _Work, commit: str, url: str, prefix: str, depth: int) -> str:
    tree = git(["rev-parse", f"{commit}^{{tree}}"], git_dir=work.git_dir).decode().strip()
    links = _links(work.git_dir, tree)
    if not links:
        return tree
    addresses = _addresses(work.git_dir, tree)
    for path, recorded in links:
        place = f"{prefix}{path.decode('utf-8', 'backslashreplace')}"
        address = addresses.get(path)
        if address is None:
            work.found.unresolved.append(place)
            continue
        if len(work.found.submodules) >= MAX_SUBMODULES or depth >= MAX_DEPTH:
            raise RepositoryError(f"{url} has more submodules than can be right: {place} and on.")
        try:
            part = Submodule(path=place, url=https_address(address, url), commit=recorded)
            work.bring(part)
        except RepositoryError as error:
            raise SubmoduleError(place, error) from error
        work.found.submodules.append(part)
        inner = _vendor(work, recorded, part.url, f"{place}/", depth + 1)
        tree = _graft(work.git_dir, tree, path.split(b"/"), inner)
    return tree


def https_address(address: str, base: str) -> str:
    """The https form of a submodule's address, relative ones taken from ``base`` (R39).

    Raises:
        RepositoryError: it has none: a path of this machine, a command, a file address.
    """
    given = address
    if address.startswith(("./", "../")):
        root = base.rstrip("/")
        while address.startswith(("./", "../")):
            if address.startswith("../"):
                root = root.rpartition("/")[0]
            address = address.partition("/")[2]
        address = f"{root}/{address}"
    match = _URL_FORM.fullmatch(address)
    if match:
        host, port, path = match.groups()
        port = port if port and address.startswith("https://") else ""
    elif match := _SCP_FORM.fullmatch(address):
        host, port, path = match.group(1), "", match.group(2)
    else:
        raise RepositoryError(f"its address {given!r} has no https form.")
    parts = path.rstrip("/").split("/")
    if host.startswith("-") or not all(_PATH_PART.fullmatch(part) for part in parts):
        raise RepositoryError(f"its address {given!r} has no https form.")
    return f"https://{host}{port}/{'/'.join(parts)}"


def _links(git_dir: Path, tree: str) -> list[tuple[bytes, str]]:
    """(path, commit) of every submodule, in git's order."""
    output = git(["ls-tree", "-r", "-z", "--full-tree", tree], git_dir=git_dir)
    found = []
    for record in split_z(output):
        facts, _, path = record.partition(b"\t")
        mode, _, oid = facts.decode().split()
        if mode == SUBMODULE:
            found.append((path, oid))
    return found


def _addresses(git_dir: Path, tree: str) -> dict[bytes, str]:
    """Address by path, as ``.gitmodules`` gives them. Read by git, whose includes are off here."""
    try:
        listing = git(
            ["config", "--no-includes", "--blob", f"{tree}:.gitmodules", "--null", "--list"],
            git_dir=git_dir,
        )
    except GitError:
        return {}
    modules: dict[bytes, dict[bytes, bytes]] = {}
    for record in split_z(listing):
        key, _, value = record.partition(b"\n")
        section, _, rest = key.partition(b".")
        name, _, variable = rest.rpartition(b".")
        if section == b"submodule":
            modules.setdefault(name, {})[variable] = value
    return {
        each[b"path"]: os.fsdecode(each[b"url"])
        for each in modules.values()
        if b"path" in each and b"url" in each
    }


def _graft(git_dir: Path, tree: str, path: list[bytes], inner: str) -> str:
    """The tree with the submodule at ``path`` replaced by the tree ``inner``."""
    records = list(split_z(git(["ls-tree", "-z", tree], git_dir=git_dir)))
    for index, record in enumerate(records):
        facts, _, name = record.partition(b"\t")
        mode, kind, oid = facts.decode().split()
        if name != path[0]:
            continue
        if len(path) == 1 and mode == SUBMODULE:
            oid = inner
        elif len(path) > 1 and kind == "tree":
            oid = _graft(git_dir, oid, path[1:], inner)
        else:
            continue
        records[index] = f"040000 tree {oid}\t".encode() + name
        break
    listing = b"".join(record + b"\0" for record in records)
    return git(["mktree", "-z", "--missing"], git_dir=git_dir, stdin=listing).decode().strip()
