"""The proof that a workspace holds nothing but its masked tree (R13).

It reads what was written, object by object and file by file, and trusts nothing of how it was made.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from expbench.errors import LeakError
from expbench.workspace.prepare import Prepared
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.objects import index_oids, object_id
from expbench.workspace.repository.packs import Packs, loose_kind
from expbench.workspace.strict import near_copies

_HELD = frozenset(("HEAD", "config", "index", "objects", "refs"))
"""What a workspace's ``.git`` consists of; anything else may lead to other versions."""


def prove_clean(prepared: Prepared, dest: Path | None = None) -> None:
    """Scan every object, the index, the references and the files of a workspace.

    Args:
        dest: a workspace's folder; without it the layer in the store is looked at, from which every
            overlay is made.

    Raises:
        LeakError: a masked blob, a second commit or another way to other versions was found.
    """
    root = dest or prepared.layer.files
    repository = root / ".git"
    kinds = _objects(repository / "objects", prepared.frozen.packs)
    index = index_oids((repository / "index").read_bytes())
    if leaked := (set().union(index, *kinds.values())) & prepared.masked_oids:
        raise LeakError(f"the workspace's git still holds masked content: {sorted(leaked)}")
    if len(kinds.get(b"commit", ())) != 1:
        raise LeakError("the workspace's git holds more than one commit")
    if more := sorted({each.name for each in repository.iterdir()} - _HELD):
        raise LeakError(f"the workspace's git holds {more[0]}")
    _prove_references(prepared, repository, kinds)
    _prove_files(prepared, os.fsencode(root), every_byte=dest is None)
    for name in prepared.removed:
        if name not in prepared.stubs and _visible(prepared, os.fsencode(root), os.fsencode(name)):
            raise LeakError(f"the workspace still holds {name}")


def prove_no_copies(prepared: Prepared) -> None:
    """Read every text of a layer's repository for near copies of what is masked, once for each layer.

    What strict masking reports and must leave (a package's ``__init__``, a tree of one pattern) is
    known from ``prepared.survivors`` and no finding.

    Raises:
        LeakError: a kept file is a copy of a masked one, or nearly.
    """
    proven = prepared.layer.folder / "no-copies"
    if proven.exists():
        return
    frozen = prepared.frozen
    with BlobReader(frozen.source.git_dir) as source, BlobReader(prepared.git_dir) as blobs:
        found = near_copies(
            prepared.masked,
            prepared.entries,
            frozen.reader(source),
            blobs.read,
            frozen.reading.wording,
        )
    known = {each.path for each in prepared.survivors if each.action == "reported"}
    if left := sorted(found.keys() - known):
        raise LeakError(f"the workspace still holds {left[0]}, which {found[left[0]]}")
    proven.touch()


def _objects(objects: Path, known: Packs) -> dict[bytes, set[str]]:
    """The ids of the objects of each kind, in packs and loose.

    Args:
        known: the tree's packs. What a workspace links to was read when the first of them was proven.
    """
    found: dict[bytes, set[str]] = {}
    more: list[str] = []
    try:
        for folder in objects.iterdir():
            if folder.name == "pack":
                for oids, kind in Packs(objects, known).kinds():
                    found.setdefault(kind, set()).update(oids)
            elif folder.name == "info":
                more = [f"info/{each.name}" for each in folder.iterdir()]
            else:
                for each in folder.iterdir():
                    found.setdefault(loose_kind(each), set()).add(folder.name + each.name)
    except (OSError, ValueError) as error:
        raise LeakError(f"the workspace's git cannot be proven clean: {error}") from None
    if more:
        raise LeakError(f"the workspace's git holds objects/{more[0]}")
    return found


def _prove_references(
    prepared: Prepared, repository: Path, kinds: Mapping[bytes, AbstractSet[str]]
) -> None:
    """Only the branch and the tags that are meant, each to an object of this repository."""
    allowed = {"heads/main": b"commit"} | {f"tags/{t}": b"tag" for t in prepared.layer.record.tags}
    for parent, _, names in os.walk(repository / "refs"):
        for name in names:
            place = Path(parent, name)
            reference = str(place.relative_to(repository / "refs"))
            named = place.read_text("utf-8", "replace").strip()
            kind = allowed.get(reference)
            if place.is_symlink() or kind is None or named not in kinds.get(kind, ()):
                raise LeakError(f"the workspace's git holds refs/{reference}")
    if (repository / "HEAD").read_text("utf-8", "replace") != "ref: refs/heads/main\n":
        raise LeakError("the workspace's git holds another HEAD")


def _prove_files(prepared: Prepared, root: bytes, every_byte: bool) -> None:
    """Look for files that are not in the masked tree, by path and size or also by their bytes."""
    known = {entry.path: entry for entry in prepared.entries}
    for parent, folders, names in os.walk(root):
        if parent == root:
            folders.remove(b".git")
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in names + links:
            full = os.path.join(parent, name)
            path = full[len(root) + 1 :]
            status = os.lstat(full)
            if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
                continue
            entry = known.get(path)
            whole = entry is not None and entry.size == status.st_size
            if whole and every_byte:
                whole = entry is not None and entry.oid == object_id(b"blob", _content(full))
            if not whole:
                shown = path.decode("utf-8", "backslashreplace")
                raise LeakError(f"the workspace still holds {shown}, which is not of its commit")


def _content(full: bytes) -> bytes:
    if os.path.islink(full):
        return os.readlink(full)
    with open(full, "rb") as file:
        return file.read()


def _visible(prepared: Prepared, root: bytes, path: bytes) -> bool:
    """Whether a path is seen in a folder, or through a layer on top of the frozen files."""
    if root != os.fsencode(prepared.layer.files):
        return os.path.lexists(os.path.join(root, path))
    parts = path.split(b"/")
    for depth in range(1, len(parts) + 1):
        place = os.path.join(root, *parts[:depth])
        if os.path.lexists(place):
            if stat.S_ISCHR(os.lstat(place).st_mode):
                return False
            if depth == len(parts):
                return True
    return prepared.layer.record.whiteouts
