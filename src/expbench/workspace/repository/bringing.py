"""Bringing one commit into a repository of ours: copied from a clone, or fetched from an address.

Either way its objects lie there in our own form: whole, in packs that workspaces link to, or take what
they may have from.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from expbench.errors import RepositoryError
from expbench.workspace.repository.blobs import stream
from expbench.workspace.repository.clones import alternates, objects_of
from expbench.workspace.repository.contents import MissingObjectsError, missing_paths
from expbench.workspace.repository.git import GitError, git, split_z
from expbench.workspace.repository.objects import keep_objects, object_id
from expbench.workspace.repository.tree import SUBMODULE


def bring(
    git_dir: Path, address: str, commit: str, branch: str, network: Mapping[str, str]
) -> None:
    """Bring ``commit`` into ``git_dir`` under a branch of its own, whole or not at all.

    Raises:
        RepositoryError: it cannot be had from ``address``, or not all of it.
    """
    objects = objects_of(Path(address)) if Path(address).is_dir() else None
    try:
        if objects is not None:
            _copy(git_dir, objects, address, commit)
            place = git_dir / "refs" / "heads" / branch
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{commit}\n")
        else:
            _fetch(git_dir, address, commit, branch, network)
    except GitError as error:
        raise RepositoryError(
            f"Commit {commit} cannot be had from {address} ({error}): "
            "give a repository that holds it."
        ) from None


def _copy(git_dir: Path, objects: Path, address: str, commit: str) -> None:
    """Copy a commit out of a clone, object by object, each proved by its id."""
    env = alternates(objects)
    listing = git(
        ["ls-tree", "-r", "-t", "-z", "--full-tree", commit], git_dir=git_dir, env=env, timeout=600
    )
    paths: dict[str, list[str]] = {}
    for record in split_z(listing):
        facts, _, path = record.partition(b"\t")
        mode, _, oid = facts.decode().split()
        if mode != SUBMODULE:
            paths.setdefault(oid, []).append(os.fsdecode(path))
    names = [commit, f"{commit}^{{tree}}", *paths]
    missing: list[str] = []

    def found() -> Iterator[tuple[bytes, bytes]]:
        answers = stream(git_dir, names, env)
        for name, answer in zip(names, answers, strict=True):
            if answer is None:
                missing.extend(paths.get(name, [name]))
                continue
            oid, kind, content = answer
            if object_id(kind, content) != oid:
                raise RepositoryError(f"{address} is damaged: its object {oid} is another.")
            if name == commit and b"\nparent " in content.partition(b"\n\n")[0]:
                with (git_dir / "shallow").open("a") as shallow:
                    shallow.write(f"{commit}\n")
            yield kind, content

    try:
        keep_objects(git_dir / "objects", found())
    except ValueError:
        raise GitError("git ended early") from None
    if missing:
        raise MissingObjectsError(address, commit, tuple(sorted(missing)))


def _fetch(
    git_dir: Path, address: str, commit: str, branch: str, network: Mapping[str, str]
) -> None:
    ref = f"refs/heads/{branch}"
    command = ["fetch", "--quiet", "--no-tags", "--depth=1", "--", address, f"{commit}:{ref}"]
    git(command, git_dir=git_dir, env=network, timeout=3600)
    found = git(["rev-parse", f"{ref}^{{commit}}"], git_dir=git_dir).decode().strip()
    if found != commit:
        raise RepositoryError(f"{address} answered commit {found} where {commit} was asked for.")
    if missing := missing_paths(git_dir, commit):
        raise MissingObjectsError(address, commit, missing)
    rewrite(git_dir)


def rewrite(git_dir: Path) -> None:
    """Put all objects of a repository that nobody uses yet into our own form."""
    listing = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]
    names = git(listing, git_dir=git_dir).decode().split()
    made = git_dir / "objects.made"
    (made / "info").mkdir(parents=True)
    keep_objects(made, (each[1:] for each in stream(git_dir, names) if each is not None))
    shutil.rmtree(git_dir / "objects")
    made.rename(git_dir / "objects")
