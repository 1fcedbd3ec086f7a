"""Collecting ten changes, ours and the reference's in turn: real repositories and a large made one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import footprint
import reference_method
from generated import MASKED, Changes, generate, ten_changes
from measuring import SUMMARY_COLUMNS, Part, Ratio, Summary, Table, plain_walk, timed
from mirrors import Pins

from expbench.errors import PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes import bubblewrap
from expbench.sandboxes.host import SandboxHost, other_owner, remove
from expbench.schema import Limits, Policy
from expbench.workspace import Prepared, SourceFinder, collect, from_git, mask, open_view

WANTED_SECONDS, WANTED_SHARE = 1.0, 1 / 3

NAMES = {
    "reference": "reference",
    "unmoded": "reference, as if it had not run chmod",
    "sandbox": "ours, from a sandbox's {kind}",
    "copy": "ours, from a copy",
    "unknown": "ours, from a folder of which nothing is recorded",
    "walk": "limit: every file looked at once",
}


@dataclass
class Collection:
    """Seconds of collecting by method; ``kind`` is the view that sandboxes have here."""

    scratch: Path
    host: SandboxHost | None
    seconds: dict[str, list[float]] = field(default_factory=dict)
    kind: str = ""

    def took(self, method: str, seconds: float) -> None:
        self.seconds.setdefault(method, []).append(seconds)

    def summary(self, method: str) -> Summary:
        return Summary.of(self.seconds[method])


def measure(
    pins: Pins, scratch: Path, files: int, runs: int, progress: Callable[[str], None]
) -> Part:
    """Collect once from each pin's first task and ``runs`` times from a tree of ``files`` files."""
    part = Part("Collection", notes=pins.notes())
    host = _host(scratch, part)
    if pins.pins:
        progress(f"collection from {len(pins.pins)} repositories")
        _report(part, _real(pins, Collection(scratch, host)), "real repositories")
    progress(f"collection from {files} files")
    generated = _generated(Collection(scratch, host), files, runs)
    wanted = (WANTED_SHARE, WANTED_SECONDS)
    _report(part, generated, f"{files} files", wanted)
    progress("memory")
    footprint.report(part, scratch, files)
    return part


def _host(scratch: Path, part: Part) -> SandboxHost | None:
    try:
        bubblewrap.check()
    except PrerequisiteError as error:
        part.notes.append(f"No sandboxes were measured: {error}")
        return None
    return SandboxHost(CachePaths(scratch / "cache"))


def _real(pins: Pins, run: Collection) -> Collection:
    store = run.scratch / "store-collection"
    finder = SourceFinder(store, clones=pins.clones, mode="paper", owner=other_owner())
    for number, pin in enumerate(pins.pins):
        prepared = finder.prepared(pin.tasks[0])
        with _folder(run) as folder:
            clone = folder / "clone"
            reference_method.prepare(pin.clone, pin.tasks[0], clone)
            _in_turn(run, prepared, folder, 1, number % 2 == 0)
    return run


def _generated(run: Collection, files: int, runs: int) -> Collection:
    repository, store = run.scratch / f"made-{files}.git", run.scratch / "store-collection"
    commit = generate(repository, files)
    prepared = mask(from_git(str(repository), commit, store), MASKED, "paper", (), other_owner())
    with _folder(run) as folder:
        clone = folder / "clone"
        reference_method.prepare_commit(repository, commit, MASKED, clone)
        _in_turn(run, prepared, folder, runs, True)
    return run


def _in_turn(
    run: Collection, prepared: Prepared, folder: Path, runs: int, ours_first: bool
) -> None:
    """Make the same changes in a clone, a copy and a sandbox, and collect from each, ``runs`` times."""
    changes, clone, copy = ten_changes(prepared.entries), folder / "clone", folder / "copy"
    view = open_view(prepared, copy, owner=other_owner())
    for changed in (clone, copy):
        subprocess.run(["sh", "-c", changes.script], cwd=changed, check=True)
    index = clone / ".git" / "index"
    stale = index.read_bytes()
    reference_method.refresh(clone)
    fresh = index.read_bytes()

    def reference() -> None:
        for method, content in (("reference", stale), ("unmoded", fresh)):
            index.write_bytes(content)
            seconds, patch = timed(lambda: reference_method.collect(clone))
            if not patch:
                raise RuntimeError(f"the reference collected nothing from {clone}")
            run.took(method, seconds)

    def ours() -> None:
        _collect(run, "copy", changes, lambda: len(collect(view, prepared).changed))
        run.took("walk", plain_walk(copy))
        _from_sandbox(run, prepared, changes)

    for _ in range(runs):
        for step in (ours, reference) if ours_first else (reference, ours):
            step()
    _collect(run, "unknown", changes, lambda: len(collect(copy, prepared).changed))


def _from_sandbox(run: Collection, prepared: Prepared, changes: Changes) -> None:
    if run.host is None:
        return
    view = run.host.open(prepared)
    try:
        with run.host.start(view, Policy(limits=Limits())) as session:
            done = session.run(["sh", "-c", changes.script], timeout=300)
        if done.exit_code != 0:
            raise RuntimeError(f"the changes failed in a sandbox: {done.stderr!r} {done.error}")
        run.kind = view.kind
        _collect(run, "sandbox", changes, lambda: len(collect(view, prepared).changed))
    finally:
        remove(view.folder)


def _collect(run: Collection, method: str, changes: Changes, work: Callable[[], int]) -> None:
    seconds, found = timed(work)
    if found != changes.paths:
        raise RuntimeError(f"{method}: {found} changed paths collected of {changes.paths}")
    run.took(method, seconds)


def _report(
    part: Part, run: Collection, name: str, wanted: tuple[float, float] | None = None
) -> None:
    share, seconds = wanted or (None, None)
    reference, copy = run.summary("reference"), run.summary("copy")
    methods = {"sandbox": run.kind, "copy": "copy"} if run.kind else {"copy": "copy"}
    for method, kind in methods.items():
        median = run.summary(method).median
        label = f"collection, {name}, {kind}"
        part.ratios.append(Ratio(label, median / reference.median, share))
        if seconds is not None:
            part.ratios.append(Ratio(f"{label}, median", median, seconds, "s"))
    unmoded = run.summary("unmoded").median
    label = f"collection, {name}, copy, against a reference without chmod"
    part.ratios.append(Ratio(label, copy.median / unmoded))
    walk = run.summary("walk").median
    part.ratios.append(Ratio(f"collection, {name}, copy", copy.median / walk, None, "x a walk"))
    rows = tuple(
        (
            text.format(kind=run.kind),
            *run.summary(method).cells(),
            f"{run.summary(method).median / reference.median:.3f}",
        )
        for method, text in NAMES.items()
        if method in run.seconds
    )
    title = f"Collection, {name}; the last column is the share of the reference's median"
    part.tables.append(Table(title, ("collection", *SUMMARY_COLUMNS, "share"), rows))


@contextmanager
def _folder(run: Collection) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=run.scratch))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
