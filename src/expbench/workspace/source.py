"""Where the code of a task comes from: one bare repository of ours, at the pinned commit only.

Built beside its final place and renamed there, so that a kill leaves nothing half made and two
processes that want the same repository do not disturb each other.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from expbench.errors import RepositoryError
from expbench.workspace.git import GitError, git

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Source:
    """A bare repository and the commit in it that a task starts from."""

    git_dir: Path
    commit: str


def from_folder(folder: Path, cache: Path) -> Source:
    """Import a plain folder as a repository with one commit; ``.git`` and caches are left out.

    Raises:
        RepositoryError: the folder does not exist.
    """
    if not folder.is_dir():
        raise RepositoryError(f"{folder} is not a folder with a repository's files.")
    files = _files(folder)
    digest = hashlib.sha256()
    for path, mode, content in files:
        digest.update(b"%s %s %s\0" % (mode, path, hashlib.sha256(content).digest()))

    def build(git_dir: Path) -> None:
        index = b"".join(
            b"%s %s\t%s\0" % (mode, _store(git_dir, content), path) for path, mode, content in files
        )
        environment = {"GIT_INDEX_FILE": str(git_dir / "import-index")}
        git(["update-index", "-z", "--index-info"], git_dir=git_dir, stdin=index, env=environment)
        tree = git(["write-tree"], git_dir=git_dir, env=environment).decode().strip()
        commit = git(["commit-tree", tree, "-m", "import"], git_dir=git_dir).decode().strip()
        git(["update-ref", "refs/heads/pin", commit], git_dir=git_dir)
        (git_dir / "import-index").unlink()

    git_dir = _once(cache / f"folder-{digest.hexdigest()[:24]}.git", build)
    return Source(git_dir, git(["rev-parse", "refs/heads/pin"], git_dir=git_dir).decode().strip())


def from_git(url: str, commit: str, cache: Path) -> Source:
    """Fetch exactly one commit by its id from an address or a local clone (R41: never HEAD instead).

    Raises:
        RepositoryError: the address or the commit cannot be had.
    """
    if not _COMMIT.fullmatch(commit):
        raise RepositoryError(f"{commit!r} is no full commit id, so {url} cannot be pinned to it.")
    local = Path(url).expanduser()
    if local.exists():
        address = str(local.resolve())
    elif "://" in url or "@" in url:
        address = url
    else:
        raise RepositoryError(
            f"There is no repository at {url}: give a clone's folder or a git address."
        )

    def build(git_dir: Path) -> None:
        try:
            git(
                [
                    "fetch",
                    "--quiet",
                    "--no-tags",
                    "--depth=1",
                    "--",
                    address,
                    f"{commit}:refs/heads/pin",
                ],
                git_dir=git_dir,
                timeout=3600,
            )
        except GitError as error:
            raise RepositoryError(
                f"Commit {commit} cannot be had from {url} ({error}): "
                "give a repository that holds it."
            ) from None
        found = git(["rev-parse", "refs/heads/pin^{commit}"], git_dir=git_dir).decode().strip()
        if found != commit:
            raise RepositoryError(f"{url} answered commit {found} where {commit} was asked for.")

    return Source(_once(cache / f"git-{commit}.git", build), commit)


def find_clone(folder: Path, url: str) -> Path | None:
    """A clone of ``url`` in a folder of clones, laid out OWNER/NAME, OWNER+NAME or NAME (with or
    without ``.git``)."""
    owner, _, name = url.removesuffix(".git").rstrip("/").rpartition("/")
    owner = owner.rpartition("/")[2].rpartition(":")[2]
    for candidate in (f"{owner}/{name}", f"{owner}+{name}", name):
        for suffix in ("", ".git"):
            path = folder / f"{candidate}{suffix}"
            if (clone := _git_folder(path)) is not None:
                return clone
    return None


def _git_folder(path: Path) -> Path | None:
    """``path`` itself when git can fetch from it, or the one git folder inside it."""
    if (path / ".git").exists() or (path / "HEAD").is_file():
        return path
    inside = [child for child in sorted(path.glob("*")) if (child / "HEAD").is_file()]
    return inside[0] if len(inside) == 1 else None


def _once(final: Path, build: Callable[[Path], None]) -> Path:
    """Make a bare repository by ``build`` unless it is there; atomic by rename."""
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".making-", dir=final.parent))
    try:
        git(["init", "--quiet", "--bare", "--template=", str(temporary)])
        build(temporary)
        try:
            temporary.rename(final)
        except OSError:
            if not final.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final


def _files(folder: Path) -> list[tuple[bytes, bytes, bytes]]:
    """(path, git mode, content) of every file, sorted by path."""
    found: list[tuple[bytes, bytes, bytes]] = []
    root = os.fsencode(folder)
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (b".git", b"__pycache__"))
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in [*links, *(name for name in names if name != b".git")]:
            full = os.path.join(parent, name)
            path = os.path.relpath(full, root)
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                found.append((path, b"120000", os.readlink(full)))
            elif stat.S_ISREG(status.st_mode):
                mode = b"100755" if status.st_mode & 0o100 else b"100644"
                with open(full, "rb") as file:
                    found.append((path, mode, file.read()))
    return sorted(found)


def _store(git_dir: Path, content: bytes) -> bytes:
    return git(["hash-object", "-w", "--stdin"], git_dir=git_dir, stdin=content).strip()
