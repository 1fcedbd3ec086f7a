"""What is in use: locks of the kernel, which end with the process that holds them, however it ends.

A process that uses a tree or a repository of the store shares a lock on it; who frees one needs the lock
alone. A tree's lock is a file beside it, so that it can be held before the tree is there. A repository's
is its own file ``HEAD``. Two objects in one process hold two locks, so threads need no further care.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from expbench.errors import InfrastructureError, PrerequisiteError
from expbench.workspace.repository.making import discard

_PATIENCE = 10.0
"""Seconds that a damaged repository is waited for: others who find it damaged let it go at once."""


def hold(folder: Path) -> BinaryIO:
    """Keep a tree from being freed while the returned file is open; the tree need not be there yet.

    Raises:
        PrerequisiteError: the lock beside it cannot be written.
    """
    while True:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            file = lock_file(folder).open("a+b")
        except (PermissionError, FileExistsError, NotADirectoryError) as error:
            raise PrerequisiteError(
                f"{folder.parent} cannot be written ({error.strerror}): "
                "give another cache folder with XDG_CACHE_HOME."
            ) from None
        if _share(file, lock_file(folder)):
            return file


def hold_repository(git_dir: Path) -> BinaryIO | None:
    """Keep a repository from being freed while the returned file is open; None when it is not there."""
    try:
        file = repository_lock(git_dir).open("rb")
    except OSError:
        return None
    return file if _share(file, repository_lock(git_dir)) else None


def lock_file(folder: Path) -> Path:
    """The lock of a tree."""
    return folder.with_name(f"{folder.name}.lock")


def repository_lock(git_dir: Path) -> Path:
    """The lock of a repository."""
    return git_dir / "HEAD"


def try_alone(lock: Path) -> BinaryIO | None:
    """Hold what ``lock`` stands for alone, to free it; nothing when anyone uses it.

    Raises:
        OSError: the lock is not there, or not ours to write.
    """
    file = lock.open("r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    if _still_there(file, lock):
        return file
    file.close()
    return None


def take_out(git_dir: Path, damaged: Callable[[], bool]) -> None:
    """Remove a repository that is found damaged also when nobody else uses it.

    Raises:
        InfrastructureError: another process uses it.
        PrerequisiteError: it is another user's.
    """
    until = time.monotonic() + _PATIENCE
    while git_dir.is_dir() and damaged():
        try:
            file = try_alone(repository_lock(git_dir))
        except FileNotFoundError:
            discard(git_dir)
            return
        except PermissionError:
            raise PrerequisiteError(
                f"{git_dir} is damaged and not yours to remove: ask the user whose it is."
            ) from None
        if file is not None:
            with file:
                if damaged():
                    discard(git_dir)
            return
        if time.monotonic() > until:
            raise InfrastructureError(
                f"{git_dir} is damaged and in use: end the runs that use it, then try again."
            )
        time.sleep(0.05)


def _share(file: BinaryIO, lock: Path) -> bool:
    """Share a lock; not when it was freed while we waited. The file is closed then."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH)
    except OSError as error:
        file.close()
        raise PrerequisiteError(
            f"{lock} cannot be locked ({error.strerror}): "
            "give a cache folder on another file system with XDG_CACHE_HOME."
        ) from None
    if not _still_there(file, lock):
        file.close()
        return False
    with contextlib.suppress(OSError):
        os.utime(file.fileno())
    return True


def _still_there(file: BinaryIO, lock: Path) -> bool:
    """Whether the locked file still has its name: whoever frees what it stands for takes it away."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), lock.stat())
    except OSError:
        return False
