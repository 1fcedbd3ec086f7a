"""GPUs: which ones there are, which of them are ours, and leases, so that none is given out twice (R31).

A GPU's id is the number of its device node, ``2`` of ``/dev/nvidia2``, or the UUID that an outer
``CUDA_VISIBLE_DEVICES`` names it by. A lease is a lock on the id's file, held by the kernel for a
process: however that one ends, the GPU is free again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from expbench.errors import PrerequisiteError, SandboxError

_DEV = Path("/dev")
_DRIVER = Path("/proc/driver/nvidia/gpus")
_NODE = re.compile(r"nvidia(\d+)")
_SHARED_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
_UUID_KINDS = ("GPU-", "MIG-")
_NO_DEVICES = ("", "-1", "NoDevFiles")
"""Values that show no GPU; the last one is what schedulers set for a job without any."""
_PAUSE = 0.1
"""Seconds between two looks of one that waits."""


def present(dev: Path = _DEV) -> tuple[str, ...]:
    """The ids of the GPUs that this process may use, in order.

    A scheduler's device control group leaves the nodes of others' GPUs to be seen but not opened;
    these do not count.
    """
    try:
        found = [match.group(1) for each in os.listdir(dev) if (match := _NODE.fullmatch(each))]
    except OSError:
        return ()
    ours = [each for each in found if os.access(dev / f"nvidia{each}", os.R_OK | os.W_OK)]
    return tuple(sorted(ours, key=int))


def uuids(driver: Path = _DRIVER) -> dict[str, str]:
    """The ids of GPUs by their UUIDs, as the driver tells; empty where it does not."""
    found = {}
    for path in driver.glob("*/information"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            lines = [line.partition(":") for line in path.read_text().splitlines()]
            facts = {name.strip(): value.strip() for name, _, value in lines}
            if facts.get("GPU UUID") and facts.get("Device Minor", "").isdigit():
                found[facts["GPU UUID"]] = facts["Device Minor"]
    return found


def visible(
    present: Sequence[str], outer: str | None, known: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The ids of the GPUs that we may give out: those present, seen through an outer setting.

    CUDA numbers the GPUs that a process can open from 0, so a number in ``outer`` is a place in
    ``present``. What follows a -1 is not seen.

    Args:
        present: as :func:`present` finds them.
        outer: this process's ``CUDA_VISIBLE_DEVICES``; ``None`` when it is not set.
        known: UUIDs with their ids, from :func:`uuids`: one GPU then has one id, however it is named.
            Other UUIDs are ids themselves.

    Raises:
        PrerequisiteError: ``outer`` names a GPU that is not there, or names one twice.
    """
    if outer is None:
        return tuple(present)
    if outer.strip() in _NO_DEVICES:
        return ()
    names = [name.strip() for name in outer.split(",")]
    if "-1" in names:
        names = names[: names.index("-1")]
    found = [_identify(name, present, known or {}) for name in names]
    if len(set(found)) != len(found):
        raise PrerequisiteError(
            f"CUDA_VISIBLE_DEVICES={outer} names a GPU twice: name each one once."
        )
    if len({each.isdigit() for each in found}) > 1:
        raise PrerequisiteError(
            f"CUDA_VISIBLE_DEVICES={outer} mixes numbers and UUIDs: use one kind for all."
        )
    return tuple(found)


def _identify(name: str, present: Sequence[str], known: Mapping[str, str]) -> str:
    """The id of a GPU that an outer setting names; UUIDs may be cut short, as CUDA takes them."""
    if name.isascii() and name.isdigit() and int(name) < len(present):
        return present[int(name)]
    if name.startswith(_UUID_KINDS):
        ids = {known[uuid] for uuid in known if uuid.startswith(name)}
        if not ids:
            return name
        if len(ids) == 1 and ids <= set(present):
            return ids.pop()
    there = f"0 to {len(present) - 1}" if present else "none"
    raise PrerequisiteError(
        f"CUDA_VISIBLE_DEVICES names the GPU {name!r}, which is not there (there: {there}): "
        "set it to GPUs of this machine, or unset it."
    )


