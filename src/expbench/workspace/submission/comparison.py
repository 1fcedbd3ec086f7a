"""What changed of the base tree and of the agent's as two trees of git, made by an index of ours.

Both trees hold the changed files only: their difference is that of the whole trees, and its time does
not grow with the repository.

The patch names no renames: git cannot apply the rename of a link that gives way to a folder, and a
rename says nothing that deletion and addition do not. A renamed file stands in the patch twice, which
the caps bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.workspace.repository.git import GitError, git, split_z
from expbench.workspace.repository.tree import SYMLINK, Entry
from expbench.workspace.submission.scan import Change, Scan
from expbench.workspace.submission.walk import Base

GONE_CAP = 20 * 1024**2
"""Bytes of deleted files from which the patch does without the content of the larger ones."""

_BRIEF_FROM = 4096
_DIFF = ("diff-tree", "-r", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv")
_NO_OID = "0" * 40
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-")

Row = tuple[str, str, bytes]
"""git's mode, object id and path of a file in a tree."""


def make_bare(folder: Path) -> Path:
    """A bare repository around an object folder that is there.

    Only a bare one takes no attributes from the index: those of the base tree must not decide what is
    text and what is not.
    """
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
    return folder


@dataclass(frozen=True)
class Comparison:
    """git in a bare repository of ours, whose ``environment`` puts the harness's objects behind it."""

    git_dir: Path
    base: Base
    environment: dict[str, str]

    def patch(self, found: Scan) -> tuple[bytes, list[Change]]:
        """The patch, and the changes that git passes over: it keeps some names for itself."""
        if not (found.changes or found.gone):
            return b"", []
        brief = self._brief(found.gone)
        left = {entry.path for entry in brief}
        paths = [change.path for change in found.changes]
        paths += (path for path in found.gone if path not in left)
        old = self.write(self.known(paths))
        new = self.write((each.mode, each.oid, each.path) for each in found.changes)
        held = self._rows(old, new)
        if len(held) < len(found.changes):
            kept = [c for c in found.changes if (c.mode, c.oid, c.path) in held]
            unheld = [c for c in found.changes if (c.mode, c.oid, c.path) not in held]
            return self.patch(replace(found, changes=kept))[0], unheld
        deletions = b"".join(map(_deletion, brief))
        return deletions + self.git([*_DIFF, "-p", "--binary", old, new]), []

    def known(self, paths: Iterable[bytes]) -> Iterator[Row]:
        """The base tree's files at these paths, where it has them."""
        for path in paths:
            if (entry := self.base.files.get(path)) is not None:
                yield entry.mode, entry.oid, path

    def write(self, rows: Iterable[Row]) -> str:
        """The id of the tree that holds these files and no others."""
        Path(self.environment["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        listing = b"".join(b"%s %s\t%s\0" % (m.encode(), oid.encode(), p) for m, oid, p in rows)
        if listing:
            self.git(["update-index", "-z", "--index-info"], listing)
        return self.git(["write-tree"]).decode().strip()

    def text(self, old: str, new: str) -> bytes:
        """A diff for readers: binary files are only said to differ."""
        return self.git([*_DIFF, "-p", old, new])

    def binary(self, old: str, new: str) -> list[bytes]:
        """The paths for which :meth:`text` shows no lines, though they differ."""
        records = split_z(self.git([*_DIFF, "--numstat", "-z", old, new]))
        return [record[4:] for record in records if record.startswith(b"-\t-\t")]

    def git(self, args: Sequence[str | bytes], stdin: bytes | None = None) -> bytes:
        """Run git. Raises InfrastructureError."""
        try:
            return git(args, git_dir=self.git_dir, stdin=stdin, env=self.environment)
        except GitError as error:
            raise InfrastructureError(
                f"the agent's changes could not be compared: {error}"
            ) from None

    def _brief(self, gone: list[bytes]) -> list[Entry]:
        """The deleted files whose content the patch does without, when there is much of it."""
        entries = [self.base.files[path] for path in gone]
        if sum(entry.size for entry in entries) <= GONE_CAP:
            return []
        return [each for each in entries if each.size > _BRIEF_FROM and each.mode != SYMLINK]

    def _rows(self, old: str, new: str) -> set[Row]:
        """The files that the new tree has and the old has not, or not so."""
        records = split_z(self.git([*_DIFF, "--raw", "-z", old, new]))
        found = set()
        for facts, path in zip(records, records, strict=True):
            _, mode, _, oid, status = facts.decode().split()
            if status != "D":
                found.add((mode, oid, path))
        return found


def _deletion(entry: Entry) -> bytes:
    """A deletion that git can apply, though not take back, without the file's content.

    git checks the blob's id against the index. ``HcmV?d00001`` is its writing of no bytes at all.
    """
    name = b"".join(b"%c" % c if c in _PLAIN else b"\\%03o" % c for c in entry.path)
    return (
        b'diff --git "a/%s" "b/%s"\ndeleted file mode %s\nindex %s..%s\n'
        b"GIT binary patch\nliteral 0\nHcmV?d00001\n\n"
    ) % (name, name, entry.mode.encode(), entry.oid.encode(), _NO_OID.encode())
