"""Finding what changed in a folder, without git and without trusting what lies in it.

The folder is walked without following links. Each file's blob id is computed and compared with the
base tree's; the bytes of new and changed files go into an object folder of ours. Files that are no
source (virtual environments, caches) or are too large are listed, never silently dropped (R37).
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from expbench.schema import LeftOut
from expbench.workspace.tree import Entry
from expbench.workspace.view import by_name_only

FILE_CAP = 20 * 1024**2
"""Bytes; a larger new file is left out of the patch and listed."""
TOTAL_CAP = 200 * 1024**2
"""Bytes of all new and changed files together."""
FILES_CAP = 200_000
"""Entries looked at; of a larger tree only the base tree's files are, and that is said."""
PATH_CAP = 2_000
"""Bytes of a path; a longer one may not fit below the folder where the patch is applied."""
LISTED_CAP = 2_000
"""Files listed as left out; of more only the number is said."""

_IGNORED = frozenset(
    b".git __pycache__ node_modules .ipynb_checkpoints .pytest_cache .mypy_cache .ruff_cache .cache".split()
)
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Change:
    """A new or changed file: git's mode, the id and size of its blob, its path."""

    mode: str
    oid: str
    path: bytes
    size: int


@dataclass
class Scan:
    """What a walk found. ``gone`` are the base tree's files that are no more."""

    changes: list[Change] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    entries: int = 0
    unlisted: int = 0

    def leave(self, path: bytes, size: int, reason: str) -> None:
        if len(self.left_out) >= LISTED_CAP:
            self.unlisted += 1
        else:
            self.left_out.append(LeftOut(path=printable(path), size=size, reason=reason))


def scan(folder: Path, base: Mapping[bytes, Entry], objects: Path) -> Scan:
    """Compare a folder, in which no process may run any more, with the base tree's entries.

    The bytes of every change are written as loose objects under ``objects``.
    """
    found = Scan()
    root = os.fsencode(folder)
    seen: set[bytes] = set()
    changes: list[Change] = []
    for path, status in _walk(root, found, base):
        seen.add(path)
        changes += _compare(root, path, status, base.get(path), found)
    for path in base.keys() - seen:
        if (kept := _status(root, path)) is None:
            found.gone.append(path)
        else:
            changes += _compare(root, path, kept, base[path], found)
    found.gone.sort()
    _keep(root, changes, objects, found)
    if found.unlisted:
        found.left_out.append(LeftOut(path="", size=0, reason=f"{found.unlisted} more"))
    return found


def printable(path: bytes) -> str:
    """A path as text that any file can hold: bytes that are not UTF-8 as escapes."""
    return path.decode("utf-8", "backslashreplace")


def _walk(
    root: bytes, found: Scan, base: Mapping[bytes, Entry]
) -> Iterator[tuple[bytes, os.stat_result]]:
    """Every regular file and symbolic link with its lstat."""
    pending = [b""]
    while pending:
        folder = pending.pop()
        try:
            entries = _listing(os.path.join(root, folder))
        except OSError as error:
            found.leave(folder + b"/", 0, f"unreadable: {error.strerror}")
            continue
        for entry in entries:
            path = os.path.join(folder, entry.name)
            found.entries += 1
            if found.entries > FILES_CAP:
                found.leave(path, 0, f"more than {FILES_CAP} files: this and all that follow")
                return
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                found.leave(path, 0, f"unreadable: {error.strerror}")
                continue
            if stat.S_ISDIR(status.st_mode):
                if (reason := _ignored(entry.name, entry.path)) and not _holds(base, path):
                    found.leave(path + b"/", 0, reason)
                else:
                    pending.append(path)
            elif _comparable(status):
                yield path, status
            else:
                found.leave(path, 0, "neither file, folder nor symbolic link")


def _listing(folder: bytes) -> list[os.DirEntry[bytes]]:
    """A folder's entries by name, whatever mode an agent gave it."""
    if os.lstat(folder).st_mode & 0o700 != 0o700:
        os.chmod(folder, 0o700)
    with os.scandir(folder) as listing:
        return sorted(listing, key=lambda entry: entry.name)


def _comparable(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def _status(root: bytes, path: bytes) -> os.stat_result | None:
    """The lstat of a base file that the walk did not come to; None when it is not there."""
    parts = path.split(b"/")
    try:
        for depth in range(1, len(parts)):
            parent = os.path.join(root, *parts[:depth])
            if not stat.S_ISDIR(os.lstat(parent).st_mode):
                return None
        status = os.lstat(os.path.join(root, path))
    except OSError:
        return None
    return status if _comparable(status) else None


def _ignored(name: bytes, full: bytes) -> str:
    if name == b".git":
        return "git's own folder"
    if name in _IGNORED:
        return "cache"
    if os.path.lexists(os.path.join(full, b"pyvenv.cfg")):
        return "virtual environment"
    return ""


def _holds(base: Mapping[bytes, Entry], folder: bytes) -> bool:
    """Whether the base tree itself has files below a folder that is otherwise ignored."""
    return any(path.startswith(folder + b"/") for path in base)


def _compare(
    root: bytes, path: bytes, status: os.stat_result, known: Entry | None, found: Scan
) -> list[Change]:
    """The file as a change, when it is one that a patch can hold."""
    full, size = os.path.join(root, path), status.st_size
    if len(path) > PATH_CAP:
        found.leave(path, size, f"its path is longer than {PATH_CAP} bytes")
        return []
    if stat.S_ISREG(status.st_mode) and size > FILE_CAP and (not known or known.size != size):
        found.leave(path, size, f"larger than {FILE_CAP // 1024**2} MiB")
        return []
    try:
        if stat.S_ISLNK(status.st_mode):
            mode, content = "120000", os.readlink(full)
            oid = hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()
        else:
            mode = "100755" if status.st_mode & 0o100 else "100644"
            oid = _hash_file(full, size)
    except OSError as error:
        found.leave(path, size, f"unreadable: {error.strerror}")
        return []
    if known and (known.oid, known.mode) == (oid, mode):
        return []
    if size > FILE_CAP:
        found.leave(path, size, f"larger than {FILE_CAP // 1024**2} MiB")
        return []
    if path.endswith((b".pyc", b".pyo")) and not known:
        found.leave(path, size, "cache")
        return []
    return [Change(mode, oid, path, size)]


def _keep(root: bytes, changes: list[Change], objects: Path, found: Scan) -> None:
    """Store the changes' bytes up to the total cap: source before outputs, small before large."""
    total = 0
    for change in sorted(changes, key=lambda c: (by_name_only(c.path), c.size, c.path)):
        if total + change.size > TOTAL_CAP:
            found.leave(change.path, change.size, "larger than the patch may be")
            continue
        total += change.size
        full = os.path.join(root, change.path)
        link = change.mode == "120000"
        content = os.readlink(full) if link else _read(full, change.size)
        _write_object(objects, change.oid, content)
        found.changes.append(change)
    found.changes.sort(key=lambda change: change.path)


def _open(full: bytes) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(full, flags)
    except PermissionError:
        os.chmod(full, 0o600, follow_symlinks=True)
        return os.open(full, flags)


def _hash_file(full: bytes, size: int) -> str:
    digest = hashlib.sha1(b"blob %d\0" % size)
    with os.fdopen(_open(full), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _read(full: bytes, size: int) -> bytes:
    with os.fdopen(_open(full), "rb") as file:
        return file.read(size)


def _write_object(objects: Path, oid: str, content: bytes) -> None:
    path = objects / oid[:2] / oid[2:]
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.compress(b"blob %d\0%s" % (len(content), content), 1))
