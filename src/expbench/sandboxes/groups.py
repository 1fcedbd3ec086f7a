"""One sandbox's control groups: the files they are set by, and what can be asked of them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from expbench.errors import SandboxError
from expbench.schema import Limits, Requests

Kind = Literal["v1", "v2"]

SWAP = "swap"
"""Stands among the limits that are held where memory limits hold swap as well."""

_MIB = 1024**2
_PERIOD = 100_000
_WAIT = 5.0


class Setting(NamedTuple):
    """One file of a group; the limit that it holds, or empty where it may fail."""

    controller: str
    file: str
    value: str
    limit: str = ""


@dataclass(frozen=True)
class Group:
    """The control groups of one sandbox: one folder in v2, one for each controller in v1.

    Every method takes it that the group is gone already.
    """

    kind: Kind
    folders: dict[str, Path]
    words: dict[str, str] = field(default_factory=dict)
    """How limits are held; those that stand not in it are not."""

    @property
    def enter(self) -> tuple[Path, ...]:
        """The files that move a process here whose id is written into them; ``0`` is the writer."""
        return tuple(folder / "cgroup.procs" for folder in self.distinct())

    def admit(self, processes: Callable[[], Iterable[int]]) -> None:
        """Move processes here that are not yet; what they start later is here too.

        One that is being moved may start another meanwhile, which stays outside: so they are listed
        again until a list has nobody new.

        Raises:
            SandboxError: one that lives could not be moved.
        """
        moved: set[int] = set()
        while outside := set(processes()) - moved - self._wholly_inside():
            for process in outside:
                self._move(process)
            moved |= outside

    def _wholly_inside(self) -> set[int]:
        """Those that every controller holds: one is moved by one of them after the other."""
        return set.intersection(*(set(_ids(file)) for file in self.enter))

    def _move(self, process: int) -> None:
        for file in self.enter:
            try:
                file.write_text(str(process))
            except ProcessLookupError:
                return
            except OSError as error:
                raise SandboxError(f"a control group does not take a sandbox: {error}") from None

    def oom_kills(self) -> int:
        """How many processes were killed because memory ran out."""
        file = "memory.events" if self.kind == "v2" else "memory.oom_control"
        return _counter(self._read("memory", file), "oom_kill")

    def peak_mib(self) -> int:
        """The most memory used at once; what is used now on kernels that keep no peak."""
        v2 = ("memory.peak", "memory.current")
        for file in v2 if self.kind == "v2" else ("memory.max_usage_in_bytes",):
            if (text := self._read("memory", file)).strip().isdigit():
                return int(text) // _MIB
        return 0

    def processes(self) -> list[int]:
        """Their ids, as this process sees them."""
        return sorted({each for file in self.enter for each in _ids(file)})

    def kill(self) -> None:
        """End every process inside, also such that go on forking; waits up to 5 s for their end."""
        deadline = time.monotonic() + _WAIT
        pauses = _pauses()
        while self.processes() and time.monotonic() < deadline:
            if not self._write("cgroup.kill", "1"):
                with self._frozen():
                    for pid in self.processes():
                        with contextlib.suppress(ProcessLookupError, PermissionError):
                            os.kill(pid, signal.SIGKILL)
            time.sleep(next(pauses))

    def remove(self) -> bool:
        """Remove the groups, waiting up to 5 s for their processes' end; whether they are gone."""
        deadline = time.monotonic() + _WAIT
        left, pauses = self.distinct(), _pauses()
        while left := [folder for folder in left if not _removed(folder)]:
            if time.monotonic() > deadline:
                return False
            time.sleep(next(pauses))
        return True

    @contextlib.contextmanager
    def _frozen(self) -> Iterator[None]:
        """Nothing inside forks meanwhile, and no id changes hands."""
        if self.kind == "v2":
            file, on, off = "cgroup.freeze", "1", "0"
        else:
            file, on, off = "freezer.state", "FROZEN", "THAWED"
        self._write(file, on)
        try:
            yield
        finally:
            self._write(file, off)

    def _write(self, file: str, value: str) -> bool:
        return any(_write(folder / file, value) for folder in self.distinct())

    def _read(self, controller: str, file: str) -> str:
        try:
            return (self.folders[controller] / file).read_text()
        except (OSError, KeyError):
            return ""

    def distinct(self) -> list[Path]:
        return list(dict.fromkeys(self.folders.values()))


def settings(kind: Kind, limits: Limits, requests: Requests) -> list[Setting]:
    """What is written into a group's files, in this order."""
    v2 = kind == "v2"
    found: list[Setting] = []
    if limits.memory_mib:
        size = str(limits.memory_mib * _MIB)
        file = "memory.max" if v2 else "memory.limit_in_bytes"
        found.append(Setting("memory", file, size, "memory_mib"))
        found.append(_swap_setting(kind, size))
    if requests.memory_mib:
        file = "memory.low" if v2 else "memory.soft_limit_in_bytes"
        found.append(Setting("memory", file, str(requests.memory_mib * _MIB)))
    if limits.processes:
        found.append(Setting("pids", "pids.max", str(limits.processes), "processes"))
    if limits.cpus:
        quota = max(1000, round(limits.cpus * _PERIOD))
        if v2:
            found.append(Setting("cpu", "cpu.max", f"{quota} {_PERIOD}", "cpus"))
        else:
            found.append(Setting("cpu", "cpu.cfs_period_us", str(_PERIOD)))
            found.append(Setting("cpu", "cpu.cfs_quota_us", str(quota), "cpus"))
    if requests.cpus:
        if v2:
            weight = min(10_000, max(1, round(requests.cpus * 100)))
            found.append(Setting("cpu", "cpu.weight", str(weight)))
        else:
            shares = min(262_144, max(2, round(requests.cpus * 1024)))
            found.append(Setting("cpu", "cpu.shares", str(shares)))
    return found


def _swap_setting(kind: Kind, size: str) -> Setting:
    """v1 limits memory and swap in one number, v2 swap alone."""
    if kind == "v2":
        return Setting("memory", "memory.swap.max", "0", SWAP)
    return Setting("memory", "memory.memsw.limit_in_bytes", size, SWAP)


def apply(group: Group, wanted: list[Setting]) -> set[str]:
    """Write what the group's controllers can; the limits that are held afterwards."""
    held = set()
    for each in wanted:
        if (folder := group.folders.get(each.controller)) is not None:
            done = _write(folder / each.file, each.value)
            if done and each.limit and (folder / each.file).read_text().strip() == each.value:
                held.add(each.limit)
    return held


def _write(file: Path, value: str) -> bool:
    """Write into a file of the kernel's; whether it took it."""
    try:
        file.write_text(value)
    except OSError:
        return False
    return True


def _ids(file: Path) -> list[int]:
    """The processes that a group's file names; none where the group is gone."""
    try:
        return [int(line) for line in file.read_text().split() if line != "0"]
    except OSError:
        return []


def _removed(folder: Path) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _counter(text: str, name: str) -> int:
    """The number of a line ``name N``."""
    pairs = (line.split() for line in text.splitlines())
    return next((int(pair[1]) for pair in pairs if pair[:1] == [name]), 0)


def _pauses() -> Iterator[float]:
    """Seconds to wait: hardly any at first, for mostly everything ends at once."""
    pause = 0.0005
    while True:
        yield pause
        pause = min(2 * pause, 0.02)
