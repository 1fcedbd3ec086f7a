"""A repository's files at one commit, as text, for readers that know nothing of git."""

from __future__ import annotations

import os
from functools import cached_property

from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.git import GitError, git, split_z
from expbench.workspace.repository.source import Source
from expbench.workspace.repository.tree import Entry


class SourceFiles:
    """The regular files of a source. A file that is missing or too large reads as an empty text.

    Sizes are not asked of git's listing, which a clone with missing objects cannot give.
    """

    def __init__(self, source: Source, largest: int = 2_000_000) -> None:
        """``largest`` is in bytes."""
        self.source = source
        self._largest = largest
        self._texts: dict[str, str] = {}

    @cached_property
    def _oids(self) -> dict[str, str]:
        listing = ["ls-tree", "-r", "-z", "--full-tree", self.source.commit]
        found: dict[str, str] = {}
        for record in split_z(git(listing, git_dir=self.source.git_dir)):
            facts, _, path = record.partition(b"\t")
            mode, _, oid = facts.decode().split()
            if mode.startswith("100"):
                found[os.fsdecode(path)] = oid
        return found

    @cached_property
    def paths(self) -> frozenset[str]:
        """All regular files, relative to the root."""
        return frozenset(self._oids)

    def entries(self) -> tuple[Entry, ...]:
        """The files that are at hand, with their sizes."""
        known = sorted((os.fsencode(path), oid) for path, oid in self._oids.items())
        asked = "".join(f"{oid}\n" for _, oid in known).encode()
        check = ["cat-file", "--batch-check"]
        lines = git(check, git_dir=self.source.git_dir, stdin=asked).decode().splitlines()
        facts = [line.split() for line in lines]
        return tuple(
            Entry("100644", oid, path, int(fact[2]))
            for (path, oid), fact in zip(known, facts, strict=True)
            if len(fact) == 3
        )

    def read(self, path: str) -> str:
        """A file's text, once read from git and kept."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> str:
        if path not in self._oids:
            return ""
        with BlobReader(self.source.git_dir) as blobs:
            try:
                content = blobs.read(self._oids[path])
            except GitError:
                return ""
        return content.decode("utf-8", errors="replace") if len(content) <= self._largest else ""
