"""Names in an agent's tree: which of them git can hold, and how they are shown."""

from __future__ import annotations

import re

from expbench.workspace.repository.tree import SYMLINK, safe_path

_SHORT = "|".join(f"{'gi7eba'[:length]}~[1-9][0-9]{{{6 - length}}}" for length in range(7))
_NO_LINK = re.compile(
    rb"(^|/)\.gitmodules/|(^|[/\\])(\.gitmodules|gitmod~[1-4]|%s)[. ]*(:|\Z)" % _SHORT.encode(),
    re.IGNORECASE,
)
"""Paths that git gives to no link; also those that another file system would take for them."""


def git_holds(path: bytes, mode: str) -> bool:
    """Whether git takes a file of this name and mode into an index; it keeps some names for itself.

    Args:
        path: of a file that is there, so that no part of it is empty or ``..``.
    """
    if mode == SYMLINK and _NO_LINK.search(path):
        return False
    return (path.isascii() and b"git" not in path.lower()) or safe_path(path)


def printable(path: bytes) -> str:
    """A path as one line of text for files, terminals and judges; two paths are never one text.

    What is not printable or not UTF-8 becomes an escape, so a backslash is doubled.
    """
    text = path.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
