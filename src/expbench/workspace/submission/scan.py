"""Finding what changed in a workspace, without git and without trusting what lies in it.

A file of the base tree that has the facts of its making (see ``views.Stat``) is unchanged and not read;
of the others each blob id is compared with the base tree's. The bytes of new and changed files go into
a pack of ours. What stays out (see ``ignored``, and the caps here) is noted, never silently dropped
(R37).
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, field

from expbench.schema import RESPONSE_NAME, SCRIPT_NAME
from expbench.workspace.repository.objects import PackWriter
from expbench.workspace.repository.tree import SYMLINK, Entry
from expbench.workspace.submission.ignored import file_reason
from expbench.workspace.submission.manifest import Manifest
from expbench.workspace.submission.names import git_holds
from expbench.workspace.submission.nofollow import Folder
from expbench.workspace.submission.pack import keep
from expbench.workspace.submission.view import by_name_only, code_cells, is_notebook
from expbench.workspace.submission.walk import PATH_CAP, TOO_LONG, Base, Walk
from expbench.workspace.views import Stat, View

FILE_CAP = 20 * 1024**2
"""Bytes; a larger new file is left out of the patch and listed."""
TOTAL_CAP = 200 * 1024**2
"""Bytes of all new and changed files together."""

DELIVERABLES = frozenset((RESPONSE_NAME.encode(), SCRIPT_NAME.encode()))
_CHUNK = 1 << 20


@dataclass
class Scan:
    """What a walk found.

    ``changes`` are the new and changed files in the order of their paths; ``gone`` the base tree's that
    are no more; ``deliverables`` the bytes of the agent's response and script, where they are regular
    files; ``code`` the id of a notebook's code cells by its path, or None where there is none to read.
    """

    changes: list[Entry] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)
    deliverables: dict[bytes, bytes] = field(default_factory=dict)
    code: dict[bytes, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A change whose bytes are not kept yet; with ``oid`` the base tree has them."""

    path: bytes
    size: int
    mode: str
    oid: str = ""

    @property
    def rank(self) -> tuple[int, int, bytes]:
        """Deliverables first, source before outputs, small before large."""
        group = 0 if self.path in DELIVERABLES else 2 if by_name_only(self.path) else 1
        return group, self.size, self.path


def scan(view: View, folder: Folder, base: Base, pack: PackWriter, manifest: Manifest) -> Scan:
    """Compare a workspace, in which no process may run any more, with the base tree's files.

    The bytes of every change are written to ``pack``, and of each notebook its code as well.

    Args:
        folder: that of ``view.files``.
    """
    candidates: list[_Candidate] = []
    walk = Walk(view, base, manifest)
    files, stats = base.files, view.stats
    for path, status in walk:
        kind = stat.S_IFMT(status.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFLNK):
            manifest.leave(path, 0, "neither file, folder nor symbolic link")
            continue
        known = files.get(path)
        if known is not None:
            walk.gone.discard(path)
            recorded = stats.get(path)
            if recorded is not None and _untouched(recorded, status):
                continue
        if (found := _compare(folder, path, status, known, manifest)) is not None:
            candidates.append(found)
    result = Scan(gone=sorted(walk.gone))
    _keep(folder, candidates, pack, manifest, result)
    return result


def _untouched(recorded: Stat, status: os.stat_result) -> bool:
    return (
        recorded.changed_ns == status.st_ctime_ns
        and recorded.inode == status.st_ino
        and recorded.modified_ns == status.st_mtime_ns
        and recorded.size == status.st_size
        and recorded.mode == status.st_mode
    )


def _compare(
    folder: Folder,
    path: bytes,
    status: os.stat_result,
    known: Entry | None,
    manifest: Manifest,
) -> _Candidate | None:
    """The file as a change, when it is one that a patch can hold."""
    size = status.st_size
    link = stat.S_ISLNK(status.st_mode)
    mode = SYMLINK if link else "100755" if status.st_mode & 0o100 else "100644"
    if known is not None and known.size == size:
        try:
            if _hash(folder, path, size, link) == known.oid:
                kept = "" if path in DELIVERABLES else known.oid
                return None if known.mode == mode else _Candidate(path, size, mode, kept)
        except OSError as error:
            manifest.leave(path, size, f"unreadable: {error.strerror}")
            return None
    if len(path) > PATH_CAP:
        reason = TOO_LONG
    elif known is None and (ignored := "" if link else file_reason(path, size)):
        reason = ignored
    elif size > FILE_CAP:
        reason = f"larger than {FILE_CAP // 1024**2} MiB"
    else:
        return _Candidate(path, size, mode)
    manifest.leave(path, size, reason)
    return None


def _keep(
    folder: Folder,
    candidates: list[_Candidate],
    pack: PackWriter,
    manifest: Manifest,
    result: Scan,
) -> None:
    """Store the changes' bytes up to the total cap."""
    total = 0
    candidates.sort(key=lambda each: each.rank)
    for each in candidates:
        if not git_holds(each.path, each.mode):
            manifest.leave(each.path, each.size, "git cannot hold a file of this name")
            continue
        if not each.oid and total + each.size > TOTAL_CAP:
            manifest.leave(each.path, each.size, "larger than the patch may be")
            continue
        try:
            oid = each.oid or _store(folder, each, pack, result)
        except OSError as error:
            manifest.leave(each.path, each.size, f"unreadable: {error.strerror}")
            continue
        total += 0 if each.oid else each.size
        result.changes.append(Entry(each.mode, oid, each.path, each.size))
    result.changes.sort(key=lambda change: change.path)


def _store(folder: Folder, each: _Candidate, pack: PackWriter, result: Scan) -> str:
    if each.mode == SYMLINK:
        return keep(pack, b"blob", folder.readlink(each.path))
    with os.fdopen(folder.open(each.path), "rb", buffering=0) as file:
        content = _read(file.fileno(), each.size)
    if each.path in DELIVERABLES:
        result.deliverables[each.path] = content
    if is_notebook(each.path):
        code = code_cells(content)
        result.code[each.path] = None if code is None else keep(pack, b"blob", code)
    return keep(pack, b"blob", content)


def _read(handle: int, size: int) -> bytes:
    first = os.read(handle, size)
    if len(first) == size:
        return first
    parts = [first]
    left = size - len(first)
    while left > 0 and (part := os.read(handle, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _hash(folder: Folder, path: bytes, size: int, link: bool) -> str:
    """The blob id of a file of this size."""
    digest = hashlib.sha1(b"blob %d\0" % size)
    if link:
        digest.update(folder.readlink(path))
        return digest.hexdigest()
    with os.fdopen(folder.open(path), "rb", buffering=0) as file:
        while size > 0 and (chunk := file.read(min(_CHUNK, size))):
            digest.update(chunk)
            size -= len(chunk)
    return digest.hexdigest()