class Lease:
    """GPUs that are nobody else's until :meth:`release`, the end of the ``with``, or of the process."""

    def __init__(self, ids: tuple[str, ...], locks: ExitStack) -> None:
        self.ids = ids
        self._locks = locks

    @property
    def environment(self) -> dict[str, str]:
        """Variables for commands that have only :meth:`nodes`.

        CUDA numbers what it can open from 0, so granted device nodes are 0 to n-1 inside, whatever
        they are outside; UUIDs are the same everywhere. ``NVIDIA_VISIBLE_DEVICES`` keeps the ids from
        outside: it speaks to container runtimes, which look at the machine, and would otherwise
        grant the first n of it, which may be others'.
        """
        opaque = any(not each.isdigit() for each in self.ids)
        inside = self.ids if opaque else [str(n) for n in range(len(self.ids))]
        return {
            "CUDA_VISIBLE_DEVICES": ",".join(inside),
            "NVIDIA_VISIBLE_DEVICES": ",".join(self.ids) or "void",
        }

    def environment_outside(self, dev: Path = _DEV) -> dict[str, str]:
        """Variables for commands that see the nodes of all GPUs, where nothing but these confines them.

        Here a GPU's number is its place among all that are present.
        """
        places = {each: str(place) for place, each in enumerate(present(dev))}
        names = [places.get(each, each) for each in self.ids]
        return {**self.environment, "CUDA_VISIBLE_DEVICES": ",".join(names)}

    def nodes(self, dev: Path = _DEV) -> tuple[Path, ...]:
        """Device nodes and folders of them to be seen by who has the lease; those that exist.

        Which node a UUID stands for is not known: all GPUs' are seen then, and the variables alone
        choose.
        """
        if not self.ids:
            return ()
        numbers = [each for each in self.ids if each.isdigit()]
        granted = numbers if len(numbers) == len(self.ids) else present(dev)
        names = (*(f"nvidia{each}" for each in granted), *_SHARED_NODES)
        return tuple(dev / name for name in names if (dev / name).exists())

    def release(self) -> None:
        """Give the GPUs back; may be called twice."""
        self._locks.close()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


class Leases:
    """GPUs to be leased, by locks in a folder that all who share them name alike.

    Who waits draws a ticket, a numbered file that it keeps locked, and only the oldest one takes
    GPUs, all of its lease at once: none is overtaken, and no two hold what the other waits for.
    """

    def __init__(self, folder: Path, ids: Sequence[str]) -> None:
        self.folder = folder
        self.ids = tuple(ids)

    def lease(self, count: int, timeout: float | None = None) -> Lease:
        """Lease any GPUs, and wait until they are free.

        Args:
            count: how many, 0 or more.
            timeout: seconds to wait at most; forever when ``None``.

        Raises:
            PrerequisiteError: there are fewer, or the folder cannot be written.
            SandboxError: they were not free in time.
        """
        if count > len(self.ids):
            raise PrerequisiteError(
                f"{count} GPUs are asked for, but there are {len(self.ids)} to give out "
                f"({', '.join(self.ids) or 'none'}): ask for fewer, or show more of them with "
                "CUDA_VISIBLE_DEVICES."
            )
        if count <= 0:
            return Lease((), ExitStack())
        until = None if timeout is None else time.monotonic() + timeout
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._ticket() as ticket:
                return self._wait(ticket, count, until)
        except OSError as error:
            raise PrerequisiteError(
                f"{self.folder} cannot hold locks for GPUs ({error.strerror}): "
                "give another cache folder with XDG_CACHE_HOME."
            ) from None

    def _wait(self, ticket: Path, count: int, until: float | None) -> Lease:
        while True:
            with self._alone():
                if self._oldest() == ticket and (lease := self._take(count)):
                    return lease
            if until is not None and time.monotonic() >= until:
                raise SandboxError(
                    f"{count} of the GPUs {', '.join(self.ids)} were not free in time: "
                    "others hold them, or wait for them since longer"
                )
            time.sleep(_PAUSE)

    def _take(self, count: int) -> Lease | None:
        with ExitStack() as locks:
            taken: list[str] = []
            for each in self.ids:
                if len(taken) < count and _try(locks, self.folder / f"gpu-{quote(each, '')}.lock"):
                    taken.append(each)
            return Lease(tuple(taken), locks.pop_all()) if len(taken) == count else None

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Held for moments only, by whoever looks at the tickets."""
        with (self.folder / "queue.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def _ticket(self) -> Iterator[Path]:
        """A place at the end of the queue."""
        with ExitStack() as locks:
            with self._alone():
                last = max(map(int, (path.name[7:] for path in self._tickets())), default=0)
                ticket = self.folder / f"ticket-{last + 1:012d}"
                _try(locks, ticket)
            try:
                yield ticket
            finally:
                ticket.unlink(missing_ok=True)

    def _tickets(self) -> list[Path]:
        return sorted(self.folder.glob("ticket-" + "[0-9]" * 12))

    def _oldest(self) -> Path | None:
        """The first ticket that somebody holds; those of the dead before it are removed."""
        for ticket in self._tickets():
            with ExitStack() as locks:
                if not _try(locks, ticket):
                    return ticket
                ticket.unlink()
        return None


def _try(locks: ExitStack, path: Path) -> bool:
    """Lock a file until the stack is closed, unless it is locked."""
    with ExitStack() as own:
        file = own.enter_context(path.open("ab"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        # Closing alone would leave the lock with a forked child that inherited the file.
        own.callback(fcntl.flock, file, fcntl.LOCK_UN)
        locks.push(own.pop_all())
        return True
