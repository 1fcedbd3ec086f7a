"""One tree for each pinned commit, written once and shared by all its tasks and runs.

::

    trees/TREE/             TREE is git's id of the tree, so equal trees are one
    ├── files/              every file that may be in a workspace; nothing writes here again
    ├── objects/pack/       the repository's packs, by links
    ├── index               an index of git with the facts of ``files``
    ├── record.json         what was refused, and why
    └── layers/             the masked workspaces made from it (``layer``)

A process that uses a tree holds a shared lock beside it, so that ``expbench gc`` frees only what no run
uses.
"""

from __future__ import annotations

import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from expbench.errors import InfrastructureError
from expbench.schema import Record
from expbench.workspace.packaging import Stub, readme_stubs
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.git import GitError
from expbench.workspace.repository.leases import hold
from expbench.workspace.repository.making import once_folder
from expbench.workspace.repository.objects import (
    Folders,
    IndexEntry,
    index_bytes,
    packed,
    read_index,
    stat_bytes,
    tree_of_commit,
    write_pack,
)
from expbench.workspace.repository.packs import Packed, Packs
from expbench.workspace.repository.source import Source
from expbench.workspace.repository.tree import (
    SUBMODULE,
    SYMLINK,
    Entry,
    escapes,
    is_root_readme,
    list_tree,
    make_parents,
    safe_path,
    write_file,
)
from expbench.workspace.strict import Reading
from expbench.workspace.versioning import pretend_variables, takes_tags_apart

_WRITERS = min(4, (os.cpu_count() or 1) + 1)
"""Threads that write a tree: decompressing and writing leave Python's lock to others."""
_SHARE = 1 << 20
"""Bytes that one of them takes at a time."""
_FILE_COST = 1 << 14
"""Bytes that take as long as what is done for each file besides."""

TREES = "trees"
"""The folder of the store where trees lie, beside the repositories."""


_GITMODULES = re.compile(rb"\.gitmodules|gitmod~\d|gi7eba~\d", re.IGNORECASE)
"""Names of ``.gitmodules``, also on other file systems: git has no link of or below one in its index."""


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
    reading: Reading = field(default_factory=Reading, repr=False)
    _folders: dict[str, Packed] = field(default_factory=dict, repr=False)
    _stubs: dict[frozenset[bytes], tuple[Stub, ...]] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def objects(self) -> Path:
        return self.folder / "objects"

    @cached_property
    def by_path(self) -> dict[bytes, Entry]:
        """The files by path, in the order of ``entries``."""
        return {each.entry.path: each.entry for each in self.entries}

    @cached_property
    def root_readmes(self) -> frozenset[bytes]:
        """READMEs in the root, in any case and language."""
        return frozenset(filter(is_root_readme, self.by_path))

    @cached_property
    def folders(self) -> Folders:
        """git's trees of the files."""
        return Folders(tuple(self.by_path.values()))

    @cached_property
    def whole(self) -> tuple[Entry, ...]:
        if not self.refused:
            return tuple(self.by_path.values())
        try:
            return list_tree(self.source.git_dir, self.source.commit)
        except GitError:
            raise damaged(self.source.git_dir) from None

    def reader(self, blobs: BlobReader) -> Callable[[str], bytes]:
        """Contents by id: those of the tree's files from there, where nothing has to be decompressed.

        Args:
            blobs: reads the others, of the tree's repository.
        """
        return lambda oid: self._content(oid) if oid in self._places else blobs.read(oid)

    def _content(self, oid: str) -> bytes:
        path, size = self._places[oid]
        try:
            with open(os.path.join(os.fsencode(self.files), path), "rb", buffering=0) as file:
                content = file.readall()
        except OSError:
            raise damaged(self.folder) from None
        if len(content) != size:
            raise damaged(self.folder)
        return content

    @cached_property
    def _places(self) -> dict[str, tuple[bytes, int]]:
        """A path of each blob that is a file here, and its bytes."""
        entries = (each.entry for each in self.entries)
        return {e.oid: (e.path, e.size) for e in entries if e.mode != SYMLINK}

    @cached_property
    def packs(self) -> Packs:
        """The packs that layers link to."""
        return Packs(self.objects)

    @cached_property
    def environment(self) -> dict[str, str]:
        """Variables that tell builds of this tree their version, without its history."""
        with BlobReader(self.source.git_dir) as blobs:
            return pretend_variables(self.whole, self.reader(blobs), self.source.described)

    @cached_property
    def takes_tags_apart(self) -> bool:
        """Whether a build of this tree reads its version out of the name of a tag."""
        with BlobReader(self.source.git_dir) as blobs:
            return takes_tags_apart(self.whole, self.reader(blobs))

    def stubs(self, hidden: AbstractSet[bytes]) -> tuple[Stub, ...]:
        """What takes the place of hidden READMEs that packaging reads."""
        readmes = frozenset(path for path in hidden if b"readme" in path.lower())
        if readmes not in self._stubs:
            with BlobReader(self.source.git_dir) as blobs:
                self._stubs[readmes] = readme_stubs(self.whole, readmes, self.reader(blobs))
        return self._stubs[readmes]

    def packed_tree(self, oid: str, content: bytes) -> Packed:
        """A folder's object made ready for a pack; most folders are the same in all layers."""
        if oid not in self._folders:
            self._folders[oid] = packed(b"tree", content)
        return self._folders[oid]

    def objects_by(self, oids: Iterable[bytes]) -> Iterator[Packed]:
        """Objects as they lie in the packs.

        Raises:
            InfrastructureError: one is not as it was written.
        """
        for oid in oids:
            entry = self.packs.entry(oid.hex())
            if entry is None or zlib.crc32(entry.data) != entry.crc:
                raise damaged(self.folder)
            yield entry


