"""Which commit of its source this package is, where it runs from a checkout and not from a release."""

from __future__ import annotations

from pathlib import Path

import expbench
from expbench.errors import ExpbenchError
from expbench.workspace.repository.git import git

_SECONDS = 20.0


def commit() -> str:
    """The commit, with ``-dirty`` where tracked files are changed; empty for an installed release."""
    root = Path(expbench.__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    words = ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return git(words, cwd=root, timeout=_SECONDS).decode("utf-8", "replace").strip()
    except ExpbenchError:
        return ""
