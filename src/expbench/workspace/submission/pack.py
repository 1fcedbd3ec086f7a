"""Blobs written one by one into a pack of git, so that neither memory nor files grow with their number."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

from expbench.workspace.repository.objects import packed

_CHUNK = 1 << 20


class BlobPack:
    """A pack in the making under an object folder that is ours."""

    def __init__(self, objects: Path) -> None:
        self._folder = objects / "pack"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / "making"
        self._file = self._path.open("w+b")
        self._file.write(_header(0))
        self._held: set[bytes] = set()

    def add(self, content: bytes) -> str:
        """Write a blob unless the pack has it. Returns its id."""
        made = packed(b"blob", content)
        if made.oid not in self._held:
            self._held.add(made.oid)
            self._file.write(made.data)
        return made.oid.hex()

    def finish(self, index: Callable[[list[str]], object]) -> None:
        """Close the pack; ``index`` runs git with arguments. An empty pack is removed."""
        with self._file as file:
            file.seek(0)
            file.write(_header(len(self._held)))
            file.seek(0)
            digest = hashlib.sha1()
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            file.write(digest.digest())
        if not self._held:
            self._path.unlink()
            return
        final = self._path.rename(self._folder / f"pack-{digest.hexdigest()}.pack")
        index(["index-pack", "--threads=1", str(final)])


def _header(count: int) -> bytes:
    return b"PACK" + struct.pack(">II", 2, count)
