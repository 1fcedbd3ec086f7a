"""Unlinking very many files fast.

A disk that is told of every freed block (``discard``) makes each unlink wait for it: 300,000 small files
take minutes one after the other. The waits are independent, so that many at once take a fraction.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

THREADS = 32
_CHUNK = 64
"""Files of one folder that a thread takes at a time."""
_WAITING = 4 * THREADS
"""Chunks that wait, each with a handle on its folder."""


def unlink_files(folder: Path) -> None:
    """Unlink the files below a folder, many at a time; folders and what cannot be unlinked stay.

    Links are unlinked or left, and never followed (R27).

    Raises:
        OSError: a folder cannot be read, or they are deeper than handles last.
        RecursionError: they are deeper than the stack.
    """
    room = threading.Semaphore(_WAITING)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="unlink") as pool:
        for _, _, names, handle in os.fwalk(folder, follow_symlinks=False):
            for start in range(0, len(names), _CHUNK):
                room.acquire()
                pool.submit(_unlink, os.dup(handle), names[start : start + _CHUNK], room)


def _unlink(folder: int, names: Sequence[str], room: threading.Semaphore) -> None:
    try:
        for name in names:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
        room.release()
