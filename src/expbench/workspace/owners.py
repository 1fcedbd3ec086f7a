"""Whose something on this machine is, and whether that harness still lives.

A harness is named by its process and that process's start time. Beside what it makes in a cache it holds
a lock, which ends with it: another container, whose process ids are others, sees that too.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_NAME = re.compile(r"\d+-\d+")
_TEMPORARY = "expbench-"


def self_name() -> str:
    """``PID-STARTTIME`` of this process."""
    return f"{os.getpid()}-{start_time(os.getpid())}"


def own_prefix() -> str:
    """What the name of a temporary folder of this process begins with."""
    return f"{_TEMPORARY}{self_name()}-"


def temporary_folders(folder: Path) -> Iterator[tuple[Path, str]]:
    """The temporary folders of harnesses in a folder, each with the harness."""
    for path in folder.glob(f"{_TEMPORARY}*"):
        if owner := owner_of(path.name.removeprefix(_TEMPORARY)):
            yield path, owner


def owner_of(name: str) -> str:
    """The harness in a name that begins with it; empty when there is none."""
    match = _NAME.match(name)
    return match.group() if match else ""


def start_time(pid: int) -> str:
    """The kernel's start time of a process in clock ticks; empty when there is none."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return content.rpartition(b")")[2].split()[19].decode()


def runs_here(owner: str) -> bool:
    """Whether a harness is a process of this machine, as this process sees it."""
    pid, _, start = owner.partition("-")
    return start_time(int(pid)) == start


@functools.cache
def claim(folder: Path, process: int) -> BinaryIO:
    """Hold this process's lock in a folder for as long as it lives; ``process`` is its id.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{self_name()}.lock"
    lock = place.open("wb")
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    atexit.register(_unclaim, place, process)
    return lock


def _unclaim(place: Path, process: int) -> None:
    """Leave nothing behind; a forked child is not whose it is."""
    if os.getpid() == process:
        with contextlib.suppress(OSError):
            place.unlink()


def forget(folder: Path) -> None:
    """Remove the locks of harnesses that are no more."""
    for lock in folder.glob("*.lock"):
        if not lives(folder, owner_of(lock.name)):
            lock.unlink(missing_ok=True)


def lives(folder: Path, owner: str) -> bool:
    """Whether a harness that left something in a folder lives, here or in another container."""
    if runs_here(owner):
        return True
    try:
        with (folder / f"{owner}.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
