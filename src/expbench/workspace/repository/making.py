"""Making a repository or a tree of the store whole or not at all.

It is built beside its final place and renamed there. What a killed process left has a name that tells
whose it was, and a lock that ended with it, so that it can be removed without disturbing a process at
work. What is removed gets such a name first, so that nobody sees a half of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from expbench.errors import PrerequisiteError
from expbench.workspace.repository.git import git

_ANY = ".making-"
_ABANDONED = 24 * 3600.0
"""Seconds after which what another machine, or a process whose id was given again, left is no longer
waited for."""


def once(final: Path, build: Callable[[Path], None]) -> Path:
    """Make a bare repository by ``build`` unless it is there; atomic by rename."""

    def initialised(folder: Path) -> None:
        git(["init", "--quiet", "--bare", "--template=", str(folder)])
        build(folder)

    return once_folder(final, initialised)


def once_folder(final: Path, build: Callable[[Path], None]) -> Path:
    """Fill a private folder by ``build`` unless it is there; atomic by rename.

    Raises:
        PrerequisiteError: the place where it belongs cannot be written.
    """
    if final.is_dir():
        return final
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=_own(), dir=final.parent))
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise PrerequisiteError(
            f"{final.parent} cannot be written ({error.strerror}): "
            "give another cache folder with XDG_CACHE_HOME."
        ) from None
    try:
        with _at_work(temporary):
            build(temporary)
            try:
                temporary.rename(final)
            except OSError:
                if not final.is_dir():
                    raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final


def discard(folder: Path) -> bool:
    """Take away a folder or link that nobody uses: at once for others, then its files.

    Whether nothing of it is left. What is killed on the way is removed by the next :func:`sweep`.

    Raises:
        OSError: it cannot be renamed.
    """
    return remove(put_aside(folder))


def put_aside(folder: Path) -> Path:
    """Give a folder the name of something unfinished; it is then nobody's. Raises OSError."""
    if folder.name.startswith(_ANY):
        return folder
    aside = folder.with_name(f"{_own()}{time.monotonic_ns()}-{folder.name}")
    folder.rename(aside)
    return aside


def remove(aside: Path) -> bool:
    """Remove what was put aside, whatever its modes. Whether nothing of it is left."""
    if aside.is_symlink():
        aside.unlink()
        return True
    if os.geteuid() != 0:
        _unlock(aside)
    shutil.rmtree(aside, ignore_errors=True)
    return not os.path.lexists(aside)


def sweep(cache: Path) -> None:
    """Remove what processes that were killed had not finished making or removing."""
    for path in leftovers(cache):
        discard(path)


def leftovers(cache: Path) -> Iterator[Path]:
    """What :func:`sweep` removes."""
    try:
        names = sorted(name for name in os.listdir(cache) if name.startswith(_ANY))
    except OSError:
        return
    for path in (cache / name for name in names):
        process = path.name.removeprefix(unfinished()).partition("-")[0]
        dead = process.isdigit() and not _alive(int(process))
        if (dead or _old(path)) and not _worked_at(path):
            yield path


def unfinished() -> str:
    """How the names of unfinished repositories start. Machines that share a cache differ in it."""
    return f"{_ANY}{re.sub(r'[^A-Za-z0-9]', '_', socket.gethostname())}-"


def _own() -> str:
    return f"{unfinished()}{os.getpid()}-"


@contextlib.contextmanager
def _at_work(folder: Path) -> Iterator[None]:
    """Tell other containers, which do not see our process, that it is at work."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _worked_at(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > _ABANDONED
    except OSError:
        return False


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _unlock(folder: Path) -> None:
    """Make every folder one that can be emptied; links are never followed."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    for _, names, _, handle in os.fwalk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if stat.S_ISDIR(os.lstat(name, dir_fd=handle).st_mode):
                    os.chmod(name, 0o700, dir_fd=handle)
