"""Preparing every task, ours and the reference's in turn, so that both see the same machine."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import reference_method
from measuring import (
    SUMMARY_COLUMNS,
    Part,
    Ratio,
    Summary,
    Table,
    allocated,
    gib,
    mib,
    plain_write,
    timed,
)
from mirrors import Pin, Pins

from expbench.errors import InfrastructureError, RepositoryError
from expbench.schema import ResearchTask
from expbench.workspace import FrozenTree, SourceFinder, View, open_view
from expbench.workspace.strict import MaskMode

MODES: tuple[MaskMode, ...] = ("paper", "strict")
"""What the reference takes out, and our default."""

CASES = {
    "first": "first task of a pin, store empty",
    "all": "all tasks, store empty at first",
    "stored": "all tasks, repositories in the store",
    "warm": "tree frozen, layer new",
    "fresh": "the same, pin's first use in a process",
    "hot": "all there",
    "copy": "all there, view copied",
}

COPIED, LINKED = "reference", "reference, hard-linked"
"""Clones with objects of their own, as from an address, and clones that share the mirror's."""

WANTED_TIME, WANTED_DISK, WANTED_WARM_MS = 1 / 8, 1 / 12, 60.0


@dataclass
class Counts:
    """Seconds by case, bytes by what they hold."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)

    def took(self, case: str, seconds: float) -> None:
        self.seconds.setdefault(case, []).append(seconds)

    def takes(self, what: str, size: int) -> None:
        self.bytes[what] = self.bytes.get(what, 0) + size

    def total(self, case: str) -> float:
        return sum(self.seconds.get(case, [0.0]))


@dataclass
class Preparation:
    """The measurements of a run. ``kinds`` are the views' kinds that were opened."""

    scratch: Path
    pins: Pins
    ours: dict[MaskMode, Counts] = field(default_factory=lambda: {mode: Counts() for mode in MODES})
    references: dict[str, Counts] = field(
        default_factory=lambda: {COPIED: Counts(), LINKED: Counts()}
    )
    limit: Counts = field(default_factory=Counts)
    kinds: set[str] = field(default_factory=set)
    prepared: int = 0

    def store(self, mode: MaskMode) -> Path:
        """The store of a mode; the modes share nothing."""
        return self.scratch / f"store-{mode}"

    def finder(self, mode: MaskMode) -> SourceFinder:
        """As a process has it that has prepared nothing yet."""
        return SourceFinder(self.store(mode), clones=self.pins.clones, mode=mode)


def measure(pins: Pins, scratch: Path, progress: Callable[[str], None]) -> Part:
    """Prepare every task in every case. Nothing of it is left but the stores, below ``scratch``."""
    run = Preparation(scratch, pins)
    for number, pin in enumerate(pins.pins, 1):
        progress(f"preparation {number}/{len(pins.pins)}: {pin.url}, {len(pin.tasks)} tasks")
        try:
            _pin(run, pin)
        except (RepositoryError, InfrastructureError) as error:
            pins.unavailable[f"{pin.url} {pin.commit[:12]}"] = str(error)
    for mode in MODES:
        counts, store = run.ours[mode], run.store(mode)
        counts.takes("store", allocated(store))
        repositories = allocated(*store.glob("*.git"))
        counts.takes("trees", counts.bytes["store"] - repositories)
    return _report(run)


def _pin(run: Preparation, pin: Pin) -> None:
    finders = {mode: run.finder(mode) for mode in MODES}
    for number, task in enumerate(pin.tasks):
        steps = [functools.partial(_reference, run, pin, task, number, k) for k in run.references]
        steps += [functools.partial(_cold, run, finders[mode], task, number) for mode in MODES]
        for step in steps if number % 2 else reversed(steps):
            step()
        run.prepared += 1
    for mode in MODES:
        _again(run, pin, finders[mode])
    _limits(run, finders["paper"].tree(pin.tasks[0]))


def _reference(run: Preparation, pin: Pin, task: ResearchTask, number: int, kind: str) -> None:
    counts, linked = run.references[kind], kind == LINKED
    with _folder(run) as folder:
        dest = folder / "clone"
        seconds, _ = timed(lambda: reference_method.prepare(pin.clone, task, dest, linked))
        counts.took("all", seconds)
        counts.takes("disk", allocated(dest, only_own=linked))
    if number == 0:
        counts.took("first", seconds)


def _cold(run: Preparation, finder: SourceFinder, task: ResearchTask, number: int) -> None:
    fetched, _ = timed(lambda: finder.source(task))
    stored = _ours(run, finder, task)
    seconds = fetched + stored
    run.ours[finder.mode].took("all", seconds)
    run.ours[finder.mode].took("stored", stored)
    if number == 0:
        run.ours[finder.mode].took("first", seconds)


def _again(run: Preparation, pin: Pin, finder: SourceFinder) -> None:
    """The warm and hot cases of a pin whose tree is frozen and in use."""
    counts = run.ours[finder.mode]
    tree = finder.tree(pin.tasks[0]).folder
    for task in pin.tasks:
        _forget_layers(tree)
        counts.took("warm", _ours(run, finder, task))
        counts.took("hot", _ours(run, finder, task))
    _forget_layers(tree)
    counts.took("fresh", _ours(run, run.finder(finder.mode), pin.tasks[0]))
    for task in pin.tasks:
        finder.prepared(task)
    counts.took("copy", _ours(run, finder, pin.tasks[0], overlay=False))


