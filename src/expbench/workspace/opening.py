"""Opening a prepared workspace: as a view for a sandbox, or as a plain folder; bare or with a patch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.workspace.copying import Copier
from expbench.workspace.frozen import FrozenTree
from expbench.workspace.layer import emptied, whiteout
from expbench.workspace.owners import own_prefix
from expbench.workspace.prepare import Prepared, own_objects
from expbench.workspace.proof import prove_clean
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.git import git
from expbench.workspace.repository.objects import IndexEntry, index_bytes, stat_bytes
from expbench.workspace.repository.tree import (
    FILE_TIME,
    Entry,
    list_tree,
    make_parents,
    safe_path,
    write_file,
)
from expbench.workspace.views import Stat, View, ViewKind


def open_view(
    prepared: Prepared,
    folder: Path,
    overlay: bool = False,
    owner: int | None = None,
    patch: bytes = b"",
) -> View:
    """A workspace in ``folder``, which is new or empty and the caller's alone.

    Args:
        overlay: the caller can mount one; without it, or where the layer has no whiteouts, the files
            are copied.
        owner: uid and gid that the files get that are written now.
        patch: a collected patch to put on top. It goes through an index and an object folder of ours,
            so that neither attributes of the tree nor paths of the patch reach the file system before
            they were checked.

    Raises:
        LeakError: the proof failed; ``folder`` must not be given to an agent.
        InfrastructureError: the patch does not apply, which one that we made always does. Nothing was
            written.
    """
    with _patched(prepared, patch) as change:
        folder.mkdir(parents=True, exist_ok=True)
        if overlay and prepared.layer.record.whiteouts:
            layers = (prepared.layer.files, prepared.frozen.files)
            view = View("overlay", folder, layers, lease=prepared.frozen.lease)
            for each in (view.files, view.work):
                each.mkdir(0o755)
                if owner is not None:
                    os.chown(each, owner, owner)
            prove_clean(prepared)
        else:
            view = _copied(prepared, folder, owner)
            prove_clean(prepared, folder)
        if change is not None:
            change.write(view, owner)
    return view


def reopened(prepared: Prepared, folder: Path, kind: ViewKind) -> View:
    """The view of a workspace that another process opened, to collect from it."""
    if kind != "overlay":
        return View(kind, folder)
    layers = (prepared.layer.files, prepared.frozen.files)
    return View(kind, folder, layers, lease=prepared.frozen.lease)


def materialise(prepared: Prepared, dest: Path) -> None:
    """Write the masked tree and its one-commit repository to ``dest``, a new or empty folder.

    Raises:
        LeakError: the proof failed; ``dest`` must not be given to an agent.
    """
    open_view(prepared, dest.resolve())


def materialise_patched(prepared: Prepared, patch: bytes, dest: Path) -> None:
    """Write the masked tree with a collected patch on top, byte for byte, to ``dest``.

    Raises:
        InfrastructureError: it does not apply, which a patch that we made always does.
    """
    open_view(prepared, dest.resolve(), patch=patch)


def write_whole(frozen: FrozenTree, dest: Path) -> None:
    """Write the tree with nothing masked and without git: for the harness's own checks only."""
    dest.mkdir(parents=True, exist_ok=True)
    copier = Copier(os.fsencode(dest))
    for each in frozen.entries:
        source = os.path.join(os.fsencode(frozen.files), each.entry.path)
        copier.copy(source, each.entry.path, each.entry.mode)


@contextmanager
def _patched(prepared: Prepared, patch: bytes) -> Iterator[_Change | None]:
    """What a patch changes, while the bytes of it are at hand."""
    if not patch.strip():
        yield None
        return
    with tempfile.TemporaryDirectory(prefix=own_prefix()) as folder:
        environment = own_objects(prepared, Path(folder))
        git(["read-tree", prepared.tree], git_dir=prepared.git_dir, env=environment)
        apply = ["apply", "--cached", "--binary", "--whitespace=nowarn", "-"]
        git(apply, git_dir=prepared.git_dir, stdin=patch, env=environment)
        tree = git(["write-tree"], git_dir=prepared.git_dir, env=environment).decode().strip()
        entries = list_tree(prepared.git_dir, tree, environment)
        if unsafe := [entry for entry in entries if not safe_path(entry.path)]:
            raise InfrastructureError(f"the patch holds an unsafe path: {unsafe[0].path!r}")
        with BlobReader(prepared.git_dir, environment) as blobs:
            yield _Change(prepared.entries, entries, blobs)


