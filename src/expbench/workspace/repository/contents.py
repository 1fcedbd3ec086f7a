"""What a repository of the store holds, found out when it is made and kept inside it.

A pin is in the store only when every file of its tree is: a clone that lacks objects makes a task that
cannot be solved. Files that stand for large ones kept elsewhere (git LFS) are no fault of the clone;
they are listed, so that a task that needs them can say so (R40).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from expbench.errors import RepositoryError
from expbench.schema import Record
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.described import Described
from expbench.workspace.repository.git import git, split_z
from expbench.workspace.repository.submodules import Submodule
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, list_tree

LFS_HEADER = b"version https://git-lfs.github.com/spec/v1"
_LFS_POINTER_CAP = 1024
"""Bytes; the specification of git LFS keeps a pointer file below it."""
_FILE = "expbench.json"


class Contents(Record):
    """A pinned commit: its tree, and the commit ``whole`` that has the submodules as folders.

    ``files`` counts those of ``whole``; ``unresolved`` are submodules without an address, which stay
    out; ``lfs`` are files of which only the pointer is there; ``described`` is what git's tags said of
    the commit, where its history was at hand.
    """

    url: str
    commit: str
    tree: str
    whole: str
    files: int
    submodules: tuple[Submodule, ...] = ()
    unresolved: tuple[str, ...] = ()
    lfs: tuple[str, ...] = ()
    described: Described | None = None


class MissingObjectsError(RepositoryError):
    """A repository lacks files of the commit; ``missing`` are their paths."""

    def __init__(self, where: str, commit: str, missing: tuple[str, ...]) -> None:
        names = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        super().__init__(
            f"{where} lacks {len(missing)} of the files of commit {commit[:12]} ({names}): "
            "give a whole clone."
        )
        self.missing = missing


def missing_paths(
    git_dir: Path, treeish: str, env: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The files of a tree whose content is not there. Raises GitError when a folder of it is not."""
    output = git(["ls-tree", "-r", "-z", "--full-tree", treeish], git_dir=git_dir, env=env)
    paths: dict[bytes, list[bytes]] = {}
    for record in split_z(output):
        facts, _, path = record.partition(b"\t")
        mode, _, oid = facts.split()
        if mode.decode() != SUBMODULE:
            paths.setdefault(oid, []).append(path)
    asked = b"".join(oid + b"\n" for oid in paths)
    answers = git(["cat-file", "--batch-check"], git_dir=git_dir, stdin=asked, env=env)
    gone = [line.split()[0] for line in answers.splitlines() if line.endswith(b" missing")]
    return tuple(sorted(_printable(path) for oid in gone for path in paths[oid]))


def lfs_pointers(git_dir: Path, treeish: str) -> tuple[int, tuple[str, ...]]:
    """The number of a tree's files, and the paths of those that are pointers of git LFS."""
    entries = [entry for entry in list_tree(git_dir, treeish) if entry.mode != SUBMODULE]
    with BlobReader(git_dir) as blobs:
        found = [
            _printable(entry.path)
            for entry in entries
            if entry.mode != SYMLINK
            and len(LFS_HEADER) < entry.size < _LFS_POINTER_CAP
            and blobs.read(entry.oid).startswith(LFS_HEADER)
        ]
    return len(entries), tuple(found)


def _printable(path: bytes) -> str:
    """A path as text that a record can hold: bytes that are not UTF-8 as escapes."""
    return path.decode("utf-8", "backslashreplace")


def write_contents(git_dir: Path, contents: Contents) -> None:
    """Keep the contents in the repository that they describe."""
    (git_dir / _FILE).write_text(contents.model_dump_json(indent=1), "utf-8")


def read_contents(git_dir: Path) -> Contents | None:
    """A stored repository's contents, or None when it was not made whole and must be made again."""
    try:
        contents = Contents.model_validate_json((git_dir / _FILE).read_text("utf-8"))
    except (OSError, ValidationError, ValueError):
        return None
    return contents if (git_dir / "objects").is_dir() else None