def _forget_layers(tree: Path) -> None:
    shutil.rmtree(tree / "layers")
    (tree / "layers").mkdir()
    shutil.rmtree(tree / "findings", ignore_errors=True)


def _ours(
    run: Preparation, finder: SourceFinder, task: ResearchTask, overlay: bool = True
) -> float:
    """Seconds from a task to a workspace that a sandbox can start on."""
    with _folder(run) as folder:

        def work() -> View:
            return open_view(finder.prepared(task), folder / "view", overlay=overlay)

        seconds, view = timed(work)
        if overlay:
            run.kinds.add(view.kind)
        return seconds


def _limits(run: Preparation, tree: FrozenTree) -> None:
    """What the bytes of one tree cost when they are written once, by plain calls and by ``cp``."""
    layer = next((tree.folder / "layers").iterdir()) / "files"
    with _folder(run) as folder:
        plain = plain_write(tree.files, folder / "plain")
        copy = ["cp", "-a", "--", str(tree.files), str(folder / "cp")]
        copied, _ = timed(lambda: subprocess.run(copy, check=True))
        for case, seconds in (("files", plain), ("cp", copied), ("least", min(plain, copied))):
            run.limit.took(case, seconds)
        run.limit.took("layer", plain_write(layer, folder / "layer"))
    run.limit.takes("files", allocated(tree.files))
    run.limit.takes("blobs", allocated(tree.objects))


@contextmanager
def _folder(run: Preparation) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=run.scratch))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _report(run: Preparation) -> Part:
    part = Part("Preparation", notes=run.pins.notes())
    if not run.prepared:
        return part
    _ratios(run, part)
    part.tables.append(_times(run))
    part.tables.append(_disk(run))
    part.notes.append(f"Views opened: {', '.join(sorted(run.kinds))}.")
    return part


def _ratios(run: Preparation, part: Part) -> None:
    limit, ours = run.limit, run.ours
    for kind, reference in run.references.items():
        against = "of the reference" if kind == COPIED else "of hard-linked"
        for mode, counts in ours.items():
            wanted = WANTED_TIME if kind == COPIED else None
            for case, start in (("stored", "repositories stored"), ("all", "store empty")):
                value = counts.total(case) / reference.total("all")
                name = f"time, all tasks, {start}, {mode}"
                part.ratios.append(Ratio(name, value, wanted, against))
        for what, wanted in (("trees", WANTED_DISK), ("store", None)):
            value = ours["paper"].bytes[what] / reference.bytes["disk"]
            limited = wanted if kind == COPIED else None
            name = "trees and layers" if what == "trees" else "with the repositories"
            part.ratios.append(Ratio(f"disk, all tasks, {name}", value, limited, against))
    for mode, counts in ours.items():
        median = Summary.of(counts.seconds["warm"]).median * 1000
        part.ratios.append(Ratio(f"warm median, {mode}", median, WANTED_WARM_MS, "ms"))
    least, paper = limit.total("least"), ours["paper"]
    files = limit.bytes["files"]
    reference = run.references[COPIED]
    floor = least / reference.total("all")
    part.ratios.extend(
        [
            Ratio("limit: time, one tree for each pin", floor),
            Ratio("limit: disk, one tree for each pin", files / reference.bytes["disk"]),
            Ratio(
                "time, repositories stored, paper",
                paper.total("stored") / least,
                None,
                "x the limit",
            ),
            Ratio("disk, trees and layers", paper.bytes["trees"] / files, None, "x the limit"),
        ]
    )


def _times(run: Preparation) -> Table:
    rows: list[tuple[str, ...]] = []
    reference = run.references[COPIED]
    for kind, counts in run.references.items():
        for case, name in {"first": "first task of a pin", "all": "all tasks"}.items():
            share = counts.total(case) / reference.total(case)
            cells = Summary.of(counts.seconds[case]).cells()
            rows.append((f"{kind}: {name}", *cells, f"{share:.3f}"))
    for mode, counts in run.ours.items():
        for case, name in CASES.items():
            base = reference.total("first" if case in ("first", "fresh", "copy") else "all")
            cells = Summary.of(counts.seconds[case]).cells()
            rows.append((f"{mode}: {name}", *cells, f"{counts.total(case) / base:.3f}"))
    for case, name in (
        ("files", "limit: a pin's files, plain writes"),
        ("cp", "limit: a pin's files, cp -a"),
        ("layer", "limit: a layer's files, plain writes"),
    ):
        cells = Summary.of(run.limit.seconds[case]).cells()
        base = reference.total("first")
        rows.append((name, *cells, f"{run.limit.total(case) / base:.3f}"))
    title = "Time; the last column is the share of the reference's time for the same tasks"
    return Table(title, ("preparation", *SUMMARY_COLUMNS, "share"), tuple(rows))


def _disk(run: Preparation) -> Table:
    whole = run.references[COPIED].bytes["disk"]
    sizes = [(kind, counts.bytes["disk"]) for kind, counts in run.references.items()]
    for mode, counts in run.ours.items():
        sizes.append((f"{mode}: trees and layers", counts.bytes["trees"]))
        sizes.append((f"{mode}: with the store's repositories", counts.bytes["store"]))
    files, blobs = run.limit.bytes["files"], run.limit.bytes["blobs"]
    sizes.append(("limit: one tree for each pin", files))
    sizes.append(("limit: with its compressed blobs", files + blobs))
    rows = tuple(
        (name, gib(size), mib(size / run.prepared), f"{size / whole:.3f}") for name, size in sizes
    )
    return Table("Disk", ("blocks in use", "GiB", "MiB per task", "share"), rows)
