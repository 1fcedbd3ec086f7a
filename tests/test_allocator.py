"""Memory of a run: threads share arenas, so that what one freed another uses."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from expbench.allocator import keep_loaded, uncollected

PROGRAM = """
import ctypes, sys, threading
from expbench.allocator import bound_arenas

libc = ctypes.CDLL(None)
if not hasattr(libc, "malloc_info"):
    sys.exit("no glibc")
print(bound_arenas() if sys.argv[1] == "bound" else None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
together = threading.Barrier(12)

def work():
    together.wait()
    libc.malloc(1000)
    together.wait()

threads = [threading.Thread(target=work) for _ in range(12)]
for each in threads: each.start()
for each in threads: each.join()
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes, libc.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
file = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, file)
libc.fclose(file)
print(open(sys.argv[2]).read().count("<heap nr="))
"""

BLOCKS = """
import ctypes, sys
from expbench.allocator import map_large_blocks

libc = ctypes.CDLL(None)
if not hasattr(libc, "mallinfo2"):
    sys.exit("no glibc")
print(map_large_blocks() if sys.argv[1] == "map" else None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

libc.mallinfo2.restype = Info
libc.free(libc.malloc(20_000_000))
before = libc.mallinfo2().hblks
kept = [libc.malloc(5_000_000) for _ in range(4)]
print(libc.mallinfo2().hblks - before)
"""


def arenas(how: str, path: object) -> tuple[str, int]:
    """What ``bound_arenas`` said in a process of its own, and how many arenas there were after threads."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how, f"{path}/info"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "no glibc" in done.stderr:
        pytest.skip("this C library has no arenas")
    said, count = done.stdout.split()
    return said, int(count)


def test_threads_share_two_arenas(tmp_path: object) -> None:
    _, usual = arenas("free", tmp_path)
    if usual <= 2:
        pytest.skip("this machine's threads share arenas anyway")
    assert arenas("bound", tmp_path) == ("True", 2)


def mapped(how: str) -> tuple[str, int]:
    """What ``map_large_blocks`` said, and how many of four blocks were mapped once a larger one was freed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC")}
    argv = [sys.executable, "-c", BLOCKS, how]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if "no glibc" in done.stderr:
        pytest.skip("this C library does not say what it mapped")
    said, count = done.stdout.split()
    return said, int(count)


def test_large_blocks_are_given_back_also_after_a_larger_one() -> None:
    assert mapped("free") == ("None", 0)
    assert mapped("map") == ("True", 4)


def test_what_is_loaded_is_not_looked_through_again() -> None:
    loaded: list[object] = []
    gc.unfreeze()
    try:
        keep_loaded()
        later: list[object] = []
        keep_loaded()
        seen = {id(each) for each in gc.get_objects()}
        assert id(loaded) not in seen
        assert id(later) in seen
    finally:
        gc.unfreeze()


def test_dead_cycles_are_sought_again_after_work_that_makes_none() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="failed"), uncollected():
        assert not gc.isenabled()
        raise ValueError("failed")
    assert gc.isenabled()
