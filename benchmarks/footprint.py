"""Peak memory of each step, in processes of their own, for a tree and for one of a tenth of its files."""

from __future__ import annotations

import gc
import multiprocessing
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from generated import MASKED, generate, ten_changes
from measuring import Part, Ratio, Table, memory, mib, reset_peak

from expbench.workspace import collect, from_git, mask, open_view

T = TypeVar("T")

STEPS = ("python and imports", "fetched and frozen", "new layer", "view copied", "collected")


def report(part: Part, scratch: Path, files: int) -> None:
    """Add the peaks of ``files // 10`` and ``files`` files to a part."""
    sizes = (max(20, files // 10), files)
    small, large = (_peaks(scratch, size) for size in sizes)
    rows = [
        (
            step,
            mib(small[step]),
            mib(large[step]),
            f"{(large[step] - small[step]) / (sizes[1] - sizes[0]) / 1024:.2f}",
        )
        for step in STEPS
        if step in small and step in large
    ]
    columns = ("peak MiB of a process", f"{sizes[0]} files", f"{sizes[1]} files", "KiB a file")
    part.tables.append(Table("Memory", columns, tuple(rows)))
    if not rows:
        part.notes.append("Memory was not measured: this kernel does not start a peak anew.")
    for step in STEPS[1:]:
        if step in small and step in large:
            name = f"memory, {step}, {sizes[1]} files"
            part.ratios.append(Ratio(name, large[step] / small[step], None, "x a tenth of it"))


def _peaks(scratch: Path, files: int) -> dict[str, int]:
    repository = scratch / f"made-{files}.git"
    if repository.is_dir():
        commit = (repository / "refs" / "heads" / "main").read_text().strip()
    else:
        commit = generate(repository, files)
    folder = Path(tempfile.mkdtemp(dir=scratch))
    peaks: dict[str, int] = {}
    try:
        for work in (_cold, _warm):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                peaks |= pool.submit(work, repository, commit, folder).result()
    finally:
        shutil.rmtree(folder)
    return peaks


def _cold(repository: Path, commit: str, folder: Path) -> dict[str, int]:
    """From an empty store to an overlay's folders."""
    peaks: dict[str, int] = {}
    _peak(peaks, STEPS[0], lambda: None)

    def work() -> None:
        source = from_git(str(repository), commit, folder / "store")
        open_view(mask(source, MASKED, "paper"), folder / "first", overlay=True)

    _peak(peaks, STEPS[1], work)
    return peaks


def _warm(repository: Path, commit: str, folder: Path) -> dict[str, int]:
    """From a frozen tree to a collected patch."""
    peaks: dict[str, int] = {}
    source = from_git(str(repository), commit, folder / "store")
    prepared = _peak(peaks, STEPS[2], lambda: mask(source, MASKED[:1], "paper"))
    view = _peak(peaks, STEPS[3], lambda: open_view(prepared, folder / "copy"))
    script = ten_changes(prepared.entries).script
    subprocess.run(["sh", "-c", script], cwd=view.files, check=True)
    _peak(peaks, STEPS[4], lambda: collect(view, prepared))
    return peaks


def _peak(peaks: dict[str, int], step: str, work: Callable[[], T]) -> T:
    gc.collect()
    known = reset_peak()
    result = work()
    if known:
        peaks[step] = memory()[1]
    return result
