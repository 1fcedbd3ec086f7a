"""Bytes by digest: the run's store for patches, scripts, outputs and trajectories."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from expbench.durable import sync_folder
from expbench.errors import DataError
from expbench.redaction import redacted_bytes
from expbench.schema import Blob
from expbench.workspace.owners import owner_of, runs_here, self_name

_DIGEST = re.compile("[0-9a-f]{64}")
_PUT = ".put-"
"""What the name of a file begins with that is not whole yet; its harness follows."""


@dataclass(frozen=True)
class BlobStore:
    """A folder of immutable files named by sha256: ``ab/cdef…``. Equal bytes are kept once.

    Files are read-only, so that nothing edits one by accident. Processes may put at the same time.
    """

    root: Path

    def put(self, content: bytes) -> Blob:
        """Keep the bytes, without the values of secrets; they are on disk when this returns.

        A kill in the middle leaves no partial file under a digest's name.
        """
        content = redacted_bytes(content)
        blob = Blob(digest=hashlib.sha256(content).hexdigest(), size=len(content))
        path = self.path(blob)
        if not _is_file_of(path, blob.size):
            new = not path.parent.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=f"{_PUT}{self_name()}-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fchmod(file.fileno(), 0o444)
                    os.fsync(file.fileno())
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            sync_folder(path.parent)
            if new:
                sync_folder(self.root)
        return blob

    def sweep(self, going: str = "") -> None:
        """Remove what processes that were killed, or are ``going``, had not finished putting."""
        for path in self.root.glob(f"*/{_PUT}*"):
            owner = owner_of(path.name.removeprefix(_PUT))
            if owner and (owner == going or not runs_here(owner)):
                path.unlink(missing_ok=True)

    def get(self, blob: Blob) -> bytes:
        """The bytes of a blob.

        Raises:
            DataError: they are not there, or are not what the digest says.
        """
        with self.open(blob) as file:
            content = file.read(blob.size)
        if hashlib.sha256(content).hexdigest() != blob.digest:
            raise self._changed(blob)
        return content

    def text(self, blob: Blob | None) -> str:
        """A blob's bytes as text, undecodable ones replaced; empty for ``None``."""
        return self.get(blob).decode("utf-8", errors="replace") if blob else ""

    def open(self, blob: Blob) -> BinaryIO:
        """A blob's file, open for reading; its type and size are checked, its digest is not.

        Raises:
            DataError: it is not there, is no regular file, or has another size.
        """
        path = self.path(blob)
        try:
            file = open_regular(path)
        except FileNotFoundError:
            raise DataError(
                f"{self.root} lacks the bytes {blob.digest[:12]}…: the run's folder is incomplete."
            ) from None
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror}).") from None
        if os.fstat(file.fileno()).st_size != blob.size:
            file.close()
            raise self._changed(blob)
        return file

    def path(self, blob: Blob) -> Path:
        """Where a blob's bytes lie. Raises DataError for a digest that is none."""
        if not _DIGEST.fullmatch(blob.digest):
            raise DataError(f"{blob.digest[:80]!r} is no digest: the run's records are damaged.")
        return self.root / blob.digest[:2] / blob.digest[2:]

    def _changed(self, blob: Blob) -> DataError:
        return DataError(f"{self.path(blob)} was changed: its bytes do not fit its name.")


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading.

    Raises:
        OSError: it is not there, or is a link, device, pipe or folder; opening it never waits.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "it is no regular file", str(path))
    return os.fdopen(handle, "rb")


def _is_file_of(path: Path, size: int) -> bool:
    """Whether a regular file of that size is there: a torn or foreign one is put anew."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size
