"""A repository's whole tree at its pin, nothing masked: for the harness's own checks, never for agents."""

from __future__ import annotations

from pathlib import Path

from expbench.workspace.git import BlobReader
from expbench.workspace.source import Source
from expbench.workspace.tree import (
    SUBMODULE,
    SYMLINK,
    leaves_tree,
    list_tree,
    safe_path,
    write_tree,
)


def write_source(source: Source, dest: Path) -> None:
    """Write every file that may be in a folder of ours; submodules and links that leave it are not."""
    dest.mkdir(parents=True, exist_ok=True)
    entries = [
        entry
        for entry in list_tree(source.git_dir, source.commit)
        if entry.mode != SUBMODULE and safe_path(entry.path)
    ]
    with BlobReader(source.git_dir) as blobs:
        kept = tuple(
            entry
            for entry in entries
            if entry.mode != SYMLINK or not leaves_tree(entry.path, blobs.read(entry.oid))
        )
    links = {entry.path for entry in kept if entry.mode == SYMLINK}
    crafted = [e.path for e in kept if any(e.path.startswith(link + b"/") for link in links)]
    write_tree(source.git_dir, tuple(e for e in kept if e.path not in crafted), dest)
