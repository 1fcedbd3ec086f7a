"""Unpacking a compressed tar stream that an agent may have made to do harm.

No archive library decides over a path. Headers are read one by one; folders and regular files are written
through descriptors of the folders above them, which no link can lead elsewhere; symbolic links are made
last, as text that nothing here follows. What is not taken is recorded with the reason; what exceeds a
bound ends the unpacking.
"""

from __future__ import annotations

import errno
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from expbench.errors import PrerequisiteError
from expbench.schema import LeftOut
from expbench.workspace.submission.names import printable

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 16
_NAME_CAP = 4096
_PART_CAP = 255
_LINKS_CAP = 16 * 1024**2
_ROWS = 1000
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_REFUSED = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}
_FATAL = {
    tarfile.GNUTYPE_SPARSE: "a sparse file",
    tarfile.XHDTYPE: "an extended header",
    tarfile.XGLTYPE: "an extended header",
    tarfile.SOLARIS_XHDTYPE: "an extended header",
}
_LONG = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Caps:
    """What may be taken at most: members of all kinds, and bytes unpacked, of one file, as packed."""

    members: int = 500_000
    size: int = 20 * 1024**3
    file: int = 4 * 1024**3
    archive: int = 8 * 1024**3


@dataclass(frozen=True)
class Taken:
    """What was unpacked: regular files, their bytes, and what was refused.

    ``stopped`` says why the rest of the archive was not read; empty when all of it was.
    """

    files: int
    size: int
    refused: tuple[LeftOut, ...] = ()
    stopped: str = ""


def extract(archive: IO[bytes], folder: Path, caps: Caps) -> Taken:
    """Unpack a gzip-compressed tar file into a new or empty folder.

    Raises:
        PrerequisiteError: the folder holds something, cannot be written, or its disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise PrerequisiteError(f"{folder} holds something already: give a new folder.")
        with closing(_Writer(folder)) as writer:
            stopped = ""
            try:
                for member in _members(_Stream(archive, caps.size), caps):
                    writer.take(member, caps)
            except _Stop as stop:
                stopped = str(stop)
            writer.link()
            return Taken(writer.files, writer.size, writer.rows(), stopped)
    except OSError as error:
        raise PrerequisiteError(
            f"{folder} cannot be written ({error.strerror}): free space, or give another folder."
        ) from None


class _Stop(Exception):  # noqa: N818
    """The rest of the archive is not read, for this reason."""


class _Stream:
    """Exactly as many unpacked bytes as are asked for, and never more than ``cap`` in all."""

    def __init__(self, file: IO[bytes], cap: int) -> None:
        self._file = file
        self._left = cap
        self._zip = zlib.decompressobj(31)
        self._buffer = b""

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes, at most a chunk; fewer never."""
        while len(self._buffer) < count:
            self._buffer += self._more()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def body(self, size: int) -> Iterator[bytes]:
        """A member's bytes in chunks, to the last; its padding is passed."""
        for start in range(0, size, _CHUNK):
            yield self.take(min(_CHUNK, size - start))
        self.take(-size % _BLOCK)

    def _more(self) -> bytes:
        while not self._zip.eof:
            packed = self._zip.unconsumed_tail or self._file.read(_CHUNK)
            try:
                found = self._zip.decompress(packed, _CHUNK)
            except zlib.error:
                break
            self._left -= len(found)
            if self._left < 0:
                raise _Stop("it unpacks to more than may be taken")
            if found:
                return found
            if not packed:
                break
        raise _Stop("the archive is damaged or cut short")


@dataclass
class _Member:
    """One entry: its name, what a link points to, and its bytes, which must be read to the end."""

    info: tarfile.TarInfo
    name: bytes
    target: bytes
    body: Iterator[bytes] = field(repr=False)


def _members(stream: _Stream, caps: Caps) -> Iterator[_Member]:
    long: dict[bytes, bytes] = {}
    count = 0
    while (info := _header(stream)) is not None:
        count += 1
        if count > caps.members:
            raise _Stop(f"it holds more than {caps.members} members")
        if info.type in _LONG:
            if info.size > _NAME_CAP + 1:
                raise _Stop("a name is too long")
            long[info.type] = b"".join(stream.body(info.size)).partition(b"\0")[0]
            continue
        name = long.pop(tarfile.GNUTYPE_LONGNAME, os.fsencode(info.name))
        target = long.pop(tarfile.GNUTYPE_LONGLINK, os.fsencode(info.linkname))
        if why := _FATAL.get(info.type):
            raise _Stop(f"{printable(name)} is {why}")
        body = stream.body(info.size if info.type in _FILES else 0)
        yield _Member(info, name, target, body)
        for _ in body:
            pass


def _header(stream: _Stream) -> tarfile.TarInfo | None:
    block = stream.take(_BLOCK)
    if block == bytes(_BLOCK):
        return None
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        raise _Stop("the archive is damaged or cut short") from None
    if info.size < 0:
        raise _Stop("the archive is damaged or cut short")
    return info