def freeze(source: Source, owner: int | None = None) -> FrozenTree:
    """The source's tree in the store, written on first use (atomic, safe to race and to kill).

    Args:
        owner: uid that the files belong to, when sandboxes run as another user than this process.
    """
    git_dir = source.git_dir
    try:
        with BlobReader(git_dir) as blobs:
            tree = tree_of_commit(blobs.read(source.commit))
        name = tree if owner is None else f"{tree}-{owner}"
        folder = git_dir.parent / TREES / name
        lease = hold(folder)
        once_folder(folder, lambda made: _write(source, owner, made))
    except GitError:
        raise damaged(git_dir) from None
    try:
        entries = tuple(read_index((folder / "index").read_bytes()))
        record = TreeRecord.model_validate_json((folder / "record.json").read_bytes())
    except (OSError, ValueError, InfrastructureError):
        raise damaged(folder) from None
    return FrozenTree(folder, source, entries, record.refused, owner, lease)


def damaged(folder: Path) -> InfrastructureError:
    """What is said of a tree, or a layer, that is not as it was written."""
    return InfrastructureError(
        f"{folder} is damaged: run `expbench gc --repos` when no run uses it, and it is made again."
    )


def _write(source: Source, owner: int | None, folder: Path) -> None:
    files, objects = os.fsencode(folder / "files"), folder / "objects"
    os.mkdir(files)
    objects.mkdir()
    with BlobReader(source.git_dir) as blobs:
        kept, refused = _sorted_out(list_tree(source.git_dir, source.commit), blobs)
        made = {files}
        for entry in kept:
            make_parents(files + b"/" + entry.path, made)

        def write(entries: Sequence[Entry]) -> list[_Written]:
            return [_write_entry(blobs, entry, files, made, owner) for entry in entries]

        with ThreadPoolExecutor(_WRITERS, thread_name_prefix="freeze") as pool:
            written = list(chain.from_iterable(pool.map(write, _shares(kept))))
        missing = [entry.oid for entry, (_, whole) in zip(kept, written, strict=True) if not whole]
        _keep_blobs(blobs, missing, objects / "pack")
    if owner is not None:
        for parent in made:
            os.chown(parent, owner, owner)
    rows = [IndexEntry(stat, entry) for (stat, _), entry in zip(written, kept, strict=True)]
    (folder / "index").write_bytes(index_bytes(rows))
    record = TreeRecord(refused=tuple(refused))
    (folder / "record.json").write_text(record.model_dump_json(), "utf-8")
    (folder / "layers").mkdir()


