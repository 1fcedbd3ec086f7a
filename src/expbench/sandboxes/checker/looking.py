"""What lies in the workspace, and how the agent is told: no change is made here."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from expbench.workspace.submission import ignored as rules

    Found = tuple[bytes, str, int]
    """A file's path, why it is not handed in (empty when it is), and its bytes."""
else:
    from . import rules

RESPONSE = "response.json"
SCRIPT = "reproduce_exp_bench.sh"
SHOWN_NAMES = 12


class Findings:
    """What was found, told at once."""

    def __init__(self) -> None:
        self.problems = 0

    def well(self, text: str) -> None:
        say("ok       " + text)

    def note(self, text: str) -> None:
        say("note     " + text)

    def wrong(self, text: str) -> None:
        self.problems += 1
        say("PROBLEM  " + text)


def say(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.flush()


def base_files(root: str) -> set[bytes]:
    """The files that the repository had at first; empty without git."""
    first = git(root, "rev-list", "--max-parents=0", "HEAD").split()
    if not first:
        return set()
    listed = git(root, "ls-tree", "-r", "-z", "--name-only", first[-1].decode())
    return set(filter(None, listed.split(b"\0")))


def git(root: str, *words: str) -> bytes:
    """What git prints; nothing where it fails."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *words],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
    except OSError:
        return b""
    return done.stdout if done.returncode == 0 else b""


def names(paths: list[bytes]) -> str:
    if not paths:
        return ""
    shown = ", ".join(os.fsdecode(path) for path in paths[:SHOWN_NAMES])
    more = len(paths) - SHOWN_NAMES
    return " ({}{})".format(shown, f", and {more} more" if more > 0 else "")


def files_of(root: str, base: set[bytes]) -> Iterator[Found]:
    """Each file with why it is not handed in (empty when it is) and its bytes; no cache is told of."""
    top = os.fsencode(root)
    holding = {path[:at] for path in base for at in range(len(path)) if path[at : at + 1] == b"/"}
    for parent, folders, files in os.walk(top):
        prefix = os.path.relpath(parent, top) + b"/" if parent != top else b""
        for name in list(folders):
            full = os.path.join(parent, name)
            if os.path.islink(full):
                folders.remove(name)
                files.append(name)
            elif prefix + name == b".git" or (
                prefix + name not in holding and rules.folder_reason(name, full)
            ):
                folders.remove(name)
        for name in files:
            path = prefix + name
            status = os.lstat(os.path.join(parent, name))
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            reason = "" if path in base else rules.file_reason(path, size)
            if path == b".git" or reason == "cache":
                continue
            if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                yield path, reason, size
