"""Reading whole objects of packs, and loose objects, without a git process.

Our own packs hold nothing but whole objects (``objects``). What another pack holds as a difference is
passed over: git reads it.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_HEAD = 8
_OIDS = _HEAD + 1024
_TRAILER = 20
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}


@dataclass(frozen=True)
class Packed:
    """An object as it lies in a pack: header and compressed content, with the CRC of both."""

    oid: bytes
    data: bytes
    crc: int

    def content(self) -> tuple[bytes, bytes]:
        """(kind, content). Raises ValueError for what is no whole object."""
        kind = _kind(self.data)
        if kind is None:
            raise ValueError("a difference, not an object")
        size, shift, place = self.data[0] & 15, 4, 0
        while self.data[place] & 0x80:
            place += 1
            size |= (self.data[place] & 0x7F) << shift
            shift += 7
        # A wrong size costs another allocation; a mad one must not cost the memory.
        room = min(max(size, 1), 2000 * len(self.data))
        try:
            return kind, zlib.decompress(memoryview(self.data)[place + 1 :], bufsize=room)
        except zlib.error as error:
            raise ValueError(str(error)) from None


class Packs:
    """The packs of one object folder, and the loose objects beside them.

    As a context manager it keeps each pack open that it has read from, for many reads in a row.
    Threads may share it.

    Args:
        known: packs of another folder. One that has the very files of one here, by links, is taken from
            there with what was read of it.
    """

    def __init__(self, objects: Path, known: Packs | None = None) -> None:
        self._objects = objects
        self._twins = {pack.path.stem: pack for pack in known._packs} if known else {}
        self._handles: dict[Path, int] | None = None

    def __enter__(self) -> Packs:
        self._handles = {}
        return self

    def __exit__(self, *_: object) -> None:
        handles, self._handles = self._handles or {}, None
        for handle in handles.values():
            os.close(handle)

    def __contains__(self, oid: str) -> bool:
        """Whether an object lies whole in a pack."""
        return any(self._data(pack, number, 1) for pack, number in self._places(oid))

    def entry(self, oid: str) -> Packed | None:
        """An object as it lies in a pack; nothing when it lies elsewhere, or only as a difference."""
        for pack, number in self._places(oid):
            if data := self._data(pack, number):
                return Packed(bytes.fromhex(oid), data, pack.crc(number))
        return None

    def read(self, oid: str) -> tuple[bytes, bytes] | None:
        """(kind, content) of an object; nothing when only git can read it."""
        entry = self.entry(oid)
        try:
            return entry.content() if entry is not None else self._loose(oid)
        except (OSError, ValueError, zlib.error):
            return None

    def packs(self) -> Iterator[tuple[Path, frozenset[bytes]]]:
        """The path of each pack, and the ids of what is in it."""
        return ((pack.path, pack.oids) for pack in self._packs)

    def kinds(self) -> Iterator[tuple[frozenset[str], bytes]]:
        """The ids of the objects of each kind in each pack.

        Raises:
            ValueError: a pack cannot be read, holds a difference, or more than its index tells.
        """
        names = {os.path.splitext(name)[0] for name in os.listdir(self._objects / "pack")}
        if unread := names - {pack.path.stem for pack in self._packs}:
            raise ValueError(f"{min(unread)} is no whole pack")
        return ((oids, kind) for pack in self._packs for kind, oids in pack.kinds.items())

    def _places(self, oid: str) -> Iterator[tuple[_Pack, int]]:
        wanted = bytes.fromhex(oid)
        for pack in self._by_first[wanted[0]]:
            if (number := pack.find(wanted)) is not None:
                yield pack, number

    def _data(self, pack: _Pack, number: int, most: int | None = None) -> bytes:
        """The bytes of a whole object, or its first ones; empty when it is a difference or damaged."""
        start, size = pack.span(number)
        try:
            data = self._read(pack.path, start, size if most is None else min(size, most))
        except OSError:
            return b""
        return data if data and _kind(data) is not None else b""

    def _read(self, path: Path, start: int, size: int) -> bytes:
        # Not mapped: what was read of a map counts as memory of the process for as long as it lives.
        handles = self._handles
        if handles is None:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return os.pread(handle, size, start)
            finally:
                os.close(handle)
        if path not in handles:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            if handles.setdefault(path, handle) != handle:
                os.close(handle)
        return os.pread(handles[path], size, start)

    def _loose(self, oid: str) -> tuple[bytes, bytes] | None:
        content = (self._objects / oid[:2] / oid[2:]).read_bytes()
        head, _, body = zlib.decompress(content).partition(b"\0")
        return head.partition(b" ")[0], body

    @cached_property
    def _by_first(self) -> list[list[_Pack]]:
        """The packs that hold ids with each first byte."""
        found: list[list[_Pack]] = [[] for _ in range(256)]
        for pack in self._packs:
            before = 0
            for first, total in enumerate(struct.unpack(">256I", pack.index[_HEAD:_OIDS])):
                if total > before:
                    found[first].append(pack)
                before = total
        return found

    @cached_property
    def _packs(self) -> list[_Pack]:
        folder = os.path.join(self._objects, "pack")
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return []
        stems = (name[:-4] for name in names if name.startswith("pack-") and name.endswith(".idx"))
        opened = (_open(os.path.join(folder, stem), self._twins.get(stem)) for stem in stems)
        return [pack for pack in opened if pack is not None]


@dataclass(frozen=True)
class _Pack:
    path: Path
    index: bytes
    size: int
    count: int
    files: tuple[_File, _File]

    def find(self, oid: bytes) -> int | None:
        """The place of an object in the order of the ids."""
        low = self._fanout(oid[0] - 1) if oid[0] else 0
        high = self._fanout(oid[0])
        while low < high:
            middle = (low + high) // 2
            found = self.index[_OIDS + 20 * middle : _OIDS + 20 * middle + 20]
            if found == oid:
                return middle
            low, high = (middle + 1, high) if found < oid else (low, middle)
        return None

    @cached_property
    def oids(self) -> frozenset[bytes]:
        return frozenset(self.ordered())

    @cached_property
    def kinds(self) -> dict[bytes, frozenset[str]]:
        """The ids of each kind. Raises OSError, or ValueError for what is no whole pack."""
        found: dict[bytes, set[str]] = {}
        handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if os.pread(handle, 12, 0) != b"PACK" + struct.pack(">II", 2, self.count):
                raise ValueError(f"{self.path.stem} is not what its index tells")
            for number, oid in enumerate(self.ordered()):
                start, size = self.span(number)
                kind = _kind((size and os.pread(handle, 1, start)) or b"\0")
                if kind is None:
                    raise ValueError(f"{self.path.stem} holds a difference")
                found.setdefault(kind, set()).add(oid.hex())
        finally:
            os.close(handle)
        return {kind: frozenset(oids) for kind, oids in found.items()}

    def ordered(self) -> Iterator[bytes]:
        places = range(_OIDS, _OIDS + 20 * self.count, 20)
        return (self.index[place : place + 20] for place in places)

    def span(self, number: int) -> tuple[int, int]:
        """Where an object begins and its length in bytes, none when the index is damaged."""
        start = self._number(_OIDS + 24 * self.count + 4 * number)
        after = bisect_right(self.offsets, start)
        return start, self.offsets[after] - start if after < len(self.offsets) else 0

    def crc(self, number: int) -> int:
        return self._number(_OIDS + 20 * self.count + 4 * number)

    @cached_property
    def offsets(self) -> array[int]:
        """Where the objects begin, in order, and where the last one ends."""
        place = _OIDS + 24 * self.count
        found = struct.unpack(f">{self.count}I", self.index[place : place + 4 * self.count])
        end = max(0, self.size - _TRAILER)
        return array("Q", sorted((*(place for place in found if place < end), end)))

    def _fanout(self, first: int) -> int:
        return self._number(_HEAD + 4 * first)

    def _number(self, place: int) -> int:
        return int.from_bytes(self.index[place : place + 4], "big")


def loose_kind(path: Path) -> bytes:
    """The kind of a loose object. Raises OSError, or ValueError for what is none."""
    try:
        with path.open("rb") as file:
            head = zlib.decompressobj().decompress(file.read(64), 32)
    except zlib.error as error:
        raise ValueError(f"{path.name} is no object: {error}") from None
    return head.partition(b" ")[0]


def _kind(data: bytes) -> bytes | None:
    return _KINDS.get((data[0] >> 4) & 7)


_File = tuple[int, int, int, int]
"""What tells a file from all others and from itself before it was written again."""


def _file(path: str) -> _File:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _open(place: str, twin: _Pack | None = None) -> _Pack | None:
    """A pack; nothing when it is damaged, or so large that its offsets are kept elsewhere.

    Args:
        place: its path without suffix.
        twin: a pack of the same name that was opened before.
    """
    try:
        files = _file(f"{place}.pack"), _file(f"{place}.idx")
        if twin is not None and twin.files == files:
            return twin
        facts = Path(f"{place}.idx").read_bytes()
    except OSError:
        return None
    size = files[0][2]
    whole = len(facts) >= _OIDS + 40 and facts[:_HEAD] == b"\xfftOc\0\0\0\2"
    count = int.from_bytes(facts[_OIDS - 4 : _OIDS], "big") if whole else -1
    if count < 0 or len(facts) != _OIDS + 28 * count + 40 or size >= 0x80000000:
        return None
    if hashlib.sha1(facts[:-20]).digest() != facts[-20:]:
        return None
    return _Pack(Path(f"{place}.pack"), facts, size, count, files)
