"""One tree for each pinned commit, written once and shared by all its tasks and runs.

::

    trees/TREE/             TREE is git's id of the tree, so equal trees are one
    ├── files/              every file that may be in a workspace; nothing writes here again
    ├── objects/ab/cdef…    large blobs as git's loose objects, linked to from workspaces
    ├── stock, stock.table  small blobs, ready to be put into a workspace's pack
    ├── index               an index of git with the facts of ``files``
    ├── record.json         what was refused, and why
    └── layers/             the masked workspaces made from it (``layer``)

A process that uses a tree holds a shared lock beside it, so that ``expbench gc`` frees only what no run
uses.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from expbench.errors import InfrastructureError
from expbench.schema import Record
from expbench.workspace.packaging import Stub, readme_stubs
from expbench.workspace.repository.git import BlobReader, git
from expbench.workspace.repository.leases import hold
from expbench.workspace.repository.making import once_folder
from expbench.workspace.repository.objects import (
    LARGE,
    IndexEntry,
    Packed,
    index_bytes,
    packed,
    read_index,
    stat_bytes,
    write_loose,
)
from expbench.workspace.repository.source import Source
from expbench.workspace.repository.tree import (
    SUBMODULE,
    SYMLINK,
    Entry,
    escapes,
    list_tree,
    safe_path,
    write_file,
)
from expbench.workspace.strict import Prints
from expbench.workspace.versioning import pretend_variables, takes_tags_apart

TREES = "trees"
"""The folder of the store where trees lie, beside the repositories."""

_ROW = struct.Struct(">20sIQQ")


class TreeRecord(Record):
    """What a frozen tree left out: (path, reason)."""

    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class FrozenTree:
    """A tree of the store, in use by this process for as long as the object lives.

    ``entries`` are its files in the order of their paths; ``whole`` those of the commit, the refused
    ones included.
    """

    folder: Path
    source: Source
    entries: tuple[IndexEntry, ...] = field(repr=False)
    refused: tuple[tuple[str, str], ...]
    owner: int | None
    lease: BinaryIO = field(repr=False)
    prints: Prints = field(default_factory=dict, repr=False)
    _stubs: dict[frozenset[bytes], tuple[Stub, ...]] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def objects(self) -> Path:
        return self.folder / "objects"

    @cached_property
    def whole(self) -> tuple[Entry, ...]:
        return list_tree(self.source.git_dir, self.source.commit)

    @cached_property
    def _stock(self) -> dict[bytes, Packed]:
        try:
            data = (self.folder / "stock").read_bytes()
            rows = list(_ROW.iter_unpack((self.folder / "stock.table").read_bytes()))
        except (OSError, struct.error):
            raise damaged(self.folder) from None
        return {oid: Packed(oid, data[at : at + size], crc) for oid, crc, at, size in rows}

    @cached_property
    def environment(self) -> dict[str, str]:
        """Variables that tell builds of this tree their version, without its history."""
        with BlobReader(self.source.git_dir) as blobs:
            return pretend_variables(self.whole, blobs.read, self.source.described)

    @cached_property
    def takes_tags_apart(self) -> bool:
        """Whether a build of this tree reads its version out of the name of a tag."""
        with BlobReader(self.source.git_dir) as blobs:
            return takes_tags_apart(self.whole, blobs.read)

    def stubs(self, hidden: AbstractSet[bytes]) -> tuple[Stub, ...]:
        """What takes the place of hidden READMEs that packaging reads."""
        readmes = frozenset(path for path in hidden if b"readme" in path.lower())
        if readmes not in self._stubs:
            with BlobReader(self.source.git_dir) as blobs:
                self._stubs[readmes] = readme_stubs(self.whole, readmes, blobs.read)
        return self._stubs[readmes]

    def small(self, oids: Iterable[str]) -> Iterator[Packed]:
        """The ready-made pack entries of those blobs that are small.

        Raises:
            InfrastructureError: one is not as it was written.
        """
        stock = self._stock
        for oid in oids:
            if (each := stock.get(bytes.fromhex(oid))) is not None:
                if zlib.crc32(each.data) != each.crc:
                    raise damaged(self.folder)
                yield each


def freeze(source: Source, owner: int | None = None) -> FrozenTree:
    """The source's tree in the store, written on first use (atomic, safe to race and to kill).

    Args:
        owner: uid that the files belong to, when sandboxes run as another user than this process.
    """
    git_dir = source.git_dir
    tree = git(["rev-parse", f"{source.commit}^{{tree}}"], git_dir=git_dir).decode().strip()
    name = tree if owner is None else f"{tree}-{owner}"
    folder = git_dir.parent / TREES / name
    lease = hold(folder)
    once_folder(folder, lambda made: _write(source, owner, made))
    try:
        entries = tuple(read_index((folder / "index").read_bytes()))
        record = TreeRecord.model_validate_json((folder / "record.json").read_bytes())
    except (OSError, ValueError, InfrastructureError):
        raise damaged(folder) from None
    return FrozenTree(folder, source, entries, record.refused, owner, lease)


def damaged(folder: Path) -> InfrastructureError:
    """What is said of a tree, or a layer, that is not as it was written."""
    return InfrastructureError(
        f"{folder} is damaged: remove it with `expbench gc` when no run uses it, and it is made again."
    )


def _write(source: Source, owner: int | None, folder: Path) -> None:
    files, objects = os.fsencode(folder / "files"), folder / "objects"
    os.mkdir(files)
    objects.mkdir()
    large = _large_blobs(source.git_dir, objects)
    refused: list[tuple[str, str]] = []
    kept: list[IndexEntry] = []
    stock: dict[str, Packed] = {}
    taken = _Places()
    made: set[bytes] = {files}
    with BlobReader(source.git_dir) as blobs:
        entries = list_tree(source.git_dir, source.commit)
        links = {e.path: blobs.read(e.oid) for e in entries if e.mode == SYMLINK}
        for entry in entries:
            content = b"" if entry.mode == SUBMODULE else blobs.read(entry.oid)
            if (reason := _refusal(entry, links) or taken.refusal(entry)) is not None:
                refused.append((entry.path.decode("utf-8", "backslashreplace"), reason))
                continue
            taken.add(entry)
            target = os.path.join(files, entry.path)
            write_file(target, entry.mode, content, made, owner)
            kept.append(IndexEntry(stat_bytes(os.lstat(target)), entry))
            if len(content) >= LARGE:
                large(entry.oid, content)
            elif entry.oid not in stock:
                stock[entry.oid] = packed(b"blob", content)
    if owner is not None:
        for parent in made:
            os.chown(parent, owner, owner)
    _write_stock(folder, stock)
    (folder / "index").write_bytes(index_bytes(kept))
    record = TreeRecord(refused=tuple(refused))
    (folder / "record.json").write_text(record.model_dump_json(), "utf-8")
    (folder / "layers").mkdir()


def _large_blobs(git_dir: Path, objects: Path) -> Callable[[str, bytes], None]:
    """Keeps large blobs: by a link where the repository has them as files of their own."""

    def keep(oid: str, content: bytes) -> None:
        target = objects / oid[:2] / oid[2:]
        if target.exists():
            return
        target.parent.mkdir(exist_ok=True)
        try:
            os.link(git_dir / "objects" / oid[:2] / oid[2:], target)
        except OSError:
            write_loose(objects, oid, content)

    return keep


class _Places:
    """Which paths are taken: a crafted tree can list a file twice, or files below a link."""

    def __init__(self) -> None:
        self._files: set[bytes] = set()
        self._folders: set[bytes] = set()

    def refusal(self, entry: Entry) -> str | None:
        parents = list(_parents(entry.path))
        if any(parent in self._files for parent in parents):
            return "below a file or symbolic link"
        if entry.path in self._files or entry.path in self._folders:
            return "listed twice"
        return None

    def add(self, entry: Entry) -> None:
        self._files.add(entry.path)
        self._folders.update(_parents(entry.path))


def _parents(path: bytes) -> Iterator[bytes]:
    while path := path.rpartition(b"/")[0]:
        yield path


def _refusal(entry: Entry, links: Mapping[bytes, bytes]) -> str | None:
    if not safe_path(entry.path):
        return "unsafe path"
    if entry.mode == SUBMODULE:
        return "submodule"
    if entry.mode == SYMLINK and entry.path.lower() == b".gitmodules":
        return "symbolic link that git refuses"
    if entry.mode == SYMLINK and escapes(entry.path, links):
        return "symbolic link out of the tree"
    return None


def _write_stock(folder: Path, stock: dict[str, Packed]) -> None:
    place = 0
    with (folder / "stock").open("wb") as data, (folder / "stock.table").open("wb") as table:
        for each in stock.values():
            table.write(_ROW.pack(each.oid, each.crc, place, len(each.data)))
            place += data.write(each.data)
