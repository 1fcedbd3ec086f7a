"""Seconds, bytes on disk and peak memory, and the tables that benchmarks print."""

from __future__ import annotations

import math
import os
import stat
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def timed(action: Callable[[], T]) -> tuple[float, T]:
    """Seconds that ``action`` took, and its result."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


@dataclass(frozen=True)
class Summary:
    """Of a list of seconds: how many, their sum, the median and the 95th percentile."""

    count: int
    total: float
    median: float
    p95: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Summary:
        ordered = sorted(seconds)
        high = ordered[math.ceil(0.95 * len(ordered)) - 1]
        return cls(len(ordered), math.fsum(ordered), statistics.median(ordered), high)

    def cells(self) -> tuple[str, ...]:
        """Count, total in seconds, median and 95th percentile in milliseconds."""
        return (
            str(self.count),
            f"{self.total:.2f}",
            f"{self.median * 1000:.0f}",
            f"{self.p95 * 1000:.0f}",
        )


SUMMARY_COLUMNS = ("n", "total s", "median ms", "p95 ms")


@dataclass(frozen=True)
class Ratio:
    """A result that is the same on slow and fast machines, and what was wanted at most."""

    name: str
    value: float
    wanted: float | None = None
    unit: str = "of the reference"

    def line(self) -> str:
        """The result in one line."""
        wanted = ""
        if self.wanted is not None:
            met = "met" if self.value <= self.wanted else "NOT met"
            wanted = f"  (wanted: at most {self.wanted:.3g}, {met})"
        return f"{self.value:9.3f} {self.unit:<17} {self.name}{wanted}"


@dataclass(frozen=True)
class Table:
    """Rows of text under a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """The table in Markdown, its columns aligned."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]

        def shown(line: Sequence[str]) -> str:
            first, *others = zip(line, widths, strict=True)
            cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
            return f"| {' | '.join(cells)} |"

        rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
        return "\n".join([self.title, "", shown(self.columns), rule, *map(shown, self.rows)])


@dataclass(frozen=True)
class Part:
    """The results of one part of a benchmark."""

    name: str
    ratios: list[Ratio] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The part as it is printed: ratios first."""
        ratios = "\n".join(each.line() for each in self.ratios)
        notes = "\n".join(f"- {note}" for note in self.notes)
        return "\n\n".join([f"## {self.name}", ratios, *(t.text() for t in self.tables), notes])

    def plain(self) -> dict[str, object]:
        """The part as JSON's types."""
        return asdict(self)


def allocated(*folders: Path, only_own: bool = False) -> int:
    """Bytes of the blocks that folders take, every file once however many names it has.

    Args:
        only_own: leave out files that have other names too.
    """
    seen: set[tuple[int, int]] = set()
    total = 0
    for status in _statuses(folders):
        if (key := (status.st_dev, status.st_ino)) not in seen:
            seen.add(key)
            shared = only_own and status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)
            total += 0 if shared else status.st_blocks * 512
    return total


def _statuses(folders: Iterable[Path]) -> Iterator[os.stat_result]:
    for folder in folders:
        for parent, names, files in os.walk(folder):
            yield os.lstat(parent)
            for name in files:
                yield os.lstat(os.path.join(parent, name))  # noqa: PTH118
            for name in names:
                full = os.path.join(parent, name)  # noqa: PTH118
                if os.path.islink(full):  # noqa: PTH114
                    yield os.lstat(full)


def plain_write(folder: Path, dest: Path) -> float:
    """Seconds to write a folder's files and links once, their contents being in memory.

    Only the calls that write are timed, so this is near what the file system can do.
    """
    root, target = os.fsencode(folder), os.fsencode(dest)
    seconds = 0.0
    for parent, _, names in os.walk(root):
        place = target + parent.removeprefix(root)
        start = time.perf_counter()
        os.mkdir(place)  # noqa: PTH102
        seconds += time.perf_counter() - start
        for name in names:
            full, new = os.path.join(parent, name), os.path.join(place, name)  # noqa: PTH118
            if os.path.islink(full):  # noqa: PTH114
                link = os.readlink(full)  # noqa: PTH115
                start = time.perf_counter()
                os.symlink(link, new)  # noqa: PTH211
            elif os.path.isfile(full):  # noqa: PTH113
                content = Path(os.fsdecode(full)).read_bytes()
                start = time.perf_counter()
                handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                os.write(handle, content)
                os.close(handle)
            else:
                continue
            seconds += time.perf_counter() - start
    return seconds


def plain_walk(folder: Path) -> float:
    """Seconds to look at every file of a folder once, without opening it."""

    def walk(path: bytes) -> None:
        with os.scandir(path) as found:
            for each in found:
                each.stat(follow_symlinks=False)
                if each.is_dir(follow_symlinks=False):
                    walk(each.path)

    return timed(lambda: walk(os.fsencode(folder)))[0]


def memory() -> tuple[int, int]:
    """Bytes of memory that this process has, and the most that it had since :func:`reset_peak`."""
    facts = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if line
    )
    return tuple(int(facts[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def reset_peak() -> bool:
    """Start the peak anew; whether this kernel does."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def mib(size: float) -> str:
    """Bytes as MiB."""
    return f"{size / 1024**2:.1f}"


def gib(size: float) -> str:
    """Bytes as GiB."""
    return f"{size / 1024**3:.2f}"
