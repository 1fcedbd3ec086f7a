"""Reading what a command writes without end: how fast, and with how much memory."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Callable

from measuring import Part, Ratio, Table, memory, mib, reset_peak, timed
from sandbox_bench import Bench, in_turn

from expbench.schema import Limits

_MIB = 1024**2
_MOST_RUNS = 5
_CHUNK = 1 << 16


def measure(bench: Bench) -> Part:
    """The same program's output, from a sandbox and from a plain process whose reader keeps as much."""
    part = Part("Output without end")
    session = bench.session()
    size, kept = bench.output_mib * _MIB, Limits().output_mib * _MIB
    argv = ["/usr/bin/head", "-c", str(size), "/dev/zero"]
    growth: dict[str, int] = {}

    def ours() -> float:
        return _growing("ours", growth, lambda: len(session.run(argv).stdout))

    def plain() -> float:
        return _growing("plain process", growth, lambda: _read(argv, kept))

    times = in_turn(min(bench.runs, _MOST_RUNS), {"ours": ours, "plain process": plain})
    part.ratios.append(times.ratio("ours", "plain process"))
    rows = tuple(
        (name, f"{bench.output_mib / times.median(name):.0f}", mib(growth.get(name, 0)))
        for name in times.seconds
    )
    part.ratios.append(Ratio("memory growth", growth.get("ours", 0) / _MIB, None, "MiB"))
    columns = ("reader", "MiB/s", "MiB of growth")
    part.tables.append(Table(f"{bench.output_mib} MiB of one stream", columns, rows))
    part.notes.append(f"Both keep the first and the last half of {kept // _MIB} MiB.")
    return part


def _growing(name: str, growth: dict[str, int], read: Callable[[], int]) -> float:
    """Seconds of reading; the most memory that it ever took besides is noted."""
    peaks = reset_peak()
    before, _ = memory()
    seconds, _ = timed(read)
    if peaks:
        growth[name] = max(growth.get(name, 0), memory()[1] - before)
    return seconds


def _read(argv: list[str], kept: int) -> int:
    """Read a plain process's output, keeping its head and its tail; how much was kept."""
    head, tail, held = bytearray(), deque[bytes](), 0
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while chunk := os.read(process.stdout.fileno(), _CHUNK):
            if len(head) < kept // 2:
                head += chunk
                continue
            tail.append(chunk)
            held += len(chunk)
            while held - len(tail[0]) >= kept // 2:
                held -= len(tail.popleft())
    return len(bytes(head) + b"".join(tail))
