"""The manifest of what an agent's tree holds and its patch does not, with sizes and digests (R37)."""

from __future__ import annotations

import hashlib
import heapq
import os
import stat

from expbench.schema import LeftOut
from expbench.workspace.submission.names import printable
from expbench.workspace.submission.nofollow import Folder

LISTED_CAP = 2_000
"""Rows; of more the largest are listed and the others counted in one row."""
DIGEST_CAP = 1024**3
"""Bytes of the largest file that is read for its digest."""
DIGESTS_CAP = 2 * 1024**3
"""Bytes read for digests in all; the smallest files come first."""

_SPARSE_FROM = 1024**2
_CHUNK = 1 << 20


class Manifest:
    """Rows as they are found, in bounded memory."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, bytes, str, int]] = []
        self._unlisted = [0, 0]

    def leave(self, path: bytes, size: int, reason: str, files: int = 1) -> None:
        """Note what is left out; ``path`` ends in a slash when it is a folder with all below it."""
        heapq.heappush(self._rows, (size, path, reason, files))
        if len(self._rows) > LISTED_CAP:
            least = heapq.heappop(self._rows)
            self.count(least[0], least[3])

    def count(self, size: int, files: int = 1) -> None:
        """Note what gets no row of its own."""
        self._unlisted[0] += files
        self._unlisted[1] += size

    def rows(self, folder: Folder) -> tuple[LeftOut, ...]:
        """All rows by path, and what got none in one last row."""
        made = []
        budget = DIGESTS_CAP
        for size, path, reason, files in sorted(self._rows):
            digest, why = "", ""
            if files == 1 and not path.endswith(b"/"):
                digest, why = _digest(folder, path, budget)
                budget -= size if digest else 0
            row = LeftOut(
                path=printable(path),
                size=size,
                reason=f"{reason}; {why}" if why else reason,
                digest=digest,
                files=files,
            )
            made.append((path, row))
        listed = [row for _, row in sorted(made, key=lambda each: each[0])]
        if self._unlisted[0]:
            files, size = self._unlisted
            listed.append(LeftOut(path="", size=size, reason=f"{files} more", files=files))
        return tuple(listed)


def _digest(folder: Folder, path: bytes, budget: int) -> tuple[str, str]:
    """The sha256 of a regular file, or why it was not read. What is no regular file has neither."""
    try:
        status = folder.status(path)
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            return "", ""
        if size > _SPARSE_FROM and status.st_blocks * 512 < size // 2:
            return "", "sparse, not read"
        if size > min(DIGEST_CAP, budget):
            return "", "too large to be read"
        digest = hashlib.sha256()
        with os.fdopen(folder.open(path), "rb", buffering=0) as file:
            while size > 0 and (chunk := file.read(min(_CHUNK, size))):
                digest.update(chunk)
                size -= len(chunk)
    except OSError as error:
        return "", f"unreadable: {error.strerror}"
    return digest.hexdigest(), ""
