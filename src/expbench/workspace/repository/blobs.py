"""Contents of many objects of a repository."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from expbench.workspace.repository.git import GitError, environment
from expbench.workspace.repository.packs import Packs


class BlobReader:
    """Contents of many objects. A context manager.

    What lies in packs of ours is read here; one ``git cat-file --batch`` reads the rest, if there is any.
    Threads may share it.
    """

    def __init__(self, git_dir: Path, env: Mapping[str, str] | None = None) -> None:
        self._git_dir = git_dir
        self._env = env or {}
        self.packs = Packs(git_dir / "objects")
        self._process: subprocess.Popen[bytes] | None = None
        self._asking = threading.Lock()

    def __enter__(self) -> BlobReader:
        self.packs.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.packs.__exit__()
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream:
                    stream.close()
            self._process.wait()

    def read(self, oid: str) -> bytes:
        """One object's bytes. Raises GitError when the repository has it not."""
        found = self.packs.read(oid)
        if found is not None:
            return found[1]
        with self._asking:
            return self._ask(oid)

    def read_whole(self, oid: str) -> tuple[bytes, bool]:
        """One object's bytes, and whether it lies whole in a pack. Raises GitError."""
        entry = self.packs.entry(oid)
        try:
            if entry is not None:
                return entry.content()[1], True
        except ValueError:
            pass
        return self.read(oid), False

    def _ask(self, oid: str) -> bytes:
        if self._process is None:
            self._process = _cat_file(self._git_dir, self._env, subprocess.PIPE)
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise GitError("git cat-file has no pipes")
        stdin.write(f"{oid}\n".encode())
        stdin.flush()
        header = stdout.readline().split()
        if len(header) != 3:
            raise GitError(f"object {oid} is not in the repository")
        content = stdout.read(int(header[2]))
        stdout.read(1)
        return content


def stream(
    git_dir: Path, names: Iterable[str], env: Mapping[str, str] | None = None
) -> Iterator[tuple[str, bytes, bytes] | None]:
    """(id, kind, content) of each named object in turn; nothing for one that is not there.

    Raises:
        GitError: git ended early.
    """
    with tempfile.TemporaryFile() as asked:
        asked.writelines(f"{name}\n".encode() for name in names)
        asked.flush()
        asked.seek(0)
        process = _cat_file(git_dir, env or {}, asked.fileno(), "--buffer")
        stdout = process.stdout
        if stdout is None:
            raise GitError("git cat-file has no pipes")
        try:
            for line in stdout:
                header = line.split()
                if len(header) != 3:
                    yield None
                    continue
                content = stdout.read(int(header[2]))
                if stdout.read(1) != b"\n":
                    raise GitError("git cat-file ended early")
                yield header[0].decode(), header[1], content
        finally:
            stdout.close()
            process.wait()


def _cat_file(
    git_dir: Path, env: Mapping[str, str], stdin: int, *options: str
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["git", f"--git-dir={git_dir}", "cat-file", "--batch", *options],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment(env),
    )
