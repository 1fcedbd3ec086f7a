"""Where each task's repository is found: shipped with the package, in the user's clones, or fetched."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from expbench.dataset import shipped_tree
from expbench.dataset.release import known_tree
from expbench.errors import RepositoryError
from expbench.schema import ResearchTask
from expbench.workspace.git import BlobReader
from expbench.workspace.prepare import Prepared, mask
from expbench.workspace.source import (
    Source,
    clone_or_address,
    from_folder,
    from_git,
    stored,
)
from expbench.workspace.strict import MaskMode, Survivor, survivors
from expbench.workspace.tree import list_tree


@dataclass(frozen=True)
class SourceFinder:
    """Finds sources and masks them, each once.

    ``repo`` is one clone or address for all tasks; ``clones`` a folder of clones. Without either, the
    task's own address is fetched. ``mode`` is what is taken out of each tree.
    """

    cache: Path
    clones: Path | None = None
    repo: str | None = None
    mode: MaskMode = "strict"
    _sources: dict[str, Source] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def source(self, task: ResearchTask) -> Source:
        """The task's repository at its pinned commit.

        Raises:
            RepositoryError: it cannot be had.
        """
        repository = task.repository
        with self._lock:
            key = f"{repository.url} {repository.commit}"
            if key not in self._sources:
                self._sources[key] = self._find(task)
            return self._sources[key]

    def prepared(self, task: ResearchTask) -> Prepared:
        """The task's masked tree. Raises RepositoryError."""
        source = self.source(task)
        found: tuple[Survivor, ...] = ()
        if self.mode == "strict":
            with BlobReader(source.git_dir) as blobs:
                found = survivors(list_tree(source.git_dir, source.commit), task, blobs.read)
        return mask(source, task.mask, self.mode, found)

    def _find(self, task: ResearchTask) -> Source:
        tree = shipped_tree(task)
        if tree is not None:
            return from_folder(tree, self.cache)
        repository = task.repository
        if not repository.commit:
            raise RepositoryError(f"Task {task.id} names no commit of its repository.")
        if (source := stored(repository.commit, self.cache)) is not None:
            return source
        address = self.repo or clone_or_address(repository.url, self.clones)
        return from_git(
            address,
            repository.commit,
            self.cache,
            url=repository.url,
            tree=known_tree(repository.commit),
            clones=self.clones,
        )
