"""A script chain as an agent hands it in: is it the authors', is it there, and is it untouched?"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from expbench.schema import Record
from expbench.workspace import Source
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, list_tree
from expbench.workspace.submission.nofollow import Folder

_RESULTS = frozenset(
    (".csv", ".tsv", ".log", ".out", ".png", ".pdf", ".svg", ".npy", ".npz", ".pkl", ".pt", ".pth")
)
"""What a run of the authors' programs may write anew though the repository has it."""
_OWN_PROGRAM = re.compile(
    r"<<|\bpython[\d.]*\s+(?:-\w+\s+)*-c\b|\b(?:perl|ruby|node)\s+-e\b|\beval\b|\bsed\s+-i|\bpatch\b|"
    r"\bgit\s|\bcurl\b|\bwget\b|\bpip[\d.]*\s+install\b|\becho\b[^|]*>|\bprintf\b[^|]*>"
)
"""Commands that bring a program of the agent's own, or change the authors'."""
_MOST = 40
_LONGEST = 2_000


class Chain(Record):
    """What an agent found: files of the repository, the commands that run them, and how; or why nothing."""

    source: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    usage_instructions: str = ""
    no_answer: str = ""


@dataclass(frozen=True)
class Tracked:
    """The repository's files with the digests of their contents; links are told by their targets."""

    digests: Mapping[str, str]

    @classmethod
    def of(cls, source: Source, folder: Path) -> Tracked:
        """The files of a commit, as they lie in a folder that nobody has touched yet."""
        entries = list_tree(source.git_dir, source.commit)
        names = [os.fsdecode(e.path) for e in entries if e.mode not in (SUBMODULE, SYMLINK)]
        return cls(dict(zip(names, _digests(folder, names), strict=True)))

    def changed(self, folder: Path) -> tuple[str, ...]:
        """The files that are not as they were; links anywhere in a path count as a change."""
        found = _digests(folder, list(self.digests))
        return tuple(
            name
            for (name, before), now in zip(self.digests.items(), found, strict=True)
            if now != before
        )


def tampered(tracked: Tracked, folder: Path, source: Sequence[str]) -> tuple[str, ...]:
    """The files of the authors that an agent changed; results that their programs write anew are none."""
    return tuple(
        name
        for name in tracked.changed(folder)
        if name in source or PurePosixPath(name).suffix.lower() not in _RESULTS
    )


def wrong_chain(chain: Chain, tracked: Tracked) -> str:
    """Why a chain cannot be the ground truth; empty when it can."""
    if chain.no_answer:
        both = bool(chain.source or chain.commands)
        return "no_answer goes without source and commands" if both else ""
    return "; ".join(list(dict.fromkeys(_faults(chain, tracked)))[:5])


def _faults(chain: Chain, tracked: Tracked) -> Iterator[str]:
    if not chain.source or not chain.commands:
        yield "name at least one file in source and one command, or say in no_answer why there is none"
    if len(chain.source) > _MOST or len(chain.commands) > _MOST:
        yield f"name at most {_MOST} files and commands"
    for path in chain.source:
        if path not in tracked.digests:
            yield f"{path!r} is no file of the repository (paths are relative to its root)"
    if not chain.usage_instructions.strip():
        yield "usage_instructions is empty"
    for command in chain.commands:
        if len(command) > _LONGEST or "\n" in command:
            yield "a command is one line of at most 2000 characters"
        elif _OWN_PROGRAM.search(command):
            yield f"the command {command[:80]!r} brings a program of its own or changes files"
    if not any(_runs(command, tracked) for command in chain.commands):
        yield "no command runs a program of the repository"


def _runs(command: str, tracked: Tracked) -> bool:
    """Whether a command names a file of the repository, as a path, a module or a make target."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return False
    for before, word in zip(["", *words], words, strict=False):
        path = word.removeprefix("./").removeprefix("/workspace/")
        if path in tracked.digests or (word == "make" and "Makefile" in tracked.digests):
            return True
        if before in ("-m", "--module"):
            stem = path.replace(".", "/")
            if {f"{stem}.py", f"{stem}/__main__.py"} & tracked.digests.keys():
                return True
    return any(PurePosixPath(name).name in words for name in tracked.digests if "cd" in words)


def _digests(folder: Path, names: Sequence[str]) -> list[str]:
    """sha256 of each file below a folder; empty for what is not a regular file there."""
    found = []
    with Folder(os.fsencode(folder)) as opened:
        for name in names:
            try:
                handle = opened.open(os.fsencode(name))
            except OSError:
                found.append("")
                continue
            with os.fdopen(handle, "rb") as file:
                found.append(hashlib.file_digest(file, "sha256").hexdigest())
    return found
