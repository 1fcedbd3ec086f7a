"""Where each task's repository is found: shipped with the package, in the user's clones, or fetched."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from expbench.dataset import shipped_tree
from expbench.errors import RepositoryError
from expbench.schema import ResearchTask
from expbench.workspace.prepare import Prepared, mask
from expbench.workspace.source import Source, find_clone, from_folder, from_git


@dataclass(frozen=True)
class SourceFinder:
    """Finds sources and masks them, each once.

    ``repo`` is one clone or address for all tasks; ``clones`` a folder of clones. Without either, the
    task's own address is fetched.
    """

    cache: Path
    clones: Path | None = None
    repo: str | None = None
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
        return mask(self.source(task), task.mask)

    def _find(self, task: ResearchTask) -> Source:
        tree = shipped_tree(task)
        if tree is not None:
            return from_folder(tree, self.cache)
        repository = task.repository
        if not repository.commit:
            raise RepositoryError(f"Task {task.id} names no commit of its repository.")
        if self.repo is not None:
            return from_git(self.repo, repository.commit, self.cache)
        if self.clones is None:
            return from_git(repository.url, repository.commit, self.cache)
        clone = find_clone(self.clones, repository.url)
        if clone is None:
            raise RepositoryError(
                f"{self.clones} has no clone of {repository.url}: put one there as OWNER/NAME."
            )
        return from_git(str(clone), repository.commit, self.cache)
