"""A repository's tree as a list of entries, and writing it to disk byte for byte.

Files are written from their blobs by us, not by ``git checkout``: attributes, filters and line-ending
settings of the repository change nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from expbench.workspace.repository.git import git, split_z

SYMLINK = "120000"
SUBMODULE = "160000"
FILE_TIME = 1735689600
"""When every file of a workspace was last modified, in seconds: the date of its commit, 2025-01-01."""

_STEPS = 4000
"""Path parts of which a link's way through the tree may consist; no honest link needs as many."""
_LINKS = 40
"""Links that Linux follows on one way before it gives up."""
_GIT_FOLDER = re.compile(r"(\.git|git~1)[. ]*(:.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
"""The names that git keeps out of every tree, because some file system takes them for its folder."""
_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
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


def escapes(path: bytes, links: Mapping[bytes, bytes]) -> bool:
    """Whether a symbolic link leads out of the tree, through whatever other links of it.

    One that no kernel follows to its end does not; one whose way is too long to be told counts as such.

    Args:
        links: the target of every link of the tree, ``path`` itself included.
    """
    done = path.split(b"/")[:-1]
    pending = links[path].split(b"/")[::-1]
    followed = 1
    if links[path].startswith(b"/"):
        return True
    for _ in range(_STEPS):
        if not pending:
            return False
        part = pending.pop()
        if part == b"..":
            if not done:
                return True
            done.pop()
        elif part not in (b"", b"."):
            done.append(part)
            target = links.get(b"/".join(done))
            if target is not None:
                if target.startswith(b"/"):
                    return True
                followed += 1
                if followed > _LINKS:
                    return False
                done.pop()
                pending += target.split(b"/")[::-1]
    return True


def write_file(
    target: bytes, mode: str, content: bytes, made: set[bytes], owner: int | None = None
) -> os.stat_result:
    """Write a file that is not there yet, below folders that are ours alone; its facts.

    Args:
        made: folders known to exist; those that are made are added.
        owner: uid and gid that the file gets.
    """
    make_parents(target, made)
    if mode == SYMLINK:
        os.symlink(content, target)
        if owner is not None:
            os.lchown(target, owner, owner)
        os.utime(target, (FILE_TIME, FILE_TIME), follow_symlinks=False)
        return os.lstat(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    handle = os.open(target, flags, _permissions(mode))
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(handle, view) :]
        return finish_file(handle, mode, owner)
    finally:
        os.close(handle)


def finish_file(handle: int, mode: str, owner: int | None) -> os.stat_result:
    """Give a written file its mode, owner and time, whatever the umask of this process is; its facts."""
    if owner is not None:
        os.fchown(handle, owner, owner)
    os.utime(handle, (FILE_TIME, FILE_TIME))
    status = os.fstat(handle)
    if stat.S_IMODE(status.st_mode) == _permissions(mode):
        return status
    os.fchmod(handle, _permissions(mode))
    return os.fstat(handle)


def _permissions(mode: str) -> int:
    return 0o755 if mode == "100755" else 0o644


def make_parents(target: bytes, made: set[bytes]) -> None:
    """Make the folders above ``target`` down from one that is in ``made``."""
    parent = os.path.dirname(target)
    if parent in made:
        return
    make_parents(parent, made)
    with contextlib.suppress(FileExistsError):
        os.mkdir(parent, 0o755)
    made.add(parent)


def safe_path(path: bytes) -> bool:
    """Whether a tree's path stays inside and out of ``.git``, on any file system."""
    parts = path.split(b"/")
    return (
        not path.startswith(b"/")
        and any(part not in (b"", b".") for part in parts)
        and all(map(_safe_part, parts))
    )


@functools.lru_cache(4096)
def _safe_part(part: bytes) -> bool:
    text = os.fsdecode(part).translate(_UNSEEN)
    return text != ".." and not any(map(_GIT_FOLDER.fullmatch, text.split("\\")))
