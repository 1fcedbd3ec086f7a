"""git's objects, packs and index as bytes, written by us.

A masked workspace differs from its neighbour in a few trees and one commit. Writing these here, and
taking everything else from what is stored already, costs no git process and no second compression.
Formats: git's documentation of objects, pack files (version 2), pack indexes (version 2) and the index
(version 2). Tests have git itself read back what is written.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.workspace.repository.git import IDENTITY
from expbench.workspace.repository.packs import Packed
from expbench.workspace.repository.tree import Entry

LARGE = 16 * 1024
"""Bytes from which a blob lies in a pack of large ones, apart from the code that tasks hide."""

_LITTLE = 0.8
"""The share of a part's size from which compressing costs more time than it saves in bytes."""

PACK_CAP = 0x7FFFFFFF
"""Bytes of a pack that its index can still count."""
FOLDER = "40000"
_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
_STAT = struct.Struct(">10I")
_LONGEST_NAME = 0xFFF
_MASK_32 = 0xFFFFFFFF


@dataclass(frozen=True)
class IndexEntry:
    """A file of an index with ``stat``, the 40 bytes of its facts on the file system."""

    stat: bytes
    entry: Entry

    @cached_property
    def row(self) -> bytes:
        """As it lies in an index."""
        path = self.entry.path
        flags = struct.pack(">H", min(len(path), _LONGEST_NAME))
        body = self.stat + bytes.fromhex(self.entry.oid) + flags + path
        return body + b"\0" * (8 - len(body) % 8)


def object_id(kind: bytes, content: bytes) -> str:
    """The SHA-1 name of an object."""
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(content), content)).hexdigest()


