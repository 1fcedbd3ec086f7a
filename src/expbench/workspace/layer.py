"""A task's own layer over the frozen tree: what is hidden, what replaces it, and the one-commit ``.git``.

::

    layers/KEY/             KEY is a digest of all that shapes it, so equal masks are one
    ├── files/              the layer itself, to be mounted over the frozen files
    │   ├── .git/           one parentless commit, its objects, an index that fits the frozen files
    │   ├── …               replaced files
    │   └── …               whiteouts (character devices 0/0) in the place of hidden files and folders
    └── record.json

Hidden blobs are never linked or packed, so the object store holds none by construction.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from expbench.schema import Record
from expbench.workspace.frozen import FrozenTree, damaged, link_pack
from expbench.workspace.repository.described import Described, commit_message, tag_contents
from expbench.workspace.repository.git import IDENTITY
from expbench.workspace.repository.making import once_folder
from expbench.workspace.repository.objects import (
    IndexEntry,
    commit_content,
    index_bytes,
    object_id,
    packed,
    stat_bytes,
    write_pack,
)
from expbench.workspace.repository.tree import Entry, make_parents, write_file

_FORMAT = 2
_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = agent
\temail = agent@localhost
"""


class LayerRecord(Record):
    """What the layer is; ``whiteouts`` tells whether it can be mounted over the frozen files."""

    tree: str
    commit: str
    tags: tuple[str, ...]
    whiteouts: bool


@dataclass(frozen=True)
class Plan:
    """What a layer shall be.

    ``hidden`` are paths of the frozen tree that no workspace shows; ``replaced`` has the new content of
    files, of which some may be in ``hidden`` (a stub in the place of what was taken out). ``answers``
    says whether a tag by the whole answer of ``git describe`` is wanted.
    """

    hidden: frozenset[bytes]
    replaced: Mapping[bytes, bytes]
    described: Described | None = None
    answers: bool = True

    def key(self) -> str:
        facts = [
            str(_FORMAT),
            commit_message(self.described),
            *(name for name, _ in tag_contents(self.described, "", self.answers)),
            *(path.hex() for path in sorted(self.hidden)),
            *(f"{p.hex()} {object_id(b'blob', c)}" for p, c in sorted(self.replaced.items())),
        ]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Layer:
    """A layer of the store."""

    folder: Path
    record: LayerRecord

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def git_dir(self) -> Path:
        return self.files / ".git"


def make_layer(frozen: FrozenTree, plan: Plan, entries: Sequence[Entry]) -> Layer:
    """The layer in the store, made on first use (atomic, safe to race and to kill).

    Args:
        entries: what :func:`shown` gives for the plan.
    """
    folder = frozen.folder / "layers" / plan.key()
    once_folder(folder, lambda made: _write(frozen, plan, entries, made))
    try:
        record = LayerRecord.model_validate_json((folder / "record.json").read_bytes())
    except (OSError, ValidationError):
        raise damaged(folder) from None
    return Layer(folder, record)


def shown(frozen: FrozenTree, plan: Plan) -> list[Entry]:
    """The files of the masked tree in the order of their paths."""
    there = frozen.by_path
    gone = plan.hidden | plan.replaced.keys()
    kept = [entry for path, entry in there.items() if path not in gone]
    for path, content in plan.replaced.items():
        kept_in_place = path in there and path not in plan.hidden
        mode = there[path].mode if kept_in_place else "100644"  # a stub is a plain file
        kept.append(Entry(mode, object_id(b"blob", content), path, len(content)))
    return sorted(kept, key=lambda entry: entry.path)


def emptied(gone: Iterable[bytes], kept: Iterable[bytes]) -> set[bytes]:
    """The paths to hide so that ``gone`` and every folder that it leaves empty are not there."""
    folders = {b""}
    for path in kept:
        while (path := path.rpartition(b"/")[0]) not in folders:
            folders.add(path)
    tops = set()
    for path in gone:
        while (parent := path.rpartition(b"/")[0]) not in folders:
            path = parent
        tops.add(path)
    return tops