@dataclass(frozen=True)
class _Change:
    """From the masked tree's files to those of a patched one."""

    base: tuple[Entry, ...]
    entries: tuple[Entry, ...]
    blobs: BlobReader

    def write(self, view: View, owner: int | None) -> None:
        """Put the change on a view that no agent has touched; its folders and files are ours."""
        root = os.fsencode(view.files)
        base = {entry.path: (entry.mode, entry.oid) for entry in self.base}
        new = {entry.path for entry in self.entries}
        changed = [e for e in self.entries if base.get(e.path) != (e.mode, e.oid)]
        gone = [path for path in base if path not in new]
        made = {root}
        if view.kind == "overlay":
            self._hide(made, root, gone)
        else:
            replaced = [each.path for each in changed if each.path in base]
            self._unlink(root, gone, replaced)
        for entry in changed:
            target = os.path.join(root, entry.path)
            write_file(target, entry.mode, self.blobs.read(entry.oid), made, owner)
        if owner is not None:
            for folder in made:
                os.chown(folder, owner, owner)

    def _hide(self, made: set[bytes], root: bytes, gone: list[bytes]) -> None:
        places = _covered(self.entries)
        for path in emptied(gone, (entry.path for entry in self.entries)) - places:
            target = os.path.join(root, path)
            make_parents(target, made)
            if not whiteout(target):
                raise InfrastructureError("this kernel lets no user hide files of an overlay")

    def _unlink(self, root: bytes, gone: list[bytes], replaced: list[bytes]) -> None:
        for path in [*gone, *replaced]:
            os.unlink(os.path.join(root, path))
        for path in emptied(gone, (entry.path for entry in self.entries)) - set(gone):
            _remove_folders(os.path.join(root, path))


def _covered(entries: tuple[Entry, ...]) -> set[bytes]:
    """Paths that a file or folder of the tree has, and so nothing of the layers below shows there."""
    found: set[bytes] = set()
    for entry in entries:
        path = entry.path
        while path and path not in found:
            found.add(path)
            path = path.rpartition(b"/")[0]
    return found


def _remove_folders(folder: bytes) -> None:
    """Remove a folder that holds only folders."""
    for parent, _, _ in os.walk(folder, topdown=False):
        os.rmdir(parent)


def _copied(prepared: Prepared, folder: Path, owner: int | None) -> View:
    copier = Copier(os.fsencode(folder), owner)
    root, layer = copier.root, os.fsencode(prepared.layer.files)
    frozen = os.fsencode(prepared.frozen.files)
    own = {each.entry.path for each in prepared.index} - {
        each.entry.path for each in prepared.frozen.entries
    }
    facts = {each.entry.path: each.stat for each in prepared.frozen.entries}
    for each in prepared.index:
        path = each.entry.path
        replaced = path in own or facts[path] != each.stat
        copier.copy(os.path.join(layer if replaced else frozen, path), path, each.entry.mode)
    _copy_git(copier, os.fsencode(prepared.git_dir))
    copier.own(copier.made)
    rows: list[IndexEntry] = []
    stats: dict[bytes, Stat] = {}
    for each in prepared.index:
        status = os.lstat(os.path.join(root, each.entry.path))
        rows.append(replace(each, stat=stat_bytes(status)))
        stats[each.entry.path] = Stat(
            status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_mode
        )
    index = os.path.join(root, b".git", b"index")
    write_file(index, "100644", index_bytes(rows), copier.made, owner)
    # git reads a file again whose time is not before its index's, and attributes may change what it reads.
    os.utime(index, (FILE_TIME + 1, FILE_TIME + 1))
    return View("reflink" if copier.shares else "copy", folder, stats=stats)


def _copy_git(copier: Copier, git_dir: bytes) -> None:
    for parent, folders, names in os.walk(git_dir):
        inside = os.path.relpath(parent, git_dir)
        place = os.path.normpath(os.path.join(b".git", inside))
        for name in names:
            if name != b"index" or inside != b".":
                copier.copy(os.path.join(parent, name), os.path.join(place, name), "100644")
        for name in folders:
            make_parents(os.path.join(copier.root, place, name, b""), copier.made)
