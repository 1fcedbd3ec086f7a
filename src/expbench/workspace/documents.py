"""A repository's whole tree as documents for the lint, read once for all tasks of a paper.

A clone may lack objects (large files that were never fetched): they are named, not fatal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from expbench.dataset.lint.document import Document
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.git import GitError, git, split_z
from expbench.workspace.repository.source import Source


@dataclass(frozen=True)
class WholeTree:
    """The regular files of one commit by path, and the paths whose objects are not there."""

    files: dict[str, Document]
    missing: tuple[str, ...] = ()


def read_documents(source: Source) -> WholeTree:
    """Every regular file of a source; links and submodules are left out.

    Raises:
        GitError: the commit is not in the repository.
    """
    files: dict[str, Document] = {}
    missing: list[str] = []
    # Without sizes: git's long listing ends in an error where an object is missing.
    listing = git(["ls-tree", "-r", "-z", "--full-tree", source.commit], git_dir=source.git_dir)
    with BlobReader(source.git_dir) as blobs:
        for record in split_z(listing):
            facts, _, name = record.partition(b"\t")
            mode, _, oid = facts.decode().split()
            if not mode.startswith("100"):
                continue
            path = os.fsdecode(name)
            try:
                files[path] = Document(path, blobs.read(oid))
            except GitError:
                missing.append(path)
    return WholeTree(files, tuple(missing))
