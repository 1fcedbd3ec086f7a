"""The masked workspace: what an agent gets, and the proof that it holds nothing else.

The masked files and the root READMEs are taken out of the pinned commit's tree; what is left becomes
one commit without a parent, with its own small pack. The workspace's object store is filled from that
commit alone, so no masked blob can be in it; :func:`prove_clean` looks all the same.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from expbench.errors import InfrastructureError, LeakError, RepositoryError
from expbench.workspace.git import BlobReader, git
from expbench.workspace.source import Source
from expbench.workspace.strict import MaskMode, Survivor
from expbench.workspace.tree import (
    SUBMODULE,
    SYMLINK,
    Entry,
    is_root_readme,
    leaves_tree,
    list_tree,
    safe_path,
    write_tree,
)

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = agent
\temail = agent@localhost
"""


@dataclass(frozen=True)
class Prepared:
    """A masked tree.

    ``git_dir`` is the harness's own repository that holds ``tree``; collection compares with it.
    ``removed`` are the paths taken out, ``refused`` those that cannot be in any workspace (with why).
    ``survivors`` are the files that strict masking found besides the task's own mask.
    """

    git_dir: Path
    tree: str
    commit: str
    removed: tuple[str, ...]
    refused: tuple[tuple[str, str], ...] = ()
    survivors: tuple[Survivor, ...] = ()
    entries: tuple[Entry, ...] = field(default=(), repr=False)
    masked_oids: frozenset[str] = field(default=frozenset(), repr=False)


def mask(
    source: Source,
    paths: tuple[str, ...],
    mode: MaskMode = "strict",
    survivors: tuple[Survivor, ...] = (),
) -> Prepared:
    """The masked tree of a source, not yet written anywhere.

    Mode ``paper`` takes out ``paths`` and the root's README.md; ``strict`` its READMEs in any case and
    language, and what is left of the answer in ``survivors``.

    Raises:
        RepositoryError: a masked path is not in the repository, so the task would not be masked.
    """
    wanted = {os.fsencode(path) for path in paths}
    found = {os.fsencode(each.path): each for each in survivors if each.action != "reported"}
    kept: list[Entry] = []
    removed: list[Entry] = []
    cleared: list[Entry] = []
    refused: list[tuple[str, str]] = []
    with BlobReader(source.git_dir) as blobs:
        for entry in list_tree(source.git_dir, source.commit):
            survivor = found.get(entry.path)
            if (
                entry.path in wanted
                or _is_readme(entry.path, mode)
                or (survivor is not None and survivor.content is None)
            ):
                removed.append(entry)
            elif (reason := _refusal(entry, blobs)) is not None:
                refused.append((os.fsdecode(entry.path), reason))
            elif survivor is not None and survivor.content is not None:
                cleared.append(entry)
                kept.append(_with_content(source.git_dir, entry, survivor.content))
            else:
                kept.append(entry)
    missing = sorted(wanted - {entry.path for entry in removed})
    if missing:
        names = ", ".join(os.fsdecode(path) for path in missing)
        raise RepositoryError(
            f"The task masks {names}, which commit {(source.pin or source.commit)[:12]} does not have: "
            "this task cannot be masked as released."
        )
    tree = _write_index_tree(source.git_dir, kept)
    # As git holds them: a crafted tree can list a symbolic link and files below it.
    entries = list_tree(source.git_dir, tree)
    commit = git(["commit-tree", tree, "-m", "workspace"], git_dir=source.git_dir)
    return Prepared(
        git_dir=source.git_dir,
        tree=tree,
        commit=commit.decode().strip(),
        removed=tuple(os.fsdecode(entry.path) for entry in removed),
        refused=tuple(refused),
        survivors=survivors,
        entries=entries,
        masked_oids=frozenset(e.oid for e in (*removed, *cleared) if e.mode != SUBMODULE)
        - {entry.oid for entry in entries},
    )


def materialise(prepared: Prepared, dest: Path) -> None:
    """Write the masked tree and its one-commit repository to ``dest``, a new or empty folder.

    Raises:
        LeakError: the proof failed; ``dest`` must not be given to an agent.
    """
    dest.mkdir(parents=True, exist_ok=True)
    dest = dest.resolve()
    write_tree(prepared.git_dir, prepared.entries, dest)
    _make_repository(prepared, dest)
    prove_clean(prepared, dest)


