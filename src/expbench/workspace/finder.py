"""Where each task's repository is found: shipped with the package, in the user's clones, or fetched."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from expbench.dataset import shipped_tree
from expbench.dataset.release import known_tree
from expbench.errors import RepositoryError
from expbench.schema import ResearchTask
from expbench.workspace.findings import find_survivors
from expbench.workspace.frozen import FrozenTree, freeze
from expbench.workspace.prepare import Prepared, mask_tree
from expbench.workspace.proof import prove_no_copies
from expbench.workspace.repository.source import (
    Source,
    clone_or_address,
    from_folder,
    from_git,
    stored,
)
from expbench.workspace.strict import MaskMode


@dataclass(frozen=True)
class SourceFinder:
    """Finds sources and masks them, each once; what cannot be had is not asked for again.

    ``repo`` is one clone or address for all tasks; ``clones`` a folder of clones. Without either, the
    task's own address is fetched. ``mode`` is what is taken out of each tree; ``owner`` the uid that
    sandboxes run as, when it is not this process's.
    """

    cache: Path
    clones: Path | None = None
    repo: str | None = None
    mode: MaskMode = "strict"
    owner: int | None = None
    _sources: dict[str, Source | RepositoryError] = field(default_factory=dict, repr=False)
    _trees: dict[Path, FrozenTree] = field(default_factory=dict, repr=False)
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
                try:
                    self._sources[key] = self._find(task)
                except RepositoryError as error:
                    self._sources[key] = error
            found = self._sources[key]
            if isinstance(found, RepositoryError):
                raise found
            return found

    def tree(self, task: ResearchTask) -> FrozenTree:
        """The task's whole tree, in use by this process from now on. Raises RepositoryError."""
        source = self.source(task)
        with self._lock:
            if source.git_dir not in self._trees:
                self._trees[source.git_dir] = freeze(source, self.owner)
            return self._trees[source.git_dir]

    def prepared(self, task: ResearchTask) -> Prepared:
        """The task's masked tree. Raises RepositoryError, or LeakError when it is not clean."""
        frozen = self.tree(task)
        if self.mode == "paper":
            return mask_tree(frozen, task.mask, "paper")
        prepared = mask_tree(frozen, task.mask, "strict", find_survivors(frozen, task))
        prove_no_copies(prepared)
        return prepared

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
