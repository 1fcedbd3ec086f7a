"""Opening a bundle that a stranger made: names, sizes and digests are checked before anything is believed."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import ValidationError

from expbench.bundle.layout import INDEX, Index, check_index, misplaced, misplaced_sealed
from expbench.errors import DataError, PrerequisiteError
from expbench.packing.layout import CHUNK, LIST_CAP, shown
from expbench.packing.members import check_end, read_head, take
from expbench.workspace.store import open_regular

_SPARE = 16 * 1024**2


@dataclass(frozen=True)
class Opened:
    """A bundle's files below ``root``; ``sha256`` and ``size`` are the bundle's own."""

    file: Path
    root: Path
    index: Index
    sha256: str
    size: int

    def read(self, name: str) -> bytes:
        """The bytes of one of its files."""
        return (self.root / name).read_bytes()


def opened(file: Path, root: Path) -> Opened:
    """Write the files of a bundle to the empty folder ``root``.

    Raises:
        DataError: it is no bundle, is damaged, or was made to do harm.
        PrerequisiteError: the disk lacks the room.
    """
    shown_as = Path(file.name)
    try:
        with open_regular(file) as raw:
            digest, size = _digest(raw), raw.tell()
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) as stream:
                index = read_members(cast("BinaryIO", stream), root, shown_as, "bundle")
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise _damaged(shown_as) from None
        why = error.strerror or "no regular file"
        raise DataError(f"{shown_as} cannot be read: {why}.") from None
    return Opened(file, root, index, digest, size)


def read_members(stream: BinaryIO, root: Path, name: Path, kind: str) -> Index:
    """Take every file of a bundle, or of a sealed part, from a stream that is unpacked already."""
    try:
        index = _index(stream, name, kind)
        look = misplaced if kind == "bundle" else misplaced_sealed
        _check_room(root, index)
        for entry in index.files:
            take(stream, entry, root, name, look, lambda done: None)
        check_end(stream, name)
    except (EOFError, zlib.error, tarfile.HeaderError):
        raise _damaged(name) from None
    return index


def _index(stream: BinaryIO, name: Path, kind: str) -> Index:
    foreign = DataError(f"{name} is no bundle: give a file that `expbench submit` made.")
    content = read_head(stream, INDEX, LIST_CAP, name, foreign)
    try:
        index = Index.model_validate_json(content)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "top"
        raise DataError(
            f"{name} has an index that this version cannot read (at {shown(where)})."
        ) from None
    if index.kind != kind:
        raise foreign
    check_index(index, name)
    return index


def _digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _check_room(root: Path, index: Index) -> None:
    need = sum(-(-file.size // 4096) * 4096 for file in index.files) + _SPARE
    free = shutil.disk_usage(root).free
    if need > free:
        raise PrerequisiteError(
            f"It would take {need // 1024**2} MiB unpacked, and {free // 1024**2} MiB are free at {root}."
        )


def _damaged(name: Path) -> DataError:
    return DataError(f"{name} is damaged or cut short: bring it here again.")
