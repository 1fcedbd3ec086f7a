"""What changed of the base tree and of the agent's as two trees of git, which git compares.

Both trees hold the changed files only: their difference is that of the whole trees, and its time does
not grow with the repository. They are written by us, so that one process of git is all that it takes.

The patch names no renames: git cannot apply the rename of a link that gives way to a folder, and a
rename says nothing that deletion and addition do not. A renamed file stands in the patch twice, which
the caps bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.workspace.repository.git import GitError, git
from expbench.workspace.repository.objects import PackWriter, trees_of
from expbench.workspace.repository.tree import SYMLINK, Entry
from expbench.workspace.submission.pack import keep
from expbench.workspace.submission.walk import Base

GONE_CAP = 20 * 1024**2
"""Bytes of deleted files from which the patch does without the content of the larger ones."""

_BRIEF_FROM = 4096
_DIFF = (
    *("diff-tree", "-r", "-p", "--binary", "--full-index"),
    *("--no-renames", "--no-ext-diff", "--no-textconv"),
)
_HEAD = b"diff --git "
_NO_OID = "0" * 40
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-")


def make_bare(folder: Path) -> Path:
    """A bare repository around an object folder that is there.

    Only a bare one takes no attributes from an index or the files beside it.
    """
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    return folder


@dataclass(frozen=True)
class Pair:
    """Two trees by their ids, and the paths in which they differ in order."""

    old: str
    new: str
    paths: tuple[bytes, ...]


def pair(old: Iterable[Entry], new: Iterable[Entry], pack: PackWriter) -> Pair:
    """Write the trees of some files before and after into a pack.

    Args:
        old: no file twice or below another; the same goes for ``new``.
    """
    differing: set[tuple[bytes, str, str]] = set()

    def write(side: Iterable[Entry]) -> str:
        files = sorted(side, key=attrgetter("path"))
        differing.symmetric_difference_update((each.path, each.mode, each.oid) for each in files)
        root, contents = trees_of(files)
        for content in contents.values():
            keep(pack, b"tree", content)
        return root

    roots = write(old), write(new)
    return Pair(*roots, tuple(sorted({path for path, _, _ in differing})))


def difference(trees: Pair, git_dir: Path, environment: Mapping[str, str]) -> bytes:
    """The patch that leads from one tree to the other. Raises InfrastructureError.

    Args:
        git_dir: a bare repository of ours.
        environment: what puts the harness's objects behind it.
    """
    if not trees.paths:
        return b""
    try:
        return git([*_DIFF, trees.old, trees.new], git_dir=git_dir, env=environment)
    except GitError as error:
        raise InfrastructureError(f"the agent's changes could not be compared: {error}") from None


def sections(patch: bytes, paths: Sequence[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Where the part of each path begins and ends in a patch that :func:`difference` made.

    A file that gives way to a link has two headers, which are the same. No other line of a patch looks
    like one: content stands behind a sign, and a name in one line.

    Raises:
        InfrastructureError: the patch is not of these paths.
    """
    heads = ((patch[at : patch.index(b"\n", at)], at) for at in _heads(patch))
    places = [next(group)[1] for _, group in groupby(heads, key=lambda head: head[0])]
    if len(places) != len(paths):
        raise InfrastructureError("git's patch has other files than the trees that it is of")
    return zip(paths, places, [*places[1:], len(patch)], strict=False)


def _heads(patch: bytes) -> Iterator[int]:
    place = 0 if patch.startswith(_HEAD) else -1
    while place >= 0:
        yield place
        place = patch.find(b"\n" + _HEAD, place) + 1 or -1


def brief(base: Base, gone: Sequence[bytes]) -> list[Entry]:
    """The deleted files whose content the patch does without, when there is much of it."""
    entries = [base.files[path] for path in gone]
    if sum(entry.size for entry in entries) <= GONE_CAP:
        return []
    return [each for each in entries if each.size > _BRIEF_FROM and each.mode != SYMLINK]


def deletion(entry: Entry) -> bytes:
    """A deletion that git can apply, though not take back, without the file's content.

    git checks the blob's id against the index. ``HcmV?d00001`` is its writing of no bytes at all.
    """
    name = b"".join(b"%c" % c if c in _PLAIN else b"\\%03o" % c for c in entry.path)
    return (
        b'diff --git "a/%s" "b/%s"\ndeleted file mode %s\nindex %s..%s\n'
        b"GIT binary patch\nliteral 0\nHcmV?d00001\n\n"
    ) % (name, name, entry.mode.encode(), entry.oid.encode(), _NO_OID.encode())
