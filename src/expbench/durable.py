"""Files that only grow, a line at a time: what is written outlives a kill and a loss of power."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from expbench.errors import PrerequisiteError

_STEP = 4096


@contextmanager
def held_journal(path: Path) -> Iterator[Path]:
    """The file in which an evaluation keeps what is finished: for this process alone, its last line whole.

    Raises:
        PrerequisiteError: its folder cannot be written, or another process writes to it.
    """
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise PrerequisiteError(
            f"{folder} cannot be written ({error.strerror}): give another folder with --out DIR."
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PrerequisiteError(
                f"Another process evaluates into {folder}: wait for it or give another --out DIR."
            ) from None
        cut_torn_line(path)
        yield path


def append_line(path: Path, line: bytes) -> None:
    """Write a line; it is on disk when this returns, and not there at all when it raises.

    Args:
        line: with its end.

    Raises:
        OSError: it cannot be written.
    """
    # Without a buffer, which would be written after all when the file is closed.
    with path.open("ab", buffering=0) as file:
        whole = file.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[file.write(line) :]
            os.fsync(file.fileno())
            if not whole:
                sync_folder(path.parent)
        except OSError:
            os.truncate(file.fileno(), whole)
            raise


def cut_torn_line(path: Path) -> None:
    """Cut off a last line that a kill cut short, which the next one would be glued to; reads no other."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = at = file.seek(0, os.SEEK_END)
        tail = b""
        while at and b"\n" not in tail:
            step = min(_STEP, at)
            at = file.seek(at - step)
            tail = file.read(step) + tail
        whole = at + tail.rfind(b"\n") + 1
        if whole < end:
            file.truncate(whole)


def sync_folder(folder: Path) -> None:
    """Have the folder's names on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
