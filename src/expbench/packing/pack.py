"""Packing a run: the same run gives the same bytes.

Members are in the order of their names, with fixed owners, modes and times, and the run's own name is
its manifest's, whatever its folder is called. Everything is hashed again while it is written, so an
archive that is complete holds what its list says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import expbench as package
from expbench.errors import DataError, PrerequisiteError, UserError
from expbench.packing.layout import (
    AGAIN,
    CHUNK,
    LIST_NAME,
    SUFFIX,
    PackedFile,
    Packing,
    Step,
    blobs_of_run,
    check_list,
    known,
    name_in_store,
    quiet,
)
from expbench.packing.members import Hashed, fresh_file, write_members
from expbench.runs import Run, load, locked
from expbench.workspace.store import open_regular

_SINGLE = (
    "manifest.json",
    "journal.jsonl",
    "outcomes.jsonl",
    "ledger.jsonl",
    "prices.json",
    "failures-coding.jsonl",
)
_FOLDERS = ("logs", "report", "failures", "reviews")


@dataclass(frozen=True)
class Packed:
    """A packed run. ``content`` and ``size`` are bytes before and after; ``sha256`` is the archive's.

    ``left_out`` are paths in the run's folder that are no file of a run, and ``unnamed`` counts the
    files of the store that no record names.
    """

    archive: Path
    run: str
    files: int
    content: int
    size: int
    sha256: str
    left_out: tuple[str, ...]
    unnamed: int


def pack(root: Path, archive: Path, logs: bool = True, step: Step = quiet) -> Packed:
    """Write the run in the folder ``root`` to the new file ``archive``.

    Raises:
        NotFoundError: there is no run.
        DataError: its files are damaged, changed or missing.
        UserError: another process works on it, or the archive's name cannot be used.
        PrerequisiteError: a file cannot be read or written.
    """
    if not archive.name.endswith(SUFFIX) or archive.name == SUFFIX:
        raise UserError(f"{archive.name!r} is no name for a packed run: give --out NAME{SUFFIX}.")
    if archive.exists() or archive.is_symlink():
        raise UserError(f"{archive} exists: remove it or choose another file with --out.")
    run = load(root)
    with ExitStack() as stack:
        _hold(run, stack)
        files = _files(run, logs)
        packing = Packing(expbench=package.__version__, run=run.manifest.name, files=files)
        check_list(packing, root)
        with fresh_file(archive) as file:
            sink = Hashed(file)
            head = packing.model_dump_json(indent=1).encode() + b"\n"
            write_members(
                sink,
                (LIST_NAME, head),
                packing.files,
                lambda entry: _open(root, entry.name),
                lambda entry: _changed(root, entry),
                step,
            )
            size = file.tell()
        return Packed(
            archive=archive,
            run=packing.run,
            files=len(packing.files),
            content=packing.size,
            size=size,
            sha256=sink.digest.hexdigest(),
            left_out=tuple(_left_out(root, logs)),
            unnamed=_unnamed(run, {file.name for file in packing.files}),
        )


def _hold(run: Run, stack: ExitStack) -> None:
    """Keep other processes from the run until the stack is left."""
    try:
        stack.enter_context(locked(run))
    except OSError as error:
        raise PrerequisiteError(
            f"{run.paths.root} cannot be held while it is packed ({error.strerror}): pack a copy "
            "of it that you may write to."
        ) from None


def _files(run: Run, logs: bool) -> tuple[PackedFile, ...]:
    """Everything that goes into the archive, in the order of names."""
    root = run.paths.root
    names = [name for name in _SINGLE if os.path.lexists(root / name)]
    names += [name for name in _below(root, _FOLDERS if logs else _FOLDERS[1:]) if known(name)]
    names += _again(root)
    found = [_measured(root, name) for name in names]
    blobs = {blob.digest: blob for blob in blobs_of_run(root)}
    for blob in blobs.values():
        run.store.open(blob).close()
        found.append(PackedFile(name=name_in_store(blob), size=blob.size, sha256=blob.digest))
    return tuple(sorted(found, key=lambda file: file.name))


def _below(root: Path, folders: tuple[str, ...]) -> Iterator[str]:
    for folder in folders:
        if (root / folder).is_dir() and not (root / folder).is_symlink():
            yield from (f"{folder}/{path.name}" for path in (root / folder).iterdir())


def _again(root: Path) -> list[str]:
    """The files of other judgings of the run, of other executions, and of what was scored again."""
    folders = [Path(name) for name in _below(root, AGAIN)]
    own = [folder / name for folder in folders for name in _SINGLE]
    pages = [f"{folder}/{name}" for folder in folders for name in ("report", "failures")]
    reports = [Path(name) for name in _below(root, tuple(pages))]
    found = (str(path) for path in (*own, *reports) if os.path.lexists(root / path))
    return [name for name in found if known(name)]


def _left_out(root: Path, logs: bool) -> Iterator[str]:
    """What a run's folder holds that no archive takes, beside the logs that nobody wanted."""
    own = {*_SINGLE, *_FOLDERS, *AGAIN, "store", ".lock", ".pulse.json"}
    yield from sorted(path.name for path in root.iterdir() if path.name not in own)
    folders = _FOLDERS if logs else _FOLDERS[1:]
    yield from sorted(name for name in _below(root, folders) if not known(name))


def _unnamed(run: Run, names: set[str]) -> int:
    here = (f"store/{p.parent.name}/{p.name}" for p in run.paths.store.glob("*/*"))
    return sum(name not in names for name in here)


def _measured(root: Path, name: str) -> PackedFile:
    digest, size = hashlib.sha256(), 0
    with _open(root, name) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return PackedFile(name=name, size=size, sha256=digest.hexdigest())


def _open(root: Path, name: str) -> BinaryIO:
    try:
        return open_regular(root / name)
    except OSError as error:
        raise PrerequisiteError(f"{root / name} cannot be read ({error.strerror}).") from None


def _changed(root: Path, entry: PackedFile) -> DataError:
    if entry.name.startswith("store/"):
        return DataError(
            f"{root / entry.name} was changed: its bytes do not fit its name, so the run "
            "cannot be packed."
        )
    return DataError(f"{root / entry.name} was changed while it was packed: pack the run again.")