def whiteout(target: bytes) -> bool:
    """Hide what lies at ``target`` in the layers below; whether this kernel lets us."""
    try:
        os.mknod(target, stat.S_IFCHR, os.makedev(0, 0))
    except PermissionError:
        return False
    return True


def _write(frozen: FrozenTree, plan: Plan, entries: Sequence[Entry], folder: Path) -> None:
    files = folder / "files"
    root = os.fsencode(files)
    files.mkdir(0o755)
    made = {root}
    whiteouts = True
    for path in sorted(emptied(plan.hidden - plan.replaced.keys(), (e.path for e in entries))):
        target = os.path.join(root, path)
        make_parents(target, made)
        whiteouts = whiteouts and whiteout(target)
    by_path = {each.path: each for each in entries}
    rows = {each.entry.path: each for each in frozen.entries}
    for path, content in plan.replaced.items():
        target = os.path.join(root, path)
        status = write_file(target, by_path[path].mode, content, made, frozen.owner)
        rows[path] = IndexEntry(stat_bytes(status), by_path[path])
    tree, commit = _repository(frozen, plan, entries, files / ".git")
    index = index_bytes([rows[each.path] for each in entries])
    (files / ".git" / "index").write_bytes(index)
    if frozen.owner is not None:
        _own(files, frozen.owner)
    tags = tuple(name for name, _ in tag_contents(plan.described, commit, plan.answers))
    record = LayerRecord(tree=tree, commit=commit, tags=tags, whiteouts=whiteouts)
    (folder / "record.json").write_text(record.model_dump_json(), "utf-8")


def _repository(
    frozen: FrozenTree, plan: Plan, entries: Sequence[Entry], git_dir: Path
) -> tuple[str, str]:
    """Branch ``main`` with the one commit, what it needs, and nothing else; (tree, commit)."""
    objects = git_dir / "objects"
    for name in ("objects/pack", "refs/heads"):
        (git_dir / name).mkdir(parents=True)
    replaced = [entry for entry in entries if entry.path in plan.replaced]
    tree, trees = frozen.folders.changed(plan.hidden, replaced)
    content = commit_content(tree, commit_message(plan.described), IDENTITY)
    commit = object_id(b"commit", content)
    tags = tag_contents(plan.described, commit, plan.answers)
    own = [frozen.packed_tree(*each) for each in trees.items()]
    own += [packed(b"tag", tag) for _, tag in tags]
    own += [packed(b"blob", replaced) for replaced in plan.replaced.values()]
    rest = _link_packs(frozen, entries, objects / "pack") - {each.oid for each in own}
    own.append(packed(b"commit", content))
    write_pack(objects / "pack", chain(own, frozen.objects_by(sorted(rest))))
    (git_dir / "config").write_text(_CONFIG)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    (git_dir / "refs" / "heads" / "main").write_text(f"{commit}\n")
    for name, tag in tags:
        place = git_dir / "refs" / "tags" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{object_id(b'tag', tag)}\n")
    return tree, commit


def _link_packs(frozen: FrozenTree, entries: Sequence[Entry], folder: Path) -> set[bytes]:
    """Link to each pack of which the workspace shows everything; the ids of what lies in the others."""
    shown = {bytes.fromhex(entry.oid) for entry in entries}
    rest = set(shown)
    for path, oids in frozen.packs.packs():
        if oids <= shown:
            link_pack(path, folder)
            rest -= oids
    return rest


def _own(folder: Path, owner: int) -> None:
    """Give the layer to the sandbox's user, but not the linked objects that others share."""
    for parent, _, names in os.walk(os.fsencode(folder)):
        os.chown(parent, owner, owner)
        for name in names:
            full = os.path.join(parent, name)
            status = os.lstat(full)
            shared = status.st_nlink > 1 or stat.S_ISCHR(status.st_mode)
            if not shared and status.st_uid != owner:
                os.lchown(full, owner, owner)