def materialise_patched(prepared: Prepared, patch: bytes, dest: Path) -> None:
    """Write the masked tree with a collected patch on top, byte for byte, to ``dest``.

    The patch goes through an index and an object folder of ours, so that neither attributes of the
    tree nor paths of the patch reach the file system before they were checked.

    Raises:
        InfrastructureError: it does not apply, which a patch that we made always does.
    """
    dest.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="expbench-apply-") as folder:
        environment = own_objects(prepared, Path(folder))
        git(["read-tree", prepared.tree], git_dir=prepared.git_dir, env=environment)
        if patch.strip():
            apply = ["apply", "--cached", "--binary", "--whitespace=nowarn", "-"]
            git(apply, git_dir=prepared.git_dir, stdin=patch, env=environment)
        tree = git(["write-tree"], git_dir=prepared.git_dir, env=environment).decode().strip()
        entries = list_tree(prepared.git_dir, tree, environment)
        if unsafe := [entry for entry in entries if not safe_path(entry.path)]:
            raise InfrastructureError(f"the patch holds an unsafe path: {unsafe[0].path!r}")
        write_tree(prepared.git_dir, entries, dest, environment)
    _make_repository(prepared, dest)


def own_objects(prepared: Prepared, folder: Path) -> dict[str, str]:
    """git's environment for work on a prepared tree that leaves its repository as it is."""
    objects = folder / "objects"
    objects.mkdir()
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(prepared.git_dir / "objects"),
    }


def prove_clean(prepared: Prepared, dest: Path) -> None:
    """Scan every object, the index, the references and the tree of a workspace (R13).

    Raises:
        LeakError: a masked blob, a second commit or another way to other versions was found.
    """
    repository = dest / ".git"
    objects = git(["cat-file", "--batch-all-objects", "--batch-check"], git_dir=repository)
    kinds = [line.split()[:2] for line in objects.decode().splitlines()]
    index = git(["ls-files", "-s", "-z"], git_dir=repository).split(b"\0")
    oids = {oid for oid, _ in kinds} | {e.split()[1].decode() for e in index if e}
    if leaked := oids & prepared.masked_oids:
        raise LeakError(f"the workspace's git still holds masked content: {sorted(leaked)}")
    if [kind for _, kind in kinds].count("commit") != 1:
        raise LeakError("the workspace's git holds more than one commit")
    for name in (
        "logs",
        "objects/info/alternates",
        "packed-refs",
        "hooks",
        "refs/stash",
        "shallow",
    ):
        if (repository / name).exists():
            raise LeakError(f"the workspace's git holds {name}")
    for name in prepared.removed:
        if os.path.lexists(os.path.join(os.fsencode(dest), os.fsencode(name))):
            raise LeakError(f"the workspace still holds {name}")


def _is_readme(path: bytes, mode: MaskMode) -> bool:
    return path == b"README.md" if mode == "paper" else is_root_readme(path)


def _with_content(git_dir: Path, entry: Entry, content: bytes) -> Entry:
    oid = git(["hash-object", "-w", "--stdin"], git_dir=git_dir, stdin=content).decode().strip()
    return replace(entry, oid=oid, size=len(content))


def _refusal(entry: Entry, blobs: BlobReader) -> str | None:
    if not safe_path(entry.path):
        return "unsafe path"
    if entry.mode == SUBMODULE:
        return "submodule"
    if entry.mode == SYMLINK and leaves_tree(entry.path, blobs.read(entry.oid)):
        return "symbolic link out of the tree"
    return None


def _write_index_tree(git_dir: Path, entries: list[Entry]) -> str:
    """The id of the tree made of ``entries``, written to the repository."""
    listing = b"".join(b"%s %s\t%s\0" % (e.mode.encode(), e.oid.encode(), e.path) for e in entries)
    with tempfile.TemporaryDirectory(prefix="expbench-index-") as folder:
        environment = {"GIT_INDEX_FILE": f"{folder}/index"}
        git(["update-index", "-z", "--index-info"], git_dir=git_dir, stdin=listing, env=environment)
        return git(["write-tree"], git_dir=git_dir, env=environment).decode().strip()


def _make_repository(prepared: Prepared, dest: Path) -> None:
    """A repository with the one commit, its trees and blobs, branch ``main`` and nothing else."""
    repository = dest / ".git"
    pack = git(
        ["pack-objects", "--revs", "--stdout", "--quiet", "--threads=1"],
        git_dir=prepared.git_dir,
        stdin=f"{prepared.commit}\n".encode(),
    )
    git(["init", "--quiet", "--template=", str(dest)])
    git(["index-pack", "--stdin"], git_dir=repository, stdin=pack)
    (repository / "config").write_text(_CONFIG)
    (repository / "HEAD").write_text("ref: refs/heads/main\n")
    (repository / "refs" / "heads" / "main").write_text(f"{prepared.commit}\n")
    git(["read-tree", "HEAD"], git_dir=repository)
    refresh = ["--work-tree", str(dest), "update-index", "-q", "--really-refresh"]
    git(refresh, git_dir=repository, cwd=dest, accept=(0, 1))
