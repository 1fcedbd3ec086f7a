"""Reading named files out of a folder or archive that a stranger may have made.

Nothing is ever unpacked: a wanted file's bytes are read and handed on, so a member's name decides over
no path. Archives are refused whole when they hold a name that would leave their folder, and a wanted
file when it is a link; sizes are counted while they are read, never believed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from expbench.errors import DataError

MEMBER_CAP = 16 * 1024 * 1024
"""Bytes of one wanted file; the release's largest has a fortieth of it."""
TOTAL_CAP = 256 * 1024 * 1024
"""Bytes that an archive may have unpacked; the release's repository has a fourteenth of it."""
NAMES_CAP = 200_000
"""Names in a folder or archive."""

_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


def wanted_members(given: Path, names: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    """(path inside, content) of every file below ``given`` that has one of the names.

    Raises:
        DataError: ``given`` is neither a folder nor a zip or tar archive, is damaged, too large, or
            made to do harm.
    """
    if given.is_dir():
        yield from _from_folder(given, names)
        return
    if not given.is_file():
        raise DataError(f"There is no folder or archive {given}.")
    try:
        if zipfile.is_zipfile(given):
            yield from _from_zip(given, names)
        else:
            yield from _from_tar(given, names)
    except _DAMAGED as error:
        raise DataError(
            f"{given} cannot be read as a zip or tar archive ({error or type(error).__name__}): "
            "give a whole archive or a folder."
        ) from None


def _from_folder(given: Path, names: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    count = 0
    for parent, folders, files in os.walk(given):
        folders.sort()
        count += len(files)
        _check_count(given, count)
        for name in sorted(names.intersection(files)):
            path = Path(parent) / name
            if not path.is_file():
                continue
            try:
                with path.open("rb") as file:
                    content = file.read(MEMBER_CAP + 1)
            except OSError as error:
                raise DataError(f"{path} cannot be read ({error.strerror}).") from None
            inside = str(path.relative_to(given))
            yield inside, _checked(given, inside, content)


def _from_zip(given: Path, names: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    budget = TOTAL_CAP
    with zipfile.ZipFile(given) as archive:
        _check_count(given, len(archive.infolist()))
        for member in archive.infolist():
            _check_name(given, member.filename)
        for member in archive.infolist():
            if member.filename.rpartition("/")[2] not in names:
                continue
            kind = stat.S_IFMT(member.external_attr >> 16)
            _check_regular(given, member.filename, kind in (0, stat.S_IFREG))
            with archive.open(member) as file:
                content = _checked(given, member.filename, file.read(MEMBER_CAP + 1))
            budget -= len(content)
            if budget < 0:
                raise _too_large(given)
            yield member.filename, content


def _from_tar(given: Path, names: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    with _unpacked(given) as raw:
        stream = cast("BinaryIO", _Counted(raw, given))
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for count, member in enumerate(archive):
                _check_count(given, count)
                _check_name(given, member.name)
                if member.isdir() or member.name.rpartition("/")[2] not in names:
                    continue
                _check_regular(given, member.name, member.isreg())
                file = archive.extractfile(member) if member.size <= MEMBER_CAP else None
                if file is None:
                    raise _too_large(given, member.name)
                yield member.name, _checked(given, member.name, file.read(MEMBER_CAP + 1))


class _Counted:
    """An unpacked stream that ends in an error when it gives more than an archive may have."""

    def __init__(self, raw: BinaryIO, given: Path) -> None:
        self._raw, self._given, self._left = raw, given, TOTAL_CAP

    def read(self, size: int) -> bytes:
        content = self._raw.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise _too_large(self._given)
        return content


def _unpacked(given: Path) -> BinaryIO:
    with given.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast("BinaryIO", gzip.open(given))
    if start.startswith(b"BZh"):
        return cast("BinaryIO", bz2.open(given))
    if start.startswith(b"\xfd7zXZ"):
        return cast("BinaryIO", lzma.open(given))
    return given.open("rb")


def _check_name(given: Path, name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        raise DataError(
            f"{given} holds {name!r}, a name that leads out of its folder: it is not used."
        )


def _check_regular(given: Path, name: str, regular: bool) -> None:
    if not regular:
        raise DataError(f"{name} in {given} is a link or device, not a file: it is not used.")


def _check_count(given: Path, count: int) -> None:
    if count > NAMES_CAP:
        raise DataError(
            f"{given} holds over {NAMES_CAP} files: give the release's repository only."
        )


def _checked(given: Path, name: str, content: bytes) -> bytes:
    if len(content) > MEMBER_CAP:
        raise _too_large(given, name)
    return content


def _too_large(given: Path, name: str = "") -> DataError:
    what = f"{name} in {given}" if name else f"{given}, unpacked,"
    return DataError(f"{what} is far larger than the release has it: it is not used.")
