"""Runs as things that are moved and counted: the work of ``expbench runs``."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from expbench.errors import ExpbenchError, NotFoundError
from expbench.packing import Folder, pack, unpack
from expbench.runs import Manifest, Run, load

_PLAIN_WIDTH = 200
"""Characters of a table's line where there is no terminal that has a width."""
_LINE_EVERY = 5.0
"""Seconds between lines of progress where there is no terminal."""


def pack_to(root: Path, out: Path | None, logs: bool, as_json: bool) -> int:
    """Pack a run and say what became of it."""
    archive = out or Path(f"{root.resolve().name}.tar.gz")
    with _progress(f"packing {root}") as step:
        done = pack(root, archive, logs, step)
    if as_json:
        _print_json({**asdict(done), "archive": str(done.archive)})
        return 0
    _say(
        f"{done.archive}: {done.files} files, {decimal(done.content)} packed to "
        f"{decimal(done.size)}, sha256 {done.sha256}"
    )
    if done.left_out:
        _say(f"left out, no files of a run: {', '.join(done.left_out)}")
    if done.unnamed:
        _say(f"left out, named by no record: {done.unnamed} files of the store")
    return 0


def unpack_to(archive: Path, out: Path | None, as_json: bool) -> int:
    """Unpack a run and say what it needs here."""
    with _progress(f"unpacking {archive}") as step:
        done = unpack(archive, out, step)
    if as_json:
        _print_json({**asdict(done), "root": str(done.root)})
        return 0
    _say(f"{done.root}: {done.files} files, {decimal(done.content)}, every digest right")
    for folder in done.folders:
        _say(_folder_line(folder))
    return 0


def _folder_line(folder: Folder) -> str:
    path = ascii(folder.path)[1:-1]
    if folder.here:
        return f"{folder.name}: a resumption uses {path} of this machine"
    if folder.option:
        return f"{folder.name}: {path} is not here; give another to `expbench resume` with {folder.option}"
    return f"{folder.name}: {path} is not here; a resumption that uses it needs it in that place"


@dataclass(frozen=True)
class RunRow:
    """One folder of a list of runs: its run, or the ``problem`` that keeps it from being opened."""

    name: str
    suite: str = ""
    agent: str = ""
    model: str = ""
    judge: str = ""
    done: int | None = None
    planned: int | None = None
    created: str = ""
    bytes: int = 0
    """What the folder takes of the disk."""
    problem: str = ""


def list_folder(folder: Path, as_json: bool) -> int:
    """Print the runs of a folder, by name."""
    if not folder.is_dir():
        raise NotFoundError(
            f"There is no folder {folder}: `expbench run` makes runs/, or name another."
        )
    rows = [
        _row(path)
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.name.startswith(".")
    ]
    if as_json:
        _print_json([asdict(row) for row in rows])
        return 0
    table = Table(box=None, header_style="bold")
    for name in ("run", "suite", "agent", "model", "judge"):
        table.add_column(name, overflow="fold")
    for name in ("done", "created", "size"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("problem", overflow="fold")
    for row in rows:
        done = "" if row.done is None else f"{row.done}/{row.planned}"
        cells = (row.name, row.suite, row.agent, row.model, row.judge, done, row.created)
        table.add_row(*map(_plain, cells), decimal(row.bytes), _plain(row.problem))
    _console().print(table, markup=False)
    if not rows:
        _say(f"{folder} holds no runs.")
    return 0


def _row(path: Path) -> RunRow:
    size = _size(path)
    try:
        run = load(path)
    except (ExpbenchError, OSError) as error:
        return RunRow(path.name, bytes=size, problem=str(error))
    manifest = run.manifest
    return RunRow(
        name=path.name,
        suite=manifest.suite,
        agent=manifest.agent,
        model=manifest.model,
        judge=manifest.judge,
        done=_done(run, manifest),
        planned=len(manifest.tasks) * manifest.epochs,
        created=manifest.created,
        bytes=size,
    )


def _done(run: Run, manifest: Manifest) -> int:
    tasks = set(manifest.tasks)
    planned = (k for k in run.outcomes if k[0] in tasks and 1 <= k[1] <= manifest.epochs)
    return sum(run.final(key) for key in planned)


def _size(folder: Path) -> int:
    """Bytes of the disk below a folder; links are not followed."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += Path(parent, name).lstat().st_blocks * 512
            except OSError:
                continue
    return total


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that takes bytes done and in all: a bar on a terminal, else a line now and then.

    A polite kill ends like Ctrl-C, so that what is half-written is removed.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console(stderr=True, highlight=False)
    try:
        if not console.is_terminal:
            yield _Lines(console, what)
            return
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
            bar = progress.add_task(what, total=None)
            yield lambda done, total: progress.update(bar, completed=done, total=total)
    finally:
        signal.signal(signal.SIGTERM, before)


class _Lines:
    """Progress in lines, for work that takes long enough to ask oneself."""

    def __init__(self, console: Console, what: str) -> None:
        self._console, self._what = console, what
        self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._last >= _LINE_EVERY:
            self._last = time.monotonic()
            line = f"{self._what}: {decimal(done)} of {decimal(total)}"
            self._console.print(line, markup=False, soft_wrap=True)


def _plain(text: str) -> str:
    """A stranger's text without control characters."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _PLAIN_WIDTH
    return console


def _say(text: str) -> None:
    _console().print(_plain(text), markup=False, soft_wrap=True)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1))  # noqa: T201
