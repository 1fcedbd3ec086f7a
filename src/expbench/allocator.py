"""Memory that is freed and yet not given back.

glibc gives threads arenas of their own, up to eight for each processor, and keeps in each what was freed
there. A run has dozens of threads that handle megabytes, so that its memory creeps up although nothing is
held. Two arenas are enough for an interpreter that runs one thread at a time.
"""

from __future__ import annotations

import ctypes

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt(3)``."""


def bound_arenas(most: int = 2) -> bool:
    """Have at most so many arenas from now on; whether the C library took it: others than glibc have none."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_ARENA_MAX, most))
