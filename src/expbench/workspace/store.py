"""Bytes by digest: the run's store for patches, scripts, outputs and trajectories."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from expbench.errors import DataError
from expbench.schema import Blob


@dataclass(frozen=True)
class BlobStore:
    """A folder of immutable files named by sha256: ``ab/cdef…``. Equal bytes are kept once."""

    root: Path

    def put(self, content: bytes) -> Blob:
        """Keep the bytes; a kill in the middle leaves no partial file under a digest's name."""
        blob = Blob(digest=hashlib.sha256(content).hexdigest(), size=len(content))
        path = self._path(blob.digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".put-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        return blob

    def get(self, blob: Blob) -> bytes:
        """The bytes of a blob.

        Raises:
            DataError: they are not there, or are not what the digest says.
        """
        try:
            content = self._path(blob.digest).read_bytes()
        except FileNotFoundError:
            raise DataError(
                f"{self.root} lacks the bytes {blob.digest[:12]}…: the run's folder is incomplete."
            ) from None
        if hashlib.sha256(content).hexdigest() != blob.digest:
            raise DataError(
                f"{self._path(blob.digest)} was changed: its bytes do not fit its name."
            )
        return content

    def text(self, blob: Blob | None) -> str:
        """A blob's bytes as text, undecodable ones replaced; empty for ``None``."""
        return self.get(blob).decode("utf-8", errors="replace") if blob else ""

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest[2:]
