"""Workspaces that outlive their harness: an agent's finished work until it has been collected.

Beside such a folder lies a note with the run that it is of. It stays for as long as that run's folder is
there; whoever has collected it, or has no use for it, lets it go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from expbench.durable import sync_folder
from expbench.paths import RunPaths

_SUFFIX = ".kept"


def keep(folder: Path, run: Path) -> None:
    """Have a workspace stay for the run in the folder ``run``. Raises OSError."""
    with _note(folder).open("w") as file:
        file.write(str(run.resolve()))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder.parent)


def let_go(folder: Path) -> None:
    """Have a workspace go with its harness again."""
    _note(folder).unlink(missing_ok=True)


def kept_for(folder: Path) -> Path | None:
    """The run that a workspace is kept for, if it is there; also of the note itself."""
    note = folder if folder.suffix == _SUFFIX else _note(folder)
    try:
        run = Path(note.read_text())
    except OSError:
        return None
    return run if note.with_suffix("").is_dir() and RunPaths(run).manifest.is_file() else None


def kept_of(work: Path, run: Path) -> Iterator[Path]:
    """The workspaces below ``work`` that are kept for a run."""
    wanted = run.resolve()
    for note in sorted(work.glob(f"*{_SUFFIX}")):
        folder = note.with_suffix("")
        if kept_for(folder) == wanted:
            yield folder


def _note(folder: Path) -> Path:
    return folder.with_name(folder.name + _SUFFIX)