_Written = tuple[bytes, bool]
"""A file's facts as an index has them, and whether its blob lies whole in a pack."""


def _write_entry(
    blobs: BlobReader, entry: Entry, files: bytes, made: set[bytes], owner: int | None
) -> _Written:
    content, whole = blobs.read_whole(entry.oid)
    target = files + b"/" + entry.path
    return stat_bytes(write_file(target, entry.mode, content, made, owner)), whole


def _shares(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """Entries in runs that are worth a thread's while: many small files, or a few large ones."""
    start = size = 0
    for place, entry in enumerate(entries):
        size += _FILE_COST + entry.size
        if size > _SHARE:
            yield entries[start : place + 1]
            start, size = place + 1, 0
    yield entries[start:]


def _sorted_out(
    entries: Iterable[Entry], blobs: BlobReader
) -> tuple[list[Entry], list[tuple[str, str]]]:
    """The entries that may be in a workspace, and the others' paths with the reason."""
    entries = list(entries)
    links = {e.path: blobs.read(e.oid) for e in entries if e.mode == SYMLINK}
    kept: list[Entry] = []
    refused: list[tuple[str, str]] = []
    taken = _Places()
    for entry in entries:
        if (reason := _refusal(entry, links) or taken.refusal(entry)) is not None:
            refused.append((entry.path.decode("utf-8", "backslashreplace"), reason))
            continue
        taken.add(entry)
        kept.append(entry)
    return kept, refused


def _keep_blobs(blobs: BlobReader, missing: Sequence[str], folder: Path) -> None:
    """Keep blobs for workspaces: links to the repository's packs, and one of what is whole in none."""
    folder.mkdir()
    for path, _ in blobs.packs.packs():
        link_pack(path, folder)
    if missing:
        write_pack(folder, (packed(b"blob", blobs.read(oid)) for oid in missing))


def link_pack(path: Path, folder: Path) -> None:
    """Have a pack and its index in another folder too: by links, or copied where none can be made."""
    pack, target = os.fspath(path), os.path.join(folder, path.name)
    for suffix in (".pack", ".idx"):
        place = pack.removesuffix(".pack") + suffix, target.removesuffix(".pack") + suffix
        try:
            os.link(*place)
        except OSError:
            shutil.copyfile(*place)


class _Places:
    """Which paths are taken: a crafted tree can list a file twice, or files below a link."""

    def __init__(self) -> None:
        self._files: set[bytes] = set()
        self._folders: set[bytes] = set()

    def refusal(self, entry: Entry) -> str | None:
        parent = entry.path.rpartition(b"/")[0]
        if parent not in self._folders and not self._files.isdisjoint(_parents(entry.path)):
            return "below a file or symbolic link"
        if entry.path in self._files or entry.path in self._folders:
            return "listed twice"
        return None

    def add(self, entry: Entry) -> None:
        self._files.add(entry.path)
        if entry.path.rpartition(b"/")[0] not in self._folders:
            self._folders.update(_parents(entry.path))


def _parents(path: bytes) -> Iterator[bytes]:
    while path := path.rpartition(b"/")[0]:
        yield path


def _refusal(entry: Entry, links: Mapping[bytes, bytes]) -> str | None:
    if not safe_path(entry.path):
        return "unsafe path"
    if entry.mode == SUBMODULE:
        return "submodule"
    if entry.mode == SYMLINK and any(map(_GITMODULES.match, entry.path.split(b"/"))):
        return "symbolic link that git refuses"
    if entry.mode == SYMLINK and escapes(entry.path, links):
        return "symbolic link out of the tree"
    return None
