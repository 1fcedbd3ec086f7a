"""Files that only grow, a line at a time: what is written outlives a kill and a loss of power."""

from __future__ import annotations

import os
from pathlib import Path

_STEP = 4096


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
