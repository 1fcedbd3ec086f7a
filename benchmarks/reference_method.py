"""The reference's way: a clone for each task, the masked files removed by git, the work taken by git.

The publication's harness clones an address, runs ``chmod 777 -R``, takes each masked file out by a
``git rm`` of its own, and after the agent sets ``core.fileMode`` to false, adds new files by intent and
takes ``git diff``. Where that leaves a choice the faster one is timed: the clone is of a mirror on the
same disk and checks out nothing before the pin; all files are removed by one call; submodules are left
empty.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from expbench.schema import ResearchTask
from expbench.workspace.repository.git import git

_NO_MODES = ("-c", "core.fileMode=false")


def prepare(clone: Path, task: ResearchTask, dest: Path, linked: bool = False) -> None:
    """A masked clone of one task in ``dest``.

    Args:
        linked: have the clone's objects in common with the mirror, by hard links. Only a clone of a
            path can; one of an address brings its own.
    """
    prepare_commit(clone, task.repository.commit, task.mask, dest, linked)


def prepare_commit(
    clone: Path, commit: str, mask: tuple[str, ...], dest: Path, linked: bool = False
) -> None:
    """As :func:`prepare`, of a commit and the paths to remove."""
    kind = ["--local"] if linked else ["--no-hardlinks"]
    git(["clone", "--quiet", "--no-checkout", *kind, "--", str(clone), str(dest)])
    git(["checkout", "--quiet", "--detach", commit], cwd=dest)
    subprocess.run(["chmod", "777", "-R", "--", str(dest)], check=True)
    _hide(dest, mask)


def _hide(dest: Path, mask: tuple[str, ...]) -> None:
    """Remove the masked files and the root's README.md."""
    paths = {os.fsencode(path) for path in mask}
    if (dest / "README.md").is_file():
        paths.add(b"README.md")
    if not paths:
        return
    listing = b"".join(path + b"\0" for path in sorted(paths))
    source = ["--pathspec-from-file=-", "--pathspec-file-nul"]
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    git([*_NO_MODES, "rm", "--quiet", "-f", *source], cwd=dest, stdin=listing, env=literal)


def collect(dest: Path) -> bytes:
    """``git add -N .`` and ``git diff``."""
    git([*_NO_MODES, "add", "-N", "."], cwd=dest)
    return git([*_NO_MODES, "diff"], cwd=dest)


def refresh(dest: Path) -> None:
    """Have git know its files again, whose change times ``chmod`` has set."""
    git([*_NO_MODES, "update-index", "-q", "--refresh"], cwd=dest, accept=(0, 1))
