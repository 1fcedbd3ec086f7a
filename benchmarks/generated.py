"""A repository of any size, and ten changes as an agent makes them."""

from __future__ import annotations

import math
import random
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from expbench.workspace.repository.git import git
from expbench.workspace.repository.tree import Entry

MEAN_BYTES = 8 * 1024
MASKED = ("README.md", "src/part000/module00000.py")
_SPREAD = 1.0
_LARGEST = 1 << 20
_BINARY = 0.05
_PER_FOLDER = 50


def generate(git_dir: Path, files: int) -> str:
    """A bare repository with one commit of ``files`` files of mixed sizes; the commit's id."""
    git(["init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(git_dir)])
    command = ["git", f"--git-dir={git_dir}", "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        if process.stdin is None:
            raise RuntimeError("git fast-import has no pipe")
        for part in _stream(files):
            process.stdin.write(part)
    if process.returncode != 0:
        raise RuntimeError(f"git fast-import ended with {process.returncode}")
    return git(["rev-parse", "refs/heads/main"], git_dir=git_dir).decode().strip()


def _stream(files: int) -> Iterator[bytes]:
    source = random.Random(files)
    words = [f"{source.randrange(16**6):x}" for _ in range(4000)]
    lines = (" ".join(source.choices(words, k=9)) for _ in range(40_000))
    text, binary = "\n".join(lines).encode(), source.randbytes(2 * _LARGEST)
    yield b"commit refs/heads/main\ncommitter a <a@example.org> 1735689600 +0000\ndata 1\nx\n"
    yield b"M 100644 inline README.md\ndata 6\nresult\n"
    for number in range(files - 1):
        size = int(source.lognormvariate(math.log(MEAN_BYTES) - _SPREAD**2 / 2, _SPREAD))
        kind, pool = (b"bin", binary) if source.random() < _BINARY else (b"py", text)
        start = source.randrange(len(pool) - _LARGEST)
        content = b"# %d\n" % number + pool[start : start + min(size, _LARGEST - 16)]
        path = b"src/part%03d/module%05d.%s" % (number // _PER_FOLDER, number, kind)
        if number == 0:
            path = MASKED[1].encode()
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(content), content)


@dataclass(frozen=True)
class Changes:
    """Changes as a shell script for the workspace's root, and how many paths of it they touch."""

    script: str
    paths: int


def ten_changes(entries: Sequence[Entry]) -> Changes:
    """Three texts, one binary file and one mode changed, two files deleted, one renamed, two added.

    Of a tree with less than eight plain files, as many of them as there can be.
    """
    plain = [e for e in entries if e.mode != "120000" and e.path.isascii() and e.size]
    step = max(1, len(plain) // 8)
    kinds = ["text", "delete", "rename", "mode", "text", "binary", "delete", "text"]
    lines, paths = ["set -e"], 2
    for kind, entry in zip(kinds, plain[::step], strict=False):
        name = shlex.quote(f"./{entry.path.decode()}")
        other = "-x" if entry.mode == "100755" else "+x"
        lines.append(
            {
                "text": f"printf '\\nchanged = True\\n' >> {name}",
                "binary": f"printf '\\000\\001\\377changed' >> {name}",
                "mode": f"chmod {other} {name}",
                "delete": f"rm -f {name}",
                "rename": f"mv {name} ./renamed_by_benchmark.py",
            }[kind]
        )
        paths += 2 if kind == "rename" else 1
    lines.append("printf 'print(1)\\n' > added_by_benchmark.py")
    lines.append("printf '\\000\\001\\002' > added_by_benchmark.bin")
    return Changes("\n".join(lines), paths)
