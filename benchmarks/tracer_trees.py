"""The trees that released tasks start from, written to disk from a folder of clones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.schema import ResearchTask
from expbench.workspace.repository.git import git, split_z
from expbench.workspace.repository.source import find_clone
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, safe_path

LARGEST = 8_000_000
"""Bytes above which a file is left out: no source is as large."""


def trees(
    tasks: Iterable[ResearchTask], mirror: Path, work: Path
) -> Iterator[tuple[ResearchTask, Path | str]]:
    """Each task with its tree at the pinned commit, or with the reason why there is none.

    A commit that the clone does not have is replaced by the clone's newest; ``work`` keeps the trees.
    """
    made: dict[tuple[str, str], Path | str] = {}
    for task in tasks:
        key = (task.repository.url, task.repository.commit)
        if key not in made:
            made[key] = _tree(*key, mirror, work)
        yield task, made[key]


def _tree(url: str, commit: str, mirror: Path, work: Path) -> Path | str:
    clone = _clone(mirror, url)
    if clone is None:
        return "the mirror has no clone of it"
    try:
        git(["cat-file", "-e", f"{commit}^{{commit}}"], git_dir=clone)
    except InfrastructureError:
        commit = git(["rev-parse", "HEAD"], git_dir=clone).decode().strip()
    target = work / f"{url.rstrip('/').rpartition('/')[2]}-{commit[:12]}"
    if not (target.with_suffix(".done")).exists():
        _write(clone, commit, target)
        target.with_suffix(".done").touch()
    return target


def _clone(mirror: Path, url: str) -> Path | None:
    owner, name = url.removesuffix(".git").rstrip("/").split("/")[-2:]
    for place in (mirror / f"{owner}+{name}" / "repo", mirror / f"{owner}+{name}"):
        if (place / "HEAD").exists():
            return place
    return find_clone(mirror, url)


def _write(clone: Path, commit: str, target: Path) -> None:
    """Write the files that the clone has; it may lack some of the largest."""
    files: dict[str, list[bytes]] = {}
    links: set[bytes] = set()
    for record in split_z(git(["ls-tree", "-r", "-z", "--full-tree", commit], git_dir=clone)):
        facts, _, path = record.partition(b"\t")
        mode, _, oid = facts.decode().split()
        if mode != SUBMODULE and safe_path(path):
            files.setdefault(oid, []).append(path)
            if mode == SYMLINK:
                links.add(path)
    asked = "".join(f"{oid}\n" for oid in files).encode()
    sizes = git(["cat-file", "--batch-check"], git_dir=clone, stdin=asked).decode().splitlines()
    there = [
        row.split()[0]
        for row in sizes
        if row.split()[-1].isdigit() and int(row.split()[-1]) <= LARGEST
    ]
    asked = "".join(f"{oid}\n" for oid in there).encode()
    output, place = git(["cat-file", "--batch"], git_dir=clone, stdin=asked), 0
    for oid in there:
        start = output.index(b"\n", place) + 1
        size = int(output[place:start].split()[2])
        place = start + size + 1
        for path in files[oid]:
            file = target / path.decode("utf-8", "surrogateescape")
            file.parent.mkdir(parents=True, exist_ok=True)
            content = output[start : start + size]
            if path in links:
                # The tracer is asked to keep away from those that lead out.
                file.symlink_to(content.decode("utf-8", "surrogateescape"))
            else:
                file.write_bytes(content)
