"""Downloads shared by all tasks of a user, which none of them can change for another.

Only the gateway writes here, and only files whose digest the index named: an entry's name is made of
address and digest, it appears whole or not at all, and it is read through once more before it is given.

::

    CACHE/
    ├── key           the key that signs links
    └── files/        one file per address and digest; the longest unused go when it grows too large
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
import threading
from pathlib import Path
from typing import BinaryIO

from expbench.errors import PrerequisiteError

_CHUNK = 1 << 20
_DIGEST = re.compile(r"(sha256|sha384|sha512)=([0-9a-f]{64,128})")
_EVICTING = threading.Lock()


def is_digest(text: str) -> bool:
    """Whether a text is a digest that can be checked, ``sha256=…``."""
    return _DIGEST.fullmatch(text) is not None


class Cache:
    """A folder of verified downloads.

    Args:
        folder: private to the harness, made when it is missing.
        limit: bytes that all files may have together.

    Raises:
        PrerequisiteError: the folder cannot be written.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._files = folder / "files"
        self._limit = limit
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._files.mkdir(exist_ok=True, mode=0o700)
            self.key = _key(folder / "key")
        except OSError as error:
            raise PrerequisiteError(
                f"{folder} cannot be written ({error.strerror}): give another cache folder."
            ) from None

    def find(self, url: str, digest: str) -> BinaryIO | None:
        """An open file with this digest, read through and right; a wrong one is removed."""
        path = self._path(url, digest)
        try:
            file = path.open("rb")
        except OSError:
            return None
        hashed = _hasher(digest)
        while chunk := file.read(_CHUNK):
            hashed.update(chunk)
        if hashed.hexdigest() != digest.partition("=")[2]:
            file.close()
            path.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        file.seek(0)
        return file

    def incoming(self, url: str, digest: str) -> Incoming:
        """Takes a download in."""
        return Incoming(self._files, self._path(url, digest), digest)

    def trim(self) -> None:
        """Remove the longest unused files until the rest fits."""
        with _EVICTING:
            found = []
            for entry in os.scandir(self._files):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, entry.path))
            total = sum(size for _, size, _ in found)
            for _, size, path in sorted(found):
                if total <= self._limit:
                    return
                with contextlib.suppress(OSError):
                    os.unlink(path)
                total -= size

    def _path(self, url: str, digest: str) -> Path:
        return self._files / hashlib.sha256(f"{url}\0{digest}".encode()).hexdigest()


class Incoming:
    """A download that is hashed as it comes, and kept if its digest is right.

    A full disk only means that it is not kept.
    """

    def __init__(self, folder: Path, final: Path, digest: str) -> None:
        self._final = final
        self._digest = digest
        self._hashed = _hasher(digest)
        self._name = ""
        self._file: BinaryIO | None = None
        with contextlib.suppress(OSError):
            fd, self._name = tempfile.mkstemp(prefix="incoming-", dir=folder)
            self._file = os.fdopen(fd, "wb")

    def write(self, chunk: bytes) -> None:
        self._hashed.update(chunk)
        if self._file is not None:
            try:
                self._file.write(chunk)
            except OSError:
                self.drop()

    def right(self) -> bool:
        """Whether the whole has its digest; then it is in the cache from now on."""
        right = self._hashed.hexdigest() == self._digest.partition("=")[2]
        if right and self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
                os.replace(self._name, self._final)
                self._file = None
        self.drop()
        return right

    def drop(self) -> None:
        """Leave nothing half-written; harmless after :meth:`right`."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
            Path(self._name).unlink(missing_ok=True)


def _hasher(digest: str) -> hashlib._Hash:
    return hashlib.new(digest.partition("=")[0], usedforsecurity=False)


def _key(path: Path) -> bytes:
    """The key of this cache, made once; whoever comes second takes the first one's."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    fd, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(32))
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
    return path.read_bytes()