def packed(kind: bytes, content: bytes) -> Packed:
    """An object made ready for a pack; what shrinks little is only wrapped, as trees are made from it."""
    size = len(content)
    header = bytearray()
    byte, rest = _KINDS[kind] << 4 | (size & 15), size >> 4
    while rest:
        header.append(byte | 0x80)
        byte, rest = rest & 0x7F, rest >> 7
    header.append(byte)
    # Not the first bytes, which of many formats are a header that says little of the rest.
    part = content[size // 2 : size // 2 + LARGE] if size >= 2 * LARGE else b""
    level = 0 if part and len(zlib.compress(part, 1)) > _LITTLE * len(part) else 1
    data = bytes(header) + zlib.compress(content, level)
    return Packed(bytes.fromhex(object_id(kind, content)), data, zlib.crc32(data))


def keep_objects(objects: Path, found: Iterable[tuple[bytes, bytes]]) -> None:
    """Write objects, given as (kind, content), in our form: whole, in several packs.

    Blobs are spread over packs by size and id. A workspace links to every pack of which it hides
    nothing, and copies what it may have of the few others.
    """
    writers: dict[tuple[bytes, bool, int], PackWriter] = {}
    try:
        for kind, content in found:
            entry = packed(kind, content)
            large = len(content) >= LARGE
            key = (kind, large, entry.oid[0] >> 4) if kind == b"blob" else (b"", False, 0)
            if key not in writers:
                writers[key] = PackWriter(objects / "pack")
            writers[key].add(entry)
        for writer in writers.values():
            writer.finish()
    finally:
        for writer in writers.values():
            writer.close()


def write_commit(objects: Path, files: Sequence[tuple[bytes, bytes, bytes]], message: str) -> str:
    """Write a commit without parent of these files into an empty object folder; its id.

    Args:
        files: (path, git's mode, content) in the order of the paths.
    """
    entries = [
        Entry(mode.decode(), object_id(b"blob", content), path, len(content))
        for path, mode, content in files
    ]
    tree, trees = trees_of(entries)
    commit = commit_content(tree, message, IDENTITY)
    blobs = ((b"blob", content) for _, _, content in files)
    keep_objects(
        objects, chain(blobs, ((b"tree", each) for each in trees.values()), [(b"commit", commit)])
    )
    return object_id(b"commit", commit)


class PackWriter:
    """A pack in the making, of objects in any order; memory holds its table only."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".making-", dir=folder)
        self._file = os.fdopen(handle, "w+b", buffering=1 << 20)
        self._making = Path(name)
        self._rows: dict[bytes, tuple[int, int]] = {}
        self._place = self._file.write(b"PACK" + struct.pack(">II", 2, 0))

    def add(self, entry: Packed) -> None:
        """Add an object, unless it is there."""
        if entry.oid not in self._rows:
            self._rows[entry.oid] = (entry.crc, self._place)
            self._place += self._file.write(entry.data)
        if self._place > PACK_CAP:
            raise InfrastructureError("a pack of the store would be larger than 2 GiB")

    def finish(self) -> None:
        """Give the pack its index and its name."""
        self._file.seek(4)
        self._file.write(struct.pack(">II", 2, len(self._rows)))
        self._file.seek(0)
        digest = hashlib.sha1()
        while chunk := self._file.read(1 << 20):
            digest.update(chunk)
        self._file.write(digest.digest())
        self._file.close()
        final = self._making.with_name(f"pack-{digest.hexdigest()}.pack")
        rows = [(oid, *self._rows[oid]) for oid in sorted(self._rows)]
        final.with_suffix(".idx").write_bytes(_pack_index(rows, digest.digest()))
        self._making.chmod(0o444)
        self._making.replace(final)

    def close(self) -> None:
        """Leave nothing of a pack that was not finished."""
        self._file.close()
        self._making.unlink(missing_ok=True)


def write_pack(folder: Path, objects: Iterable[Packed]) -> None:
    """Write ``pack-ID.pack`` and its index into ``folder``."""
    writer = PackWriter(folder)
    try:
        for each in objects:
            writer.add(each)
        writer.finish()
    finally:
        writer.close()


def _pack_index(rows: Sequence[tuple[bytes, int, int]], pack: bytes) -> bytes:
    """The index of a pack of (id, CRC, offset) in the order of the ids."""
    counts = [0] * 256
    for oid, _, _ in rows:
        counts[oid[0]] += 1
    total = 0
    fanout = [total := total + count for count in counts]
    content = b"".join(
        (
            b"\xfftOc" + struct.pack(">I", 2),
            struct.pack(">256I", *fanout),
            b"".join(oid for oid, _, _ in rows),
            struct.pack(f">{len(rows)}I", *(crc for _, crc, _ in rows)),
            struct.pack(f">{len(rows)}I", *(place for _, _, place in rows)),
            pack,
        )
    )
    return content + hashlib.sha1(content).digest()


def trees_of(entries: Sequence[Entry]) -> tuple[str, dict[str, bytes]]:
    """The root tree's id, and the content of every tree by its id.

    Args:
        entries: files, no path twice and none below another.
    """
    return Folders(entries).changed()


_Rows = dict[bytes, bytes]
"""What a folder holds: rows of its tree by names in git's order, those of folders with a slash."""


class Folders:
    """The trees of some files, of which those of other files that differ little are made in no time."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """``entries`` as in :func:`trees_of`."""
        self._rows: dict[bytes, _Rows] = {b"": {}}
        for entry in entries:
            parent, _, name = entry.path.rpartition(b"/")
            _with_parents(self._rows, parent, {})[name] = _row(entry.mode, name, entry.oid)
        self._trees = _close(self._rows)

    def changed(
        self, gone: Iterable[bytes] = (), new: Iterable[Entry] = ()
    ) -> tuple[str, dict[str, bytes]]:
        """As :func:`trees_of`, without some files and with others, which may replace those of their path."""
        touched: dict[bytes, _Rows] = {}
        for path in gone:
            parent, _, name = path.rpartition(b"/")
            del _with_parents(touched, parent, self._rows)[name]
        for entry in new:
            parent, _, name = entry.path.rpartition(b"/")
            _with_parents(touched, parent, self._rows)[name] = _row(entry.mode, name, entry.oid)
        trees = self._trees | _close(touched)
        return object_id(b"tree", trees[b""]), {
            object_id(b"tree", content): content
            for path, content in trees.items()
            if content or not path
        }


def _with_parents(into: dict[bytes, _Rows], path: bytes, known: Mapping[bytes, _Rows]) -> _Rows:
    """The rows of a folder, which is among ``into`` from now on with all above it."""
    folder = path
    while folder not in into:
        into[folder] = dict(known.get(folder, ()))
        folder = folder.rpartition(b"/")[0]
    return into[path]


def _close(folders: dict[bytes, _Rows]) -> dict[bytes, bytes]:
    """The content of each folder, which the one above it has a row of from now on, unless it is empty."""
    found: dict[bytes, bytes] = {}
    # Each folder after those inside it: "0" follows "/".
    for path in sorted(filter(None, folders), key=lambda path: path + b"0"):
        parent, _, name = path.rpartition(b"/")
        found[path] = _content(folders[path])
        folders[parent].pop(name + b"/", None)
        if found[path]:
            oid = object_id(b"tree", found[path])
            folders[parent][name + b"/"] = _row(FOLDER, name, oid)
    if b"" in folders:
        found[b""] = _content(folders[b""])
    return found


def _content(rows: _Rows) -> bytes:
    return b"".join([row for _, row in sorted(rows.items())])


def _row(mode: str, name: bytes, oid: str) -> bytes:
    return b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(oid))


def commit_content(tree: str, message: str, identity: Mapping[str, str]) -> bytes:
    """A commit without parent; ``identity`` has git's author and committer variables."""
    author = f"{identity['GIT_AUTHOR_NAME']} <{identity['GIT_AUTHOR_EMAIL']}> 1735689600 +0000"
    return f"tree {tree}\nauthor {author}\ncommitter {author}\n\n{message}\n".encode()


def tree_of_commit(content: bytes) -> str:
    """The id of a commit's root tree. Raises InfrastructureError for what is no commit."""
    line = content.partition(b"\n")[0]
    if not re.fullmatch(rb"tree [0-9a-f]{40}", line):
        raise InfrastructureError("a repository of the store is damaged: run `expbench gc --repos`")
    return line.removeprefix(b"tree ").decode()


def stat_bytes(status: os.stat_result) -> bytes:
    """A file's facts as an index holds them."""
    link = (status.st_mode & 0o170000) == 0o120000
    mode = 0o120000 if link else 0o100755 if status.st_mode & 0o100 else 0o100644
    changed, modified = divmod(status.st_ctime_ns, 10**9), divmod(status.st_mtime_ns, 10**9)
    return _STAT.pack(
        *(value & _MASK_32 for value in (*changed, *modified, status.st_dev, status.st_ino)),
        mode,
        status.st_uid & _MASK_32,
        status.st_gid & _MASK_32,
        status.st_size & _MASK_32,
    )


def index_bytes(entries: Sequence[IndexEntry]) -> bytes:
    """An index of these files, which are in the order of their paths."""
    head = b"DIRC" + struct.pack(">II", 2, len(entries))
    content = head + b"".join(each.row for each in entries)
    return content + hashlib.sha1(content).digest()


def read_index(content: bytes) -> Iterator[IndexEntry]:
    """The files of an index that :func:`index_bytes` made. Raises InfrastructureError."""
    for place, end in _index_places(content):
        stat = content[place : place + 40]
        mode = f"{int.from_bytes(stat[24:28], 'big'):o}"
        oid = content[place + 40 : place + 60].hex()
        size = int.from_bytes(stat[36:40], "big")
        yield IndexEntry(stat, Entry(mode, oid, content[place + 62 : end], size))


def index_oids(content: bytes) -> set[str]:
    """The ids of an index's files. Raises InfrastructureError."""
    return {content[place + 40 : place + 60].hex() for place, _ in _index_places(content)}


def _index_places(content: bytes) -> Iterator[tuple[int, int]]:
    """Where the files of an index begin, and where their paths end."""
    if content[:8] != b"DIRC\0\0\0\2" or hashlib.sha1(content[:-20]).digest() != content[-20:]:
        raise InfrastructureError("an index of the store is damaged: run `expbench gc`")
    place = 12
    for _ in range(int.from_bytes(content[8:12], "big")):
        end = content.index(b"\0", place + 62)
        yield place, end
        place += (end - place) // 8 * 8 + 8
