"""Making the text view of what changed (see ``view`` for what is shown of it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from expbench.workspace.repository.git import BlobReader
from expbench.workspace.repository.tree import SYMLINK
from expbench.workspace.submission.comparison import Comparison, Row
from expbench.workspace.submission.pack import BlobPack
from expbench.workspace.submission.scan import Change, Scan
from expbench.workspace.submission.view import (
    by_name_only,
    code_cells,
    is_notebook,
    outline,
    too_long,
)

GONE_SHOWN_CAP = 1024**2
"""Bytes of deleted source files in all; of more only the names are shown."""
_LABEL = b" (code cells)"


@dataclass
class _Shown:
    """Two trees in the making, of what is shown, and what is only named and how."""

    old: list[Row] = field(default_factory=list)
    new: list[Row] = field(default_factory=list)
    named: dict[bytes, str] = field(default_factory=dict)


def text_view(compare: Comparison, found: Scan, objects: Path) -> str:
    """Source files as a diff, notebooks as code, everything else by name and size.

    Args:
        objects: the object folder of the comparison, where the notebooks' code goes.
    """
    shown = _Shown()
    notebooks = _sort(compare, found, shown)
    if notebooks:
        pack = BlobPack(objects)
        with BlobReader(compare.git_dir, compare.environment) as blobs:
            for path, change in notebooks:
                _notebook(compare, path, change, blobs, pack, shown)
        pack.finish(compare.git)
    if not (shown.old or shown.new):
        return outline(shown.named.items())
    old, new = _trees(compare, shown, [])
    if binary := compare.binary(old, new):
        sizes = {change.path: change.size for change in found.changes}
        for path in binary:
            size = f"{sizes[path]} bytes" if path in sizes else "deleted"
            shown.named[path] = f"{size}, binary"
        old, new = _trees(compare, shown, binary)
    text = compare.text(old, new).decode("utf-8", errors="replace")
    return text + outline(shown.named.items())


def _trees(compare: Comparison, shown: _Shown, binary: list[bytes]) -> tuple[str, str]:
    left = set(binary)
    old, new = ([row for row in rows if row[2] not in left] for rows in (shown.old, shown.new))
    return compare.write(old), compare.write(new)


def _sort(compare: Comparison, found: Scan, shown: _Shown) -> list[tuple[bytes, Change | None]]:
    """Divide the changes into shown and named; returns the notebooks, deleted ones without change."""
    base = compare.base.files
    notebooks: list[tuple[bytes, Change | None]] = []
    for change in found.changes:
        path, size = change.path, change.size
        before = base[path].size if path in base else 0
        if by_name_only(path):
            shown.named[path] = f"{size} bytes"
        elif is_notebook(path) and change.mode != SYMLINK:
            notebooks.append((path, change))
        elif too_long(path, max(size, before)):
            shown.named[path] = f"{size} bytes, too long"
        else:
            shown.old.extend(compare.known([path]))
            shown.new.append((change.mode, change.oid, path))
    source = [path for path in found.gone if not by_name_only(path)]
    if sum(base[path].size for path in source) > GONE_SHOWN_CAP:
        source = []
    for path in source:
        if is_notebook(path):
            notebooks.append((path, None))
        else:
            shown.old.extend(compare.known([path]))
    shown.named.update(dict.fromkeys(set(found.gone).difference(source), "deleted"))
    return notebooks


def _notebook(
    compare: Comparison,
    path: bytes,
    change: Change | None,
    blobs: BlobReader,
    pack: BlobPack,
    shown: _Shown,
) -> None:
    """Put a notebook's code, before and after, into the two trees."""
    before = compare.base.files.get(path)
    known = before is not None and before.mode != SYMLINK
    old = code_cells(blobs.read(before.oid)) if before is not None and known else b""
    new = code_cells(blobs.read(change.oid)) if change is not None else b""
    size = f"{change.size} bytes" if change is not None else "deleted"
    if old is None or new is None:
        shown.named[path] = f"{size}, no readable code"
    elif old == new:
        shown.named[path] = f"{size}, no code changed"
    else:
        if known:
            shown.old.append(("100644", pack.add(old), path + _LABEL))
        if change is not None:
            shown.new.append(("100644", pack.add(new), path + _LABEL))
