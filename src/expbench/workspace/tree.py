"""A repository's tree as a list of entries, and writing it to disk byte for byte.

Files are written from their blobs by us, not by ``git checkout``: attributes, filters and line-ending
settings of the repository change nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from expbench.workspace.git import BlobReader, git, split_z

SYMLINK = "120000"
SUBMODULE = "160000"
_README = re.compile(rb"readme([._-].*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """One file of a tree: git's mode, the blob's id, the path and the blob's size in bytes."""

    mode: str
    oid: str
    path: bytes
    size: int


def list_tree(
    git_dir: Path, treeish: str, env: Mapping[str, str] | None = None
) -> tuple[Entry, ...]:
    """All files of a commit or tree, in git's order."""
    output = git(["ls-tree", "-r", "-l", "-z", "--full-tree", treeish], git_dir=git_dir, env=env)
    entries = []
    for record in split_z(output):
        facts, _, path = record.partition(b"\t")
        mode, _, oid, size = facts.decode().split()
        entries.append(Entry(mode, oid, path, 0 if size == "-" else int(size)))
    return tuple(entries)


def is_root_readme(path: bytes) -> bool:
    """Whether the path is a README in the repository's root, in any case and language."""
    return b"/" not in path and _README.fullmatch(path) is not None


def leaves_tree(path: bytes, target: bytes) -> bool:
    """Whether a symbolic link at ``path`` points out of the tree."""
    if target.startswith(b"/"):
        return True
    depth = path.count(b"/")
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
        if depth < 0:
            return True
    return False


def write_tree(
    git_dir: Path, entries: tuple[Entry, ...], dest: Path, env: Mapping[str, str] | None = None
) -> None:
    """Write the entries' files under ``dest``, an existing empty folder that is ours alone."""
    made: set[bytes] = set()
    root = os.fsencode(dest)
    with BlobReader(git_dir, env) as blobs:
        for entry in entries:
            parent = os.path.dirname(os.path.join(root, entry.path))
            if parent not in made:
                os.makedirs(parent, exist_ok=True)
                made.add(parent)
            _write(os.path.join(root, entry.path), entry.mode, blobs.read(entry.oid))


def _write(target: bytes, mode: str, content: bytes) -> None:
    if mode == SYMLINK:
        os.symlink(content, target)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(target, flags, 0o755 if mode == "100755" else 0o644), "wb") as file:
        file.write(content)


def safe_path(path: bytes) -> bool:
    """Whether a tree's path stays inside and out of ``.git``, on any file system."""
    parts = PurePosixPath(os.fsdecode(path)).parts
    return (
        bool(parts)
        and not path.startswith(b"/")
        and not any(
            part == ".." or part.lower().rstrip(". ") in (".git", "git~1") for part in parts
        )
    )
