"""Walking a workspace's files, as a copy or as the upper folder of an overlay, in bounded time.

Folders that the base tree has are looked through completely and first, so that no flood of other
files hides a change or deletion there. Links are never followed. The workspace's own ``.git`` is
passed over: it is the harness's, whatever the agent made of it.

Of an overlay only the upper folder is walked: a character device 0/0 stands for what was deleted, an
opaque folder hides what the base has below it, and what is not there is unchanged.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress

from expbench.errors import InfrastructureError
from expbench.workspace.repository.tree import Entry
from expbench.workspace.submission.ignored import folder_reason, is_source
from expbench.workspace.submission.manifest import Manifest
from expbench.workspace.submission.nofollow import listed
from expbench.workspace.views import View

FILES_CAP = 200_000
"""New files taken, and again new files of source; more are counted only. Also new folders."""
WALK_CAP = 1_000_000
"""Entries looked at in folders that the base tree has not."""
PATH_CAP = 2_000
"""Bytes of a path; a longer one may not fit below the folder where the patch is applied."""

TOO_LONG = f"its path is longer than {PATH_CAP} bytes"
_TRUSTED, _USER = "trusted.overlay.", "user.overlay."


class Base:
    """The base tree's files by path."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.files = {entry.path: entry for entry in entries}
        self._sorted = sorted(self.files)

    def holds(self, folder: bytes) -> bool:
        """Whether there is a file below a folder."""
        place = bisect_left(self._sorted, folder + b"/")
        return place < len(self._sorted) and self._sorted[place].startswith(folder + b"/")

    def below(self, folder: bytes) -> list[bytes]:
        if not folder:
            return self._sorted
        first, last = folder + b"/", folder + b"0"  # "0" comes after "/"
        return self._sorted[bisect_left(self._sorted, first) : bisect_left(self._sorted, last)]


class Walk:
    """One pass over a workspace. Iterating raises InfrastructureError when it cannot be read.

    ``gone`` are the base's files that were not met; whoever iterates takes out those that are there.
    """

    def __init__(self, view: View, base: Base, manifest: Manifest) -> None:
        self._root = os.fsencode(view.files.resolve())
        self._base = base
        self._manifest = manifest
        self._overlay = view.kind == "overlay"
        self.gone: set[bytes] = set() if self._overlay else set(base.files)
        self._held: deque[bytes] = deque([b""])
        self._new: deque[bytes] = deque()
        self._looked_at = 0
        self._taken = [0, 0]

    def __iter__(self) -> Iterator[tuple[bytes, os.stat_result]]:
        """Every file that is no folder, with its lstat, but for what is left out by its folder."""
        while self._held or self._new:
            if self._held:
                yield from self._visit(self._held.popleft(), known=True)
            elif self._looked_at < WALK_CAP:
                yield from self._visit(self._new.popleft(), known=False)
            else:
                self._manifest.leave(
                    self._new.popleft() + b"/",
                    0,
                    f"more than {WALK_CAP} entries: not looked into",
                )

    def _visit(self, folder: bytes, known: bool) -> Iterator[tuple[bytes, os.stat_result]]:
        full = self._root + b"/" + folder if folder else self._root
        prefix = folder + b"/" if folder else b""
        files = self._base.files
        try:
            listing = listed(full)
            if self._overlay and _opaque(full):
                self.gone.update(self._base.below(folder))
        except OSError as error:
            if not folder:
                raise InfrastructureError(
                    f"the workspace cannot be read: {error.strerror}"
                ) from None
            self._unreadable(folder, error, b"/")
            return
        with listing:
            for entry in listing:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if path != b".git":
                        self._enter(path, entry.name, entry.path)
                    continue
                if not known and self._exhausted(path):
                    return
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    self._unreadable(path, error)
                    continue
                if self._overlay:
                    self._hide(path)
                    if is_whiteout(status):
                        continue
                if path == b".git" or (path not in files and self._flooded(path, status)):
                    continue
                yield path, status

    def _exhausted(self, path: bytes) -> bool:
        self._looked_at += 1
        if self._looked_at > WALK_CAP:
            reason = f"more than {WALK_CAP} entries: this and others after it"
            self._manifest.leave(path, 0, reason)
            return True
        return False

    def _enter(self, path: bytes, name: bytes, full: bytes) -> None:
        """Go on into a folder, or note why not."""
        if self._overlay and path in self._base.files:
            self.gone.add(path)
        if self._base.holds(path):
            self._held.append(path)
            return
        reason = TOO_LONG if len(path) > PATH_CAP else folder_reason(name, full)
        if reason:
            self._leave_whole(path, full, reason)
        elif len(self._new) < FILES_CAP:
            self._new.append(path)
        else:
            self._manifest.leave(path + b"/", 0, f"more than {FILES_CAP} folders")

    def _hide(self, path: bytes) -> None:
        """What the base has at a path and below it lies under an entry of the upper folder."""
        if path in self._base.files:
            self.gone.add(path)
        else:
            self.gone.update(self._base.below(path))

    def _unreadable(self, path: bytes, error: OSError, end: bytes = b"") -> None:
        """What cannot be looked at is neither changed nor deleted by the patch."""
        self._manifest.leave(path + end, 0, f"unreadable: {error.strerror}")
        self.gone.discard(path)
        if not self._overlay:
            self.gone.difference_update(self._base.below(path))

    def _flooded(self, path: bytes, status: os.stat_result) -> bool:
        """Count a new file; past the cap it gets no row, for there may be millions."""
        source = is_source(path, status.st_size)
        self._taken[source] += 1
        if self._taken[source] <= FILES_CAP:
            return False
        if self._taken[source] == FILES_CAP + 1:
            reason = f"more than {FILES_CAP} files: this and others after it"
            self._manifest.leave(path, status.st_size, reason)
        else:
            self._manifest.count(status.st_size)
        return True

    def _leave_whole(self, path: bytes, full: bytes, reason: str) -> None:
        """One row for a folder: the size and number of the files in it, as far as they are counted."""
        size = files = 0
        pending = [full]
        while pending:
            with suppress(OSError), listed(pending.pop()) as listing:
                for entry in listing:
                    self._looked_at += 1
                    if self._looked_at > WALK_CAP:
                        pending.clear()
                        reason += ", not all counted"
                        break
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif not is_whiteout(status := entry.stat(follow_symlinks=False)):
                        size += status.st_size if stat.S_ISREG(status.st_mode) else 0
                        files += 1
        self._manifest.leave(path + b"/", size, reason, files)


def is_whiteout(status: os.stat_result) -> bool:
    """Whether an entry of an upper folder stands for a deletion."""
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _opaque(folder: bytes) -> bool:
    """Whether a folder of an upper folder hides what lies below it.

    Where root mounted the overlay an agent can set the attribute that a user's mount would use. Such a
    folder that lies over one of the base was copied up, and has root's mark of that.
    """
    with suppress(OSError):
        names = os.listxattr(folder, follow_symlinks=False)
        if f"{_TRUSTED}opaque" in names:
            return os.getxattr(folder, f"{_TRUSTED}opaque", follow_symlinks=False) == b"y"
        if f"{_USER}opaque" in names and f"{_TRUSTED}origin" not in names:
            return os.getxattr(folder, f"{_USER}opaque", follow_symlinks=False) == b"y"
    return False
