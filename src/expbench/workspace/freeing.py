"""Freeing what the cache keeps and no process uses. All of it is made again when it is needed.

Frozen trees, repositories and agents' programs are in use for as long as a process shares their lock
(``leases``). An environment has no lock: it is in use as long as any process that lives has a workspace,
a tree or a repository. Only what has a name that the cache gives is touched.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import BinaryIO, Literal

from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.schema import Record
from expbench.workspace.frozen import TREES
from expbench.workspace.keeping import kept_for
from expbench.workspace.owners import lives, owner_of
from expbench.workspace.repository.leases import lock_file, repository_lock, try_alone
from expbench.workspace.repository.making import leftovers, put_aside, remove

Kind = Literal["workspace", "unfinished", "tree", "repository", "environment", "program", "verdict"]
State = Literal["freed", "in use", "recent", "failed"]

_TREE = re.compile(r"[0-9a-f]{40,64}(-\d+)?")
_REPOSITORY = re.compile(r"(git-[0-9a-f]{40,64}|folder-[0-9a-f]{24})\.git")
_ENVIRONMENT = _PROGRAM = re.compile(r"[0-9a-f]{16}")
_SHARD = re.compile(r"[0-9a-f]{2}")
_VERDICT = re.compile(r"[0-9a-f]{62}\.json")
_HALF_VERDICT = re.compile(r"\.put-\w+")
_DAY = 24 * 3600.0
_HOUR = 3600.0
"""Nobody writes one verdict for so long."""


class Item(Record):
    """One thing of the cache and what became of it.

    ``path`` is relative to the cache; ``bytes`` of the disk are those that its removal gives back, and
    0 for what stays. ``recent`` is what was used in the days that are to be kept.
    """

    kind: Kind
    path: str
    state: State
    bytes: int = 0
    reason: str = ""


@dataclass
class Freeing:
    """One pass over a cache.

    Args:
        keep_days: what was last taken into use less than so many days ago stays.
        dry_run: only tell; nothing is changed.
    """

    cache: CachePaths
    keep_days: float = 0.0
    dry_run: bool = False
    items: list[Item] = field(default_factory=list)
    _links: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    @property
    def trees_folder(self) -> Path:
        return self.cache.repos / TREES

    def unfinished(self) -> None:
        """What processes that were killed had not finished making."""
        places = [self.cache.repos, self.trees_folder, self.cache.envs, self.cache.environments]
        places.append(self.cache.agents)
        places += [path / "layers" for path in _named(self.trees_folder, _TREE)]
        for place in places:
            for path in leftovers(place):
                self._free("unfinished", path)
        for path in self._verdict_files(_HALF_VERDICT):
            if _age(path) > _HOUR:
                self._unlink("unfinished", path)

    def trees(self) -> None:
        """Frozen trees with all their layers."""
        found = {path.name for path in _named(self.trees_folder, _TREE)}
        locks = {path.stem for path in _listing(self.trees_folder) if path.suffix == ".lock"}
        for name in sorted(found | {stem for stem in locks if _TREE.fullmatch(stem)}):
            folder = self.trees_folder / name
            self._free_alone("tree", folder, lock_file(folder))

    def repositories(self) -> None:
        """Fetched and imported repositories. Trees are to be freed first, which share files with them."""
        for folder in _named(self.cache.repos, _REPOSITORY):
            self._free_alone("repository", folder, repository_lock(folder))

    def environments(self) -> None:
        """Python environments of sandboxes, when no process that lives uses anything of the cache."""
        for folder in _named(self.cache.envs, _ENVIRONMENT):
            if self._cache_used():
                self._note("environment", folder, "in use")
            elif self._is_recent(folder):
                self._note("environment", folder, "recent")
            else:
                self._free_environment(folder)

    def programs(self, only: Collection[str] | None = None) -> None:
        """Agents' own programs: all of them, or those of these digests."""
        for folder in _named(self.cache.agents, _PROGRAM):
            if only is None or folder.name in only:
                self._free_alone("program", folder, lock_file(folder))
                if not folder.exists():
                    folder.with_suffix(".making").unlink(missing_ok=True)

    def verdicts(self) -> None:
        """Verdicts of judges that are models: their calls are made, and paid for, again.

        Nobody holds one: who reads an entry has it whole, and who writes one renames it into place.
        """
        for path in self._verdict_files(_VERDICT):
            if self._is_recent(path):
                self._note("verdict", path, "recent")
            else:
                self._unlink("verdict", path)

    def workspaces(self) -> list[Path]:
        """Folders of harnesses that are no more, noted as freed; the caller removes them."""
        found = []
        for folder in _listing(self.cache.work):
            owner = owner_of(folder.name)
            if not owner:
                continue
            if (run := kept_for(folder)) is not None:
                self._note("workspace", folder, "in use", reason=f"kept for {run}")
            elif not lives(self.cache.owners, owner):
                found.append(folder)
                self._note("workspace", folder, "freed", self._gives_back(folder))
            else:
                self._note("workspace", folder, "in use")
        return found

    def _free_alone(self, kind: Kind, folder: Path, lock: Path) -> None:
        recent = self._is_recent(lock if os.path.exists(lock) else folder)
        try:
            file = try_alone(lock)
        except FileNotFoundError:
            self._free(kind, folder, recent)
            return
        except OSError as error:
            self._note(kind, folder, "failed", reason=error.strerror or "")
            return
        if file is None:
            self._note(kind, folder, "in use")
            return
        beside = lock if lock.parent != folder else None
        with file:
            if os.path.isdir(folder):
                self._free(kind, folder, recent, file, beside)
            elif beside is not None and not self.dry_run:
                beside.unlink(missing_ok=True)

    def _free(
        self,
        kind: Kind,
        folder: Path,
        recent: bool = False,
        lease: BinaryIO | None = None,
        beside: Path | None = None,
    ) -> None:
        """Remove a folder that is ours alone; who waits for its lease waits for the renaming only."""
        if recent:
            self._note(kind, folder, "recent")
            return
        given_back = self._gives_back(folder)
        if self.dry_run:
            self._note(kind, folder, "freed", given_back)
            return
        try:
            aside = put_aside(folder)
            if beside is not None:
                beside.unlink(missing_ok=True)
        except OSError as error:
            self._note(kind, folder, "failed", reason=error.strerror or "")
            return
        if lease is not None:
            lease.close()
        self._remove(kind, folder, aside, given_back)

    def _free_environment(self, folder: Path) -> None:
        """Take an environment aside, and back when a process has begun to use the cache meanwhile."""
        given_back = self._gives_back(folder)
        if self.dry_run:
            self._note("environment", folder, "freed", given_back)
            return
        try:
            aside = put_aside(folder)
        except OSError as error:
            self._note("environment", folder, "failed", reason=error.strerror or "")
            return
        if self._cache_used():
            try:
                aside.rename(folder)
            except OSError:
                remove(aside)
            self._note("environment", folder, "in use")
            return
        self._remove("environment", folder, aside, given_back)

    def _remove(self, kind: Kind, folder: Path, aside: Path, given_back: int) -> None:
        if remove(aside):
            self._note(kind, folder, "freed", given_back)
        else:
            self._note(kind, folder, "failed", reason="not all of it could be removed")

    def _verdict_files(self, pattern: re.Pattern[str]) -> list[Path]:
        """The files of the verdict cache with such a name; their folders stay, since judges write there."""
        shards = _named(self.cache.verdicts, _SHARD)
        files = (path for folder in shards for path in _listing(folder))
        return [path for path in files if pattern.fullmatch(path.name) and path.is_file()]

    def _unlink(self, kind: Kind, path: Path) -> None:
        try:
            given_back = path.lstat().st_blocks * 512
            if not self.dry_run:
                path.unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            self._note(kind, path, "failed", reason=error.strerror or "")
            return
        self._note(kind, path, "freed", given_back)

    def _cache_used(self) -> bool:
        """Whether a process that lives has a workspace, a tree or a repository of the cache."""
        locks = [lock_file(path) for path in _named(self.trees_folder, _TREE)]
        locks += [repository_lock(path) for path in _named(self.cache.repos, _REPOSITORY)]
        owners = {owner_of(path.name) for path in _listing(self.cache.work)} - {""}
        at_work = any(lives(self.cache.owners, owner) for owner in owners)
        return at_work or any(map(_shared, locks))

    def _is_recent(self, path: Path) -> bool:
        return _age(path) < self.keep_days * _DAY

    def _note(self, kind: Kind, path: Path, state: State, size: int = 0, reason: str = "") -> None:
        name = os.path.relpath(path, self.cache.root)
        self.items.append(Item(kind=kind, path=name, state=state, bytes=size, reason=reason))

    def _gives_back(self, folder: Path) -> int:
        """Bytes of the disk that go with a folder, and with all before it: a file goes with its last link."""
        total = 0
        for parent, folders, names in os.walk(folder):
            links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
            for path in (parent, *(os.path.join(parent, name) for name in (*links, *names))):
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                left = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
                if left > 1:
                    key = (status.st_dev, status.st_ino)
                    left = self._links.get(key, left)
                    self._links[key] = left - 1
                total += status.st_blocks * 512 if left == 1 else 0
        return total


def check_cache(cache: CachePaths) -> bool:
    """Whether there is a cache.

    Raises:
        PrerequisiteError: it is no folder, or not the user's to read.
    """
    for place in (cache.root, cache.repos, cache.work, cache.envs, cache.agents, cache.verdicts):
        try:
            os.listdir(place)
        except FileNotFoundError:
            if place == cache.root:
                return False
        except NotADirectoryError:
            raise PrerequisiteError(
                f"{place} is no folder: move it away, or give another cache with XDG_CACHE_HOME."
            ) from None
        except OSError as error:
            raise PrerequisiteError(
                f"{place} cannot be read ({error.strerror}): "
                "run `expbench gc` as the user whose cache it is."
            ) from None
    return True


def _age(path: Path) -> float:
    """Seconds since it was last taken into use; what is not there is older than anything."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return inf


def _shared(lock: Path) -> bool:
    try:
        file = try_alone(lock)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if file is None:
        return True
    file.close()
    return False


def _named(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    return [
        path for path in _listing(folder) if pattern.fullmatch(path.name) and os.path.isdir(path)
    ]


def _listing(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
