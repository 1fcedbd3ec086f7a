"""Making a bare repository of the store whole or not at all.

It is built beside its final place and renamed there. What a killed process left has a name that tells
whose it was, so that it can be removed without disturbing a process at work.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from expbench.workspace.git import git


def once(final: Path, build: Callable[[Path], None]) -> Path:
    """Make a bare repository by ``build`` unless it is there; atomic by rename."""
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f"{unfinished()}{os.getpid()}-", dir=final.parent))
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


def sweep(cache: Path) -> None:
    """Remove what processes of this machine that were killed had not finished making."""
    for path in cache.glob(f"{unfinished()}*"):
        process = path.name.removeprefix(unfinished()).partition("-")[0]
        if process.isdigit() and not _alive(int(process)):
            shutil.rmtree(path, ignore_errors=True)


def unfinished() -> str:
    """How the names of unfinished repositories start. Machines that share a cache differ in it."""
    return f".making-{re.sub(r'[^A-Za-z0-9]', '_', socket.gethostname())}-"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
