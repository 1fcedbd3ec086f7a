"""Where the code of a task comes from: one bare repository of ours, at the pinned commit only.

Built beside its final place and renamed there, so that a kill leaves nothing half made and two
processes that want the same repository do not disturb each other. What has its final name is whole:
commit and tree are the ones asked for, every file is there, and the submodules are folders of it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from expbench.dataset.release import known_describe, known_tree
from expbench.errors import InfrastructureError, RepositoryError
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.bringing import bring
from expbench.workspace.repository.contents import (
    Contents,
    lfs_pointers,
    read_contents,
    write_contents,
)
from expbench.workspace.repository.described import Described, describe_address, describe_clone
from expbench.workspace.repository.git import git
from expbench.workspace.repository.leases import hold_repository, take_out
from expbench.workspace.repository.making import once
from expbench.workspace.repository.objects import write_commit
from expbench.workspace.repository.submodules import Submodule, vendor
from expbench.workspace.repository.tree import list_tree
from expbench.workspace.versioning import asks_for_tag

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ATTEMPTS = 10
"""How often a repository is made that `expbench gc` frees before we hold it."""


@dataclass(frozen=True)
class Source:
    """A bare repository and the commit in it that a task starts from.

    ``pin`` is the commit of the paper's repository. ``commit`` differs from it when there are
    submodules: it is ours, with their files in their places. ``described`` is what git's tags say of
    the pin, where that is known. ``lease`` keeps the repository in the store for as long as the object
    lives.
    """

    git_dir: Path
    commit: str
    pin: str = ""
    described: Described | None = None
    lease: BinaryIO | None = field(default=None, repr=False, compare=False)


def from_folder(folder: Path, cache: Path) -> Source:
    """Import a plain folder as a repository with one commit; ``.git`` and caches are left out.

    Raises:
        RepositoryError: the folder does not exist.
    """
    if not folder.is_dir():
        raise RepositoryError(f"{folder} is not a folder with a repository's files.")
    files = _files(folder)
    digest = hashlib.sha256()
    for path, mode, content in files:
        digest.update(b"%s %s %s\0" % (mode, path, hashlib.sha256(content).digest()))

    def build(git_dir: Path) -> None:
        commit = write_commit(git_dir / "objects", files, "import")
        git(["update-ref", "refs/heads/pin", commit], git_dir=git_dir)

    git_dir = cache / f"folder-{digest.hexdigest()[:24]}.git"
    for _ in range(_ATTEMPTS):
        once(git_dir, build)
        if (lease := hold_repository(git_dir)) is not None:
            pin = git(["rev-parse", "refs/heads/pin"], git_dir=git_dir).decode().strip()
            return Source(git_dir, pin, lease=lease)
    raise _taken_away(git_dir)


def from_git(
    address: str,
    commit: str,
    cache: Path,
    *,
    url: str = "",
    tree: str = "",
    clones: Path | None = None,
    network: Mapping[str, str] | None = None,
) -> Source:
    """Fetch exactly one commit by its id from an address or a local clone (R41: never HEAD instead).

    Args:
        url: the repository's public address, when ``address`` is a clone of it.
        tree: the id that the commit's tree must have; empty when it is not known.
        clones: a folder of clones that submodules are taken from, instead of from the network.
        network: variables that tell git about proxies and certificates.

    Raises:
        RepositoryError: the address, the commit, a file of it or a submodule cannot be had.
    """
    if not _COMMIT.fullmatch(commit):
        raise RepositoryError(
            f"{commit!r} is no full commit id, so {address} cannot be pinned to it."
        )
    if (source := stored(commit, cache)) is not None:
        return source
    want = _Want(address, commit, url or address, tree, clones, network or {})
    where = _address(address)
    final = cache / f"git-{commit}.git"
    for _ in range(_ATTEMPTS):
        once(final, lambda git_dir: _build(git_dir, where, want))
        if (source := stored(commit, cache)) is not None:
            return source
    raise _taken_away(final)


def _taken_away(git_dir: Path) -> InfrastructureError:
    return InfrastructureError(f"{git_dir} was taken away or damaged while it was made.")


@dataclass(frozen=True)
class _Want:
    address: str
    commit: str
    url: str
    tree: str
    clones: Path | None
    network: Mapping[str, str]


def _build(git_dir: Path, where: str, want: _Want) -> None:
    """Fill an empty repository with the commit, its submodules and its contents' record."""

    def bring_part(part: Submodule) -> None:
        place = clone_or_address(part.url, want.clones)
        bring(git_dir, place, part.commit, f"submodule/{part.commit}", want.network)

    commit = want.commit
    bring(git_dir, where, commit, "pin", want.network)
    tree = git(["rev-parse", f"{commit}^{{tree}}"], git_dir=git_dir).decode().strip()
    if want.tree and tree != want.tree:
        raise RepositoryError(
            f"Commit {commit} of {want.address} has the tree {tree} where {want.tree} is known: "
            "this is not the repository that the task was made from."
        )
    parts = vendor(git_dir, commit, want.url, bring_part)
    whole = commit if parts.tree == tree else _commit_whole(git_dir, commit, parts.tree)
    files, pointers = lfs_pointers(git_dir, whole)
    contents = Contents(
        url=want.url,
        commit=commit,
        tree=tree,
        whole=whole,
        files=files,
        submodules=tuple(parts.submodules),
        unresolved=tuple(parts.unresolved),
        lfs=pointers,
        described=_described(git_dir, whole, where, want),
    )
    write_contents(git_dir, contents)