class _Writer:
    """The folder that is written. Raises OSError when it cannot be, for reasons of its own."""

    def __init__(self, folder: Path) -> None:
        self.files = 0
        self.size = 0
        self._root = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._last: tuple[tuple[bytes, ...], int] = ((), self._root)
        self._links: dict[tuple[bytes, ...], bytes] = {}
        self._room_for_links = _LINKS_CAP
        self._rows: list[LeftOut] = []
        self._more = LeftOut(path="", size=0, reason="more was refused", files=0)

    def close(self) -> None:
        self._forget()
        os.close(self._root)

    def rows(self) -> tuple[LeftOut, ...]:
        """What was refused, one by one as long as there is room."""
        return (*self._rows, self._more) if self._more.files else tuple(self._rows)

    def take(self, member: _Member, caps: Caps) -> None:
        """Write a member, or record why not."""
        parts, why = _parts(member.name)
        size = member.info.size
        if not why and self._links and self._below_link(parts):
            why = "its folder is a link"
        if not why and member.info.type in _FILES and size > caps.file:
            why = "larger than one file may be"
        if why:
            return self._refuse(member.name, size, why)
        try:
            self._write(member, parts)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO):
                raise
            self._refuse(member.name, size, _reason(error))
        return None

    def link(self) -> None:
        """Make the links, now that nothing more is written."""
        for parts, target in self._links.items():
            try:
                os.symlink(target, parts[-1], dir_fd=self._folder(parts[:-1]))
            except OSError as error:
                self._refuse(b"/".join(parts), len(target), _reason(error))

    def _write(self, member: _Member, parts: tuple[bytes, ...]) -> None:
        kind = member.info.type
        if kind == tarfile.DIRTYPE:
            self._folder(parts)
        elif why := _REFUSED.get(kind):
            self._refuse(member.name, 0, why)
        elif not parts:
            self._refuse(member.name, member.info.size, "a name of nothing")
        elif kind == tarfile.SYMTYPE:
            self._keep_link(member, parts)
        elif kind in _FILES:
            self._file(member, parts)
        else:
            self._refuse(member.name, 0, "of an unknown kind")

    def _keep_link(self, member: _Member, parts: tuple[bytes, ...]) -> None:
        if not 0 < len(member.target) < _NAME_CAP or parts in self._links:
            return self._refuse(member.name, 0, "named twice, or a link to nothing")
        self._room_for_links -= len(member.name) + len(member.target) + 100
        if self._room_for_links < 0:
            raise _Stop("it holds too many links")
        self._links[parts] = member.target
        return None

    def _file(self, member: _Member, parts: tuple[bytes, ...]) -> None:
        parent = self._folder(parts[:-1])
        mode = 0o755 if member.info.mode & 0o100 else 0o644
        handle = os.open(parts[-1], _NEW, mode, dir_fd=parent)
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in member.body:
                    file.write(chunk)
        except BaseException:
            with suppress(OSError):
                os.unlink(parts[-1], dir_fd=parent)
            raise
        self.files += 1
        self.size += member.info.size

    def _below_link(self, parts: tuple[bytes, ...]) -> bool:
        return any(parts[:depth] in self._links for depth in range(1, len(parts)))

    def _folder(self, parts: tuple[bytes, ...]) -> int:
        """A folder's descriptor, made with all above it where it is not there. Raises OSError."""
        if parts != self._last[0]:
            self._forget()
            handle = self._root
            for part in parts:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=handle)
                try:
                    below = os.open(part, _FOLDER, dir_fd=handle)
                finally:
                    if handle != self._root:
                        os.close(handle)
                handle = below
            self._last = (parts, handle)
        return self._last[1]

    def _forget(self) -> None:
        if self._last[1] != self._root:
            os.close(self._last[1])
        self._last = ((), self._root)

    def _refuse(self, name: bytes, size: int, why: str) -> None:
        if len(self._rows) < _ROWS:
            self._rows.append(LeftOut(path=printable(name[:_NAME_CAP]), size=size, reason=why))
        else:
            more = self._more
            self._more = more.model_copy(update={"size": more.size + size, "files": more.files + 1})


def _parts(name: bytes) -> tuple[tuple[bytes, ...], str]:
    """A member's path below the folder, or why it has none there."""
    parts = tuple(part for part in name.split(b"/") if part not in (b"", b"."))
    if name.startswith(b"/"):
        return (), "an absolute name"
    if b".." in parts:
        return (), "a name that leads out of the folder"
    if len(name) > _NAME_CAP or any(len(part) > _PART_CAP for part in parts):
        return (), "a name that is too long"
    return parts, ""


def _reason(error: OSError) -> str:
    if error.errno == errno.EEXIST:
        return "named twice"
    return f"its place is taken: {error.strerror}"
