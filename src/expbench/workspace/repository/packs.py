"""Reading whole objects of packs, and loose objects, without a git process.

Our own packs hold nothing but whole objects (``objects``). What another pack holds as a difference is
passed over: git reads it.
"""

from __future__ import annotations

import mmap
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
        place = 0
        while self.data[place] & 0x80:
            place += 1
        kind = _KINDS.get((self.data[0] >> 4) & 7)
        if kind is None:
            raise ValueError("a difference, not an object")
        try:
            return kind, zlib.decompress(self.data[place + 1 :])
        except zlib.error as error:
            raise ValueError(str(error)) from None


class Packs:
    """The packs of one object folder, and the loose objects beside them."""

    def __init__(self, objects: Path) -> None:
        self._objects = objects

    def entry(self, oid: str) -> Packed | None:
        """An object as it lies in a pack; nothing when it lies elsewhere, or only as a difference."""
        wanted = bytes.fromhex(oid)
        for pack in self._by_first[wanted[0]]:
            try:
                if (found := pack.find(wanted)) is not None:
                    return found
            except OSError:
                continue
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
        return ((pack.path, pack.oids()) for pack in self._packs)

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
        opened = map(_open, sorted((self._objects / "pack").glob("pack-*.idx")))
        return [pack for pack in opened if pack is not None]


@dataclass(frozen=True)
class _Pack:
    path: Path
    index: mmap.mmap
    size: int
    count: int

    def find(self, oid: bytes) -> Packed | None:
        low = self._fanout(oid[0] - 1) if oid[0] else 0
        high = self._fanout(oid[0])
        while low < high:
            middle = (low + high) // 2
            found = self.index[_OIDS + 20 * middle : _OIDS + 20 * middle + 20]
            if found == oid:
                return self._entry(oid, middle)
            low, high = (middle + 1, high) if found < oid else (low, middle)
        return None

    def oids(self) -> frozenset[bytes]:
        places = range(_OIDS, _OIDS + 20 * self.count, 20)
        return frozenset(self.index[place : place + 20] for place in places)

    @cached_property
    def offsets(self) -> array[int]:
        """Where the objects begin, in order, and where the last one ends."""
        place = _OIDS + 24 * self.count
        found = struct.unpack(f">{self.count}I", self.index[place : place + 4 * self.count])
        end = max(0, self.size - _TRAILER)
        return array("Q", sorted((*(place for place in found if place < end), end)))

    def _entry(self, oid: bytes, number: int) -> Packed | None:
        start = self._number(_OIDS + 24 * self.count + 4 * number)
        after = bisect_right(self.offsets, start)
        if after == len(self.offsets):
            return None
        # Not mapped: what was read of a map counts as memory of the process for as long as it lives.
        file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.pread(file, self.offsets[after] - start, start)
        finally:
            os.close(file)
        if not data or (data[0] >> 4) & 7 not in _KINDS:
            return None
        return Packed(oid, data, self._number(_OIDS + 20 * self.count + 4 * number))

    def _fanout(self, first: int) -> int:
        return self._number(_HEAD + 4 * first)

    def _number(self, place: int) -> int:
        return int.from_bytes(self.index[place : place + 4], "big")


def _open(index: Path) -> _Pack | None:
    """A pack; nothing when it is damaged, or so large that its offsets are kept elsewhere."""
    path = index.with_suffix(".pack")
    try:
        with index.open("rb") as file:
            facts = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = path.stat().st_size
    except (OSError, ValueError):
        return None
    whole = len(facts) >= _OIDS + 40 and facts[:_HEAD] == b"\xfftOc\0\0\0\2"
    count = int.from_bytes(facts[_OIDS - 4 : _OIDS], "big") if whole else -1
    if count < 0 or len(facts) != _OIDS + 28 * count + 40 or size >= 0x80000000:
        return None
    return _Pack(path, facts, size, count)