def _described(git_dir: Path, whole: str, where: str, want: _Want) -> Described | None:
    """What tags say of the pin: what the release knows, a clone's, or the network's if a build asks."""
    if known_tree(want.commit):
        return _known(want.commit)
    if Path(where).is_dir() and (found := describe_clone(Path(where), want.commit)) is not None:
        return found
    if (known := _known(want.commit)) is not None or Path(where).exists():
        return known
    with BlobReader(git_dir) as blobs:
        if not asks_for_tag(list_tree(git_dir, whole), blobs.read):
            return None
    return describe_address(where, want.commit, want.network)


def _known(commit: str) -> Described | None:
    return Described.parse(known_describe(commit), commit)


def stored(commit: str, cache: Path) -> Source | None:
    """The commit's repository in the store. One that was not made whole is taken out of it."""
    git_dir = cache / f"git-{commit}.git"
    if not _COMMIT.fullmatch(commit) or not git_dir.is_dir():
        return None
    lease = hold_repository(git_dir)
    contents = read_contents(git_dir) if lease is not None else None
    if contents is not None and contents.commit == commit:
        described = contents.described or _known(commit)
        return Source(git_dir, contents.whole, commit, described, lease)
    if lease is not None:
        lease.close()
    take_out(git_dir, lambda: not _is_whole(git_dir, commit))
    return None


def _is_whole(git_dir: Path, commit: str) -> bool:
    contents = read_contents(git_dir)
    return contents is not None and contents.commit == commit


def _address(given: str) -> str:
    local = Path(given).expanduser()
    if local.exists():
        return str(local.resolve())
    if "://" in given or "@" in given:
        return given
    raise RepositoryError(
        f"There is no repository at {given}: give a clone's folder or a git address."
    )


def _commit_whole(git_dir: Path, pin: str, tree: str) -> str:
    message = f"{pin} with its submodules"
    commit = git(["commit-tree", tree, "-m", message], git_dir=git_dir).decode().strip()
    git(["update-ref", "refs/heads/whole", commit], git_dir=git_dir)
    return commit


def find_clone(folder: Path, url: str) -> Path | None:
    """A clone of ``url`` in a folder of clones, laid out OWNER/NAME, OWNER+NAME or NAME (with or
    without ``.git``)."""
    owner, _, name = url.removesuffix(".git").rstrip("/").rpartition("/")
    owner = owner.rpartition("/")[2].rpartition(":")[2]
    if {owner, name} & {"", ".", ".."}:
        return None
    for candidate in (f"{owner}/{name}", f"{owner}+{name}", name):
        for suffix in ("", ".git"):
            path = folder / f"{candidate}{suffix}"
            if (clone := _git_folder(path)) is not None:
                return clone
    return None


def clone_or_address(url: str, clones: Path | None) -> str:
    """Where to fetch ``url`` from: a folder of clones when there is one, and then only from there.

    Raises:
        RepositoryError: the folder has no clone of it.
    """
    if clones is None:
        return url
    clone = find_clone(clones, url)
    if clone is None:
        raise RepositoryError(f"{clones} has no clone of {url}: put one there as OWNER/NAME.")
    return str(clone)


def _git_folder(path: Path) -> Path | None:
    """``path`` itself when git can fetch from it, or the one git folder inside it."""
    if (path / ".git").exists() or (path / "HEAD").is_file():
        return path
    inside = [child for child in sorted(path.glob("*")) if (child / "HEAD").is_file()]
    return inside[0] if len(inside) == 1 else None


def _files(folder: Path) -> list[tuple[bytes, bytes, bytes]]:
    """(path, git mode, content) of every file, sorted by path."""
    found: list[tuple[bytes, bytes, bytes]] = []
    root = os.fsencode(folder)
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (b".git", b"__pycache__"))
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in [*links, *(name for name in names if name != b".git")]:
            full = os.path.join(parent, name)
            path = os.path.relpath(full, root)
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                found.append((path, b"120000", os.readlink(full)))
            elif stat.S_ISREG(status.st_mode):
                mode = b"100755" if status.st_mode & 0o100 else b"100644"
                with open(full, "rb") as file:
                    found.append((path, mode, file.read()))
    return sorted(found)
