"""Making the text view of what changed (see ``view`` for what is shown of it).

A source file is shown as the patch has it. Two more trees hold what is shown otherwise: notebooks as
their code, and deleted files whose content the patch does without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.objects import PackWriter
from expbench.workspace.repository.tree import SYMLINK, Entry
from expbench.workspace.submission.comparison import sections
from expbench.workspace.submission.pack import keep
from expbench.workspace.submission.scan import Scan
from expbench.workspace.submission.view import (
    by_name_only,
    code_cells,
    is_notebook,
    outline,
    too_long,
)
from expbench.workspace.submission.walk import Base

GONE_SHOWN_CAP = 1024**2
"""Bytes of deleted source files in all; of more only the names are shown."""
_LABEL = b" (code cells)"
_BINARY = b"\nGIT binary patch\n"


@dataclass
class Shown:
    """What is shown: paths of the patch, files of two more trees, and what is only named and how."""

    paths: set[bytes] = field(default_factory=set)
    old: dict[bytes, Entry] = field(default_factory=dict)
    new: dict[bytes, Entry] = field(default_factory=dict)
    named: dict[bytes, str] = field(default_factory=dict)
    sizes: dict[bytes, str] = field(default_factory=dict)

    def text(self, *patches: tuple[bytes, Sequence[bytes]]) -> str:
        """The text view, from patches and their paths: that of the changes and that of the two trees.

        Binary files are only named.
        """
        parts = sorted(part for each in patches for part in self._parts(*each))
        text = b"".join(part for _, part in parts).decode("utf-8", errors="replace")
        return text + outline(self.named.items())

    def _parts(self, patch: bytes, paths: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for path, start, end in sections(patch, paths) if self.paths else ():
            if path not in self.paths:
                continue
            part = patch[start:end]
            if _BINARY in part:
                self.named[path] = f"{self.sizes.get(path, 'deleted')}, binary"
            else:
                yield path, part


def arrange(
    git_dir: Path, base: Base, found: Scan, brief: Sequence[Entry], pack: PackWriter
) -> Shown:
    """Divide the changes into shown and named.

    Args:
        git_dir: the base tree's repository.
        brief: deleted files whose content the patch does without.
        pack: where the code of notebooks goes.
    """
    shown = Shown(sizes={each.path: f"{each.size} bytes" for each in found.changes})
    notebooks = _changed(base, found, shown) + _deleted(base, found, brief, shown)
    if notebooks:
        _show_notebooks(git_dir, base, found, notebooks, pack, shown)
    shown.paths.update(shown.old, shown.new)
    return shown


def _changed(base: Base, found: Scan, shown: Shown) -> list[bytes]:
    """Sort the new and changed files; returns the notebooks."""
    notebooks: list[bytes] = []
    for change in found.changes:
        path = change.path
        before = base.files[path].size if path in base.files else 0
        if by_name_only(path):
            shown.named[path] = shown.sizes[path]
        elif is_notebook(path) and change.mode != SYMLINK:
            notebooks.append(path)
        elif too_long(path, max(change.size, before)):
            shown.named[path] = f"{shown.sizes[path]}, too long"
        else:
            shown.paths.add(path)
    return notebooks


def _deleted(base: Base, found: Scan, brief: Sequence[Entry], shown: Shown) -> list[bytes]:
    """Sort the deleted files; returns the notebooks."""
    notebooks: list[bytes] = []
    left = {entry.path for entry in brief}
    source = [base.files[path] for path in found.gone if not by_name_only(path)]
    if sum(entry.size for entry in source) > GONE_SHOWN_CAP:
        source = []
    for entry in source:
        if is_notebook(entry.path):
            notebooks.append(entry.path)
        elif entry.path in left:
            shown.old[entry.path] = entry
        else:
            shown.paths.add(entry.path)
    named = set(found.gone).difference(entry.path for entry in source)
    shown.named.update(dict.fromkeys(named, "deleted"))
    return notebooks


def _show_notebooks(
    git_dir: Path,
    base: Base,
    found: Scan,
    notebooks: Sequence[bytes],
    pack: PackWriter,
    shown: Shown,
) -> None:
    """Put the notebooks' code, before and after, into the two trees."""
    after = {change.path: change for change in found.changes}
    with BlobReader(git_dir) as blobs:

        def code(entry: Entry | None) -> str | None:
            cells = b"" if entry is None else code_cells(blobs.read(entry.oid))
            return None if cells is None else keep(pack, b"blob", cells)

        for path in notebooks:
            known, change = base.files.get(path), after.get(path)
            before = None if known is None or known.mode == SYMLINK else known
            old = code(before)
            new = found.code[path] if path in found.code else code(change)
            size = shown.sizes.get(path, "deleted")
            label = path + _LABEL
            if old is None or new is None:
                shown.named[path] = f"{size}, no readable code"
            elif old == new:
                shown.named[path] = f"{size}, no code changed"
            else:
                if before is not None:
                    shown.old[label] = Entry("100644", old, label, 0)
                if change is not None:
                    shown.new[label] = Entry("100644", new, label, 0)
