"""Reading a task's repository for the harness: cited code, and shipped documents and results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from expbench.schema import Citation
from expbench.workspace.prepare import Prepared
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.source import Source
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, Entry, list_tree

SHIPPED_FILE_CAP = 500_000
"""Characters read of one shipped document."""
SHIPPED_CAP = 10_000_000
"""Characters read of all of them."""

_DOCUMENTS = frozenset(
    [
        ".md",
        ".rst",
        ".txt",
        ".ipynb",
        ".log",
        ".csv",
        ".tsv",
        ".json",
        ".jsonl",
        ".yaml",
        ".yml",
        ".html",
        ".out",
    ]
)


def code_reader(source: Source) -> Callable[[Citation], str]:
    """A function that gives the authors' code at a citation, or an empty string."""
    entries = {os.fsdecode(entry.path): entry for entry in list_tree(source.git_dir, source.commit)}
    cache: dict[str, list[str]] = {}

    def lines(path: str) -> list[str]:
        if path not in cache:
            cache[path] = []
            if path in entries and not path.endswith(".ipynb"):
                for _, text in _texts(source, [entries[path]]):
                    cache[path] = text.splitlines()
        return cache[path]

    def read(citation: Citation) -> str:
        found = lines(citation.path)
        return "\n".join("\n".join(found[first - 1 : last]) for first, last in citation.ranges)

    return read


def read_files(source: Source, paths: Iterable[str]) -> dict[str, str]:
    """The text of those of ``paths`` that the source has, in the order of the tree."""
    wanted = set(paths)
    entries = list_tree(source.git_dir, source.commit)
    return dict(_texts(source, [e for e in entries if os.fsdecode(e.path) in wanted]))


def shipped_documents(prepared: Prepared) -> dict[str, str]:
    """Documentation and results that the masked tree ships, by path; large ones cut."""
    entries = [
        entry
        for entry in prepared.entries
        if PurePosixPath(os.fsdecode(entry.path)).suffix.lower() in _DOCUMENTS
        or b"readme" in entry.path.lower()
    ]
    found: dict[str, str] = {}
    total = 0
    source = Source(prepared.git_dir, prepared.commit)
    for path, text in _texts(source, entries):
        found[path] = text[:SHIPPED_FILE_CAP]
        total += len(found[path])
        if total > SHIPPED_CAP:
            break
    return found


def _texts(source: Source, entries: Iterable[Entry]) -> Iterable[tuple[str, str]]:
    with BlobReader(source.git_dir) as blobs:
        for entry in entries:
            if entry.mode not in (SYMLINK, SUBMODULE):
                content = blobs.read(entry.oid)
                yield os.fsdecode(entry.path), content.decode("utf-8", errors="replace")
