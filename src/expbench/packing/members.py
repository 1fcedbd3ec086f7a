"""Members of a gzipped tar: written so that equal content is equal bytes, read as hostile things.

No archive library decides over a path here: headers are read one by one, and a member must be the regular
file that the list, the first member, has in its place.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import secrets
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from expbench.errors import DataError, PrerequisiteError
from expbench.packing.layout import CHUNK, PackedFile, Step, further, quiet, shown

_BLOCK = tarfile.BLOCKSIZE
_PADDING_CAP = 1024**2
_KINDS = {
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
    tarfile.DIRTYPE: "a folder",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}

Misplaced = Callable[[str], str]
"""Why a member's name is none of such an archive; empty when it is one."""
Changed = Callable[[PackedFile], Exception]
"""The error for a file whose bytes are not those of its entry."""


class Sink(Protocol):
    """What an archive is written to."""

    def write(self, content: bytes, /) -> object: ...


# --- writing -----------------------------------------------------------------------------------------


def write_members(
    sink: Sink,
    head: tuple[str, bytes],
    files: Sequence[PackedFile],
    opened: Callable[[PackedFile], BinaryIO],
    changed: Changed,
    step: Step = quiet,
) -> None:
    """Write a list, ``head``, and the files in their order; everything is hashed again on the way.

    Owners, modes and times are fixed. Raises what ``opened`` raises, and what ``changed`` makes.
    """
    done, whole = 0, sum(file.size for file in files)
    with (
        gzip.GzipFile(
            filename="", mode="wb", compresslevel=6, fileobj=cast("BinaryIO", sink), mtime=0
        ) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        tar.addfile(_member(head[0], len(head[1])), io.BytesIO(head[1]))
        for entry in files:
            with opened(entry) as file:
                source = _Source(file, further(step, done, whole))
                try:
                    tar.addfile(_member(entry.name, entry.size), cast("BinaryIO", source))
                except OSError as error:
                    if error.errno is not None:
                        raise
                    raise changed(entry) from None
            if source.digest.hexdigest() != entry.sha256:
                raise changed(entry)
            done += entry.size
            step(done, whole)


class Hashed:
    """A file that is written, with the digest of what was."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, content: bytes) -> int:
        self.digest.update(content)
        return self._file.write(content)

    def flush(self) -> None:
        self._file.flush()


@contextmanager
def fresh_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` that takes its place when the block ends well, and else is removed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise PrerequisiteError(
            f"{path} cannot be written ({error.strerror}): choose another file with --out."
        ) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class _Source:
    """A file that is read, with the digest of what was; tells of the bytes so far."""

    def __init__(self, file: BinaryIO, tell: Callable[[int], None]) -> None:
        self._file, self._tell = file, tell
        self._read = self._told = 0
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        content = self._file.read(size)
        self.digest.update(content)
        self._read += len(content)
        if self._read - self._told >= CHUNK:
            self._told = self._read
            self._tell(self._read)
        return content


def _member(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    return info


# --- reading -----------------------------------------------------------------------------------------


def read_head(stream: BinaryIO, name: str, cap: int, archive: Path, foreign: DataError) -> bytes:
    """The first member, which must be the list of that name. Raises ``foreign``, DataError, EOFError."""
    try:
        info = header(stream)
    except (tarfile.HeaderError, gzip.BadGzipFile, EOFError):
        raise foreign from None
    if info is None or info.name != name or info.type != tarfile.REGTYPE:
        raise foreign
    if not 0 <= info.size <= cap:
        raise DataError(f"{archive} is refused: its list has {info.size} bytes, over {cap}.")
    content = exactly(stream, info.size)
    exactly(stream, -info.size % _BLOCK)
    return content


def take(
    stream: BinaryIO,
    entry: PackedFile,
    folder: Path,
    archive: Path,
    misplaced: Misplaced,
    tell: Callable[[int], None],
) -> None:
    """Write the next member, which must be ``entry``. Raises DataError, EOFError, tarfile.HeaderError."""
    _check_member(header(stream), entry, archive, misplaced)
    path = folder / entry.name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.sha256(), entry.size
    with path.open("xb") as file:
        while left:
            chunk = exactly(stream, min(left, CHUNK))
            digest.update(chunk)
            file.write(chunk)
            left -= len(chunk)
            tell(entry.size - left)
        file.flush()
        os.fchmod(file.fileno(), 0o444 if entry.name.startswith("store/") else 0o644)
        os.fsync(file.fileno())
    exactly(stream, -entry.size % _BLOCK)
    if digest.hexdigest() != entry.sha256:
        raise DataError(
            f"{archive} is refused: the bytes of {entry.name} do not fit their digest, so it was "
            "changed or damaged after it was packed."
        )


def pass_over(stream: BinaryIO, entry: PackedFile, archive: Path, misplaced: Misplaced) -> None:
    """Read the next member, which must be ``entry``, and keep nothing of it."""
    _check_member(header(stream), entry, archive, misplaced)
    left = -(-entry.size // _BLOCK) * _BLOCK
    while left:
        left -= len(exactly(stream, min(left, CHUNK)))


def check_end(stream: BinaryIO, archive: Path) -> None:
    """Read the archive to its end, so that its checksum is checked; nothing may follow."""
    left = _PADDING_CAP
    while chunk := stream.read(min(left, CHUNK)):
        left -= len(chunk)
        if chunk.count(0) != len(chunk) or left <= 0:
            raise DataError(f"{archive} is refused: it holds more than its list.")


def header(stream: BinaryIO) -> tarfile.TarInfo | None:
    """The next member's header; None at the end. Raises EOFError, tarfile.HeaderError."""
    block = exactly(stream, _BLOCK)
    if not any(block):
        return None
    return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")


def exactly(stream: BinaryIO, size: int) -> bytes:
    """So many bytes of a stream. Raises EOFError."""
    content = stream.read(size)
    while len(content) < size:
        more = stream.read(size - len(content))
        if not more:
            raise EOFError
        content += more
    return content


def _check_member(
    info: tarfile.TarInfo | None, entry: PackedFile, archive: Path, misplaced: Misplaced
) -> None:
    if info is None:
        raise DataError(f"{archive} is refused: it ends before {entry.name}, which its list has.")
    why = ""
    if info.type != tarfile.REGTYPE:
        why = f"is {_KINDS.get(info.type, 'no regular file')}, and a run holds regular files only"
    elif info.name != entry.name:
        why = misplaced(info.name) or f"stands where its list has {entry.name}"
    elif info.size != entry.size:
        why = f"has {info.size} bytes, and {entry.size} in its list"
    if why:
        raise DataError(f"{archive} is refused: {shown(info.name)} {why}.")
