"""How a run's memory is looked after: what is freed and yet not given back, what stays anyway.

glibc gives threads arenas of their own, up to eight for each processor, and keeps in each what was freed
there. A run has dozens of threads that handle megabytes, so that its memory creeps up although nothing is
held. Two arenas are enough for an interpreter that runs one thread at a time. And each large block that
is freed makes it take larger ones from the arenas, up to 32 MiB, where they leave holes.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""``M_ARENA_MAX`` and ``M_MMAP_THRESHOLD`` of glibc's ``mallopt(3)``."""
_LARGE = 256 * 1024
"""Bytes from which a block is mapped on its own, and given back to the system when it is freed."""


def bound_arenas(most: int = 2) -> bool:
    """Have at most so many arenas from now on; whether the C library took it: others than glibc have none."""
    return _set(_ARENA_MAX, most)


def map_large_blocks(size: int = _LARGE) -> bool:
    """Keep blocks of so many bytes and more out of the arenas; whether the C library took it."""
    return _set(_MMAP_THRESHOLD, size)


def _set(option: int, value: int) -> bool:
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(option, value))


def keep_loaded() -> None:
    """What modules have made stays: Python does not look through it for garbage again and again.

    Only the first call does so, for what a run holds comes to an end.
    """
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles of dead objects: for work that makes very many objects and no such cycles.

    Each search looks at all that lives, which took a fifth of the time of a report of a thousand attempts.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
