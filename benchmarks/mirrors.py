"""The tasks that a folder of clones can prepare.

Clones made without large files lack some that a pinned commit has. A stand-in takes such a commit's
place: the same history and one more commit, whose tree is the pin's without those files. Both methods
then work on the stand-in, so their ratio is that of the real repository without its largest files.
"""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from expbench.errors import RepositoryError
from expbench.schema import ResearchTask
from expbench.workspace.repository.contents import missing_paths
from expbench.workspace.repository.git import GitError, git
from expbench.workspace.repository.source import find_clone, from_git
from expbench.workspace.repository.tree import SUBMODULE, list_tree


@dataclass(frozen=True)
class Pin:
    """One commit of a repository, with the tasks that start from it; ``lacks`` of its files and submodules
    are gone."""

    clone: Path
    url: str
    commit: str
    tasks: tuple[ResearchTask, ...]
    lacks: int = 0


@dataclass
class Pins:
    """What can be measured, and what cannot: pins with the reason, and ids of tasks.

    ``unmaskable`` are tasks whose mask names a file that the commit does not have.
    """

    clones: Path
    pins: list[Pin] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    unmaskable: list[str] = field(default_factory=list)

    @property
    def tasks(self) -> int:
        """The number of tasks that can be prepared."""
        return sum(len(pin.tasks) for pin in self.pins)

    def notes(self) -> list[str]:
        """What a reader must know of the tasks measured."""
        lacking = [pin for pin in self.pins if pin.lacks]
        notes = [f"{self.tasks} tasks from {len(self.pins)} pinned commits."]
        if lacking:
            notes.append(
                f"{len(lacking)} pins are stand-ins without the {sum(p.lacks for p in lacking)} "
                "files or submodules that the mirror lacks."
            )
        if self.unmaskable:
            notes.append(
                f"{len(self.unmaskable)} tasks more mask a file that is not there and were left out."
            )
        notes += [f"Left out: {name}: {why}" for name, why in self.unavailable.items()]
        return notes


def gather(tasks: Iterable[ResearchTask], mirror: Path, scratch: Path) -> Pins:
    """Group tasks by their pins; stand-ins are made in ``scratch``, the mirror is only read.

    Args:
        mirror: clones laid out OWNER+NAME.
    """
    clones = scratch / "clones"
    clones.mkdir(parents=True)
    for folder in sorted(mirror.iterdir()):
        if folder.is_dir():
            (clones / folder.name).symlink_to(folder.resolve())
    grouped: dict[tuple[str, str], list[ResearchTask]] = {}
    for task in tasks:
        grouped.setdefault((task.repository.url, task.repository.commit), []).append(task)
    pins = Pins(clones)
    for (url, commit), group in grouped.items():
        try:
            _add(pins, url, commit, group)
        except GitError as error:
            pins.unavailable[f"{url} {commit[:12]}"] = str(error)
    return pins


def _add(pins: Pins, url: str, commit: str, tasks: list[ResearchTask]) -> None:
    clone = find_clone(pins.clones, url)
    if clone is None:
        pins.unavailable[f"{url} {commit[:12]}"] = "the mirror has no clone of it"
        return
    clone = (clone / ".git" if (clone / ".git").is_dir() else clone).resolve()
    lacks = 0
    for look in (missing_paths, functools.partial(_submodules_not_had, pins.clones, url)):
        if missing := look(clone, commit):
            clone, commit = _stand_in(pins.clones, url, clone, commit, missing)
            lacks += len(missing)
    changed = {"commit": commit}
    tasks = [
        task.model_copy(update={"repository": task.repository.model_copy(update=changed)})
        for task in tasks
    ]
    there = {entry.path for entry in list_tree(clone, commit)}
    fit = [task for task in tasks if there.issuperset(map(os.fsencode, task.mask))]
    pins.unmaskable += [task.id for task in tasks if task not in fit]
    if fit:
        pins.pins.append(Pin(clone, url, commit, tuple(fit), lacks))


def _submodules_not_had(clones: Path, url: str, clone: Path, commit: str) -> tuple[str, ...]:
    """The pin's submodules, when the mirror cannot fill their folders."""
    entries = list_tree(clone, commit)
    places = tuple(os.fsdecode(entry.path) for entry in entries if entry.mode == SUBMODULE)
    if places:
        with tempfile.TemporaryDirectory(dir=clones.parent) as probe:
            try:
                from_git(str(clone), commit, Path(probe), url=url, clones=clones)
            except RepositoryError:
                return places
    return ()


def _stand_in(
    clones: Path, url: str, clone: Path, commit: str, missing: tuple[str, ...]
) -> tuple[Path, str]:
    """A clone in the place of the mirror's, and its commit without the missing files."""
    owner, name = url.removesuffix(".git").rstrip("/").split("/")[-2:]
    place = clones / f"{owner}+{name}"
    if place.is_symlink() or not place.exists():
        place.unlink(missing_ok=True)
        git(["init", "--quiet", "--bare", "--template=", str(place)])
        shutil.copytree(
            clone / "objects", place / "objects", copy_function=_link, dirs_exist_ok=True
        )
        if (clone / "shallow").is_file():
            shutil.copy(clone / "shallow", place / "shallow")
    environment = {"GIT_INDEX_FILE": str(place / "stand-in-index")}
    git(["read-tree", commit], git_dir=place, env=environment)
    gone = b"".join(b"0 %040d\t%s\0" % (0, os.fsencode(path)) for path in missing)
    remove = ["update-index", "-z", "--index-info"]
    git(remove, git_dir=place, stdin=gone, env=environment)
    tree = git(["write-tree"], git_dir=place, env=environment).decode().strip()
    made = ["commit-tree", tree, "-p", commit, "-m", f"{commit} without what the mirror lacks"]
    new = git(made, git_dir=place).decode().strip()
    git(["update-ref", f"refs/heads/stand-in-{commit[:12]}", new], git_dir=place)
    git(["symbolic-ref", "HEAD", f"refs/heads/stand-in-{commit[:12]}"], git_dir=place)
    (place / "stand-in-index").unlink()
    return place, new


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
