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

FILE_CAP = 20 * 1024**2
"""Bytes; a larger new file is left out of the patch and listed."""
TOTAL_CAP = 200 * 1024**2
"""Bytes of all new and changed files together."""
FILES_CAP = 200_000
"""Files looked at; the rest of a larger tree is left out and said so."""

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
    files: int = 0
    total: int = 0

    def leave(self, path: bytes, size: int, reason: str) -> None:
        name = path.decode("utf-8", "backslashreplace")
        self.left_out.append(LeftOut(path=name, size=size, reason=reason))


def scan(folder: Path, base: Mapping[bytes, Entry], objects: Path) -> Scan:
    """Compare a folder, in which no process may run any more, with the base tree's entries.

    The bytes of every change are written as loose objects under ``objects``.
    """
    found = Scan()
    seen: set[bytes] = set()
    for path, full, status in _walk(os.fsencode(folder), found, base):
        seen.add(path)
        try:
            _compare(path, full, status, base.get(path), objects, found)
        except OSError as error:
            found.leave(path, status.st_size, f"unreadable: {error.strerror}")
    found.gone = sorted(path for path in base if path not in seen)
    return found


def _walk(
    root: bytes, found: Scan, base: Mapping[bytes, Entry]
) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """Every regular file and symbolic link: (path, full path, lstat)."""
    pending = [b""]
    while pending:
        folder = pending.pop()
        full_folder = os.path.join(root, folder)
        try:
            with os.scandir(full_folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except PermissionError:
            os.chmod(full_folder, 0o700)
            with os.scandir(full_folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        for entry in entries:
            path = os.path.join(folder, entry.name)
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                if (reason := _ignored(entry.name, entry.path)) and not _holds(base, path):
                    found.leave(path + b"/", 0, reason)
                else:
                    pending.append(path)
            elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                found.files += 1
                if found.files > FILES_CAP:
                    found.leave(path, status.st_size, f"more than {FILES_CAP} files")
                    return
                yield path, entry.path, status
            else:
                found.leave(path, 0, "neither file, folder nor symbolic link")


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
    path: bytes,
    full: bytes,
    status: os.stat_result,
    known: Entry | None,
    objects: Path,
    found: Scan,
) -> None:
    if stat.S_ISLNK(status.st_mode):
        mode, content = "120000", os.readlink(full)
        oid = hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()
        size = len(content)
    else:
        mode = "100755" if status.st_mode & 0o100 else "100644"
        size = status.st_size
        if size > FILE_CAP and not known:
            found.leave(path, size, f"larger than {FILE_CAP // 1024**2} MiB")
            return
        oid = _hash_file(full, size)
    if known and (known.oid, known.mode) == (oid, mode):
        return
    if path.endswith((b".pyc", b".pyo")) and not known:
        found.leave(path, size, "cache")
        return
    if size > FILE_CAP or found.total + size > TOTAL_CAP:
        found.leave(path, size, "larger than the patch may be")
        return
    found.total += size
    _write_object(objects, oid, os.readlink(full) if mode == "120000" else _read(full, size))
    found.changes.append(Change(mode, oid, path, size))


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
