"""Unpacking a run that a stranger may have made.

Members are taken one by one (:mod:`expbench.packing.members`). What is read is bounded by the list before
anything is written, every digest is checked, and the folder gets its name when everything was right.
"""

from __future__ import annotations

import gzip
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import ValidationError

from expbench.durable import sync_folder
from expbench.errors import DataError, NotFoundError, PrerequisiteError, UserError
from expbench.packing.layout import (
    ATTEMPTS_CAP,
    LIST_CAP,
    LIST_NAME,
    Folder,
    PackedFile,
    Packing,
    Step,
    blobs_of_run,
    check_list,
    folders_of,
    further,
    misplaced,
    name_in_store,
    quiet,
    shown,
    usable_name,
)
from expbench.packing.members import check_end, pass_over, read_head, take
from expbench.runs import Manifest, load
from expbench.schema import Blob

_SPARE = 16 * 1024**2
"""Bytes of the disk that are left free."""


@dataclass(frozen=True)
class Unpacked:
    """An unpacked run. ``content`` is in bytes; ``folders`` are what its resumption would use."""

    root: Path
    run: str
    files: int
    content: int
    packed_by: str
    folders: tuple[Folder, ...]


def unpack(archive: Path, dest: Path | None = None, step: Step = quiet) -> Unpacked:
    """Write a packed run to the new or empty folder ``dest``, by default ``runs/`` and its name.

    Raises:
        NotFoundError: there is no such file.
        DataError: it is no packed run, is damaged or cut short, or was made to do harm.
        UserError: the folder holds something already.
        PrerequisiteError: the disk lacks the room or the right to write.
    """
    if not archive.is_file():
        raise NotFoundError(f"There is no file {archive}: give one that `expbench runs pack` made.")
    try:
        with archive.open("rb") as raw, gzip.GzipFile(fileobj=raw) as file:
            stream = cast("BinaryIO", file)
            packing = _list(stream, archive)
            root = dest or Path("runs") / _name(packing, archive)
            _check_empty(root)
            with _fresh_folder(root, packing) as folder:
                for done, entry in _counted(packing):
                    tell = further(step, done, packing.size)
                    take(stream, entry, folder, archive, misplaced, tell)
                check_end(stream, archive)
                manifest = _check_run(folder, packing, archive)
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.HeaderError):
        raise DataError(
            f"{archive} is damaged or cut short: bring it here again, or pack the run again."
        ) from None
    return Unpacked(
        root=root,
        run=packing.run,
        files=len(packing.files),
        content=packing.size,
        packed_by=packing.expbench,
        folders=folders_of(manifest),
    )


def peek(archive: Path, folder: Path, names: Collection[str]) -> None:
    """Write only these files of a packed run to an existing folder, those that it has.

    Raises:
        DataError: it is no packed run, or is damaged.
    """
    try:
        with archive.open("rb") as raw, gzip.GzipFile(fileobj=raw) as file:
            stream = cast("BinaryIO", file)
            entries = _list(stream, archive).files
            last = max((n for n, entry in enumerate(entries) if entry.name in names), default=-1)
            for entry in entries[: last + 1]:
                if entry.name in names:
                    take(stream, entry, folder, archive, misplaced, lambda done: None)
                else:
                    pass_over(stream, entry, archive, misplaced)
    except (EOFError, zlib.error, gzip.BadGzipFile, tarfile.HeaderError):
        raise DataError(
            f"{archive} is damaged or cut short: bring it here again, or pack the run again."
        ) from None


def _list(stream: BinaryIO, archive: Path) -> Packing:
    """The archive's first member."""
    foreign = DataError(f"{archive} is no packed run: give a file that `expbench runs pack` made.")
    content = read_head(stream, LIST_NAME, LIST_CAP, archive, foreign)
    try:
        packing = Packing.model_validate_json(content)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "top"
        raise DataError(
            f"{archive} has a list that this version cannot read (at {shown(where)}): unpack it with "
            "the version of expbench that packed it."
        ) from None
    check_list(packing, archive)
    return packing


def _name(packing: Packing, archive: Path) -> str:
    if not usable_name(packing.run):
        raise UserError(
            f"{archive} holds a run named {shown(packing.run)}, which is no folder's name: "
            "choose a folder with --out."
        )
    return packing.run


def _counted(packing: Packing) -> Iterator[tuple[int, PackedFile]]:
    """Every entry with the bytes of those before it."""
    done = 0
    for entry in packing.files:
        yield done, entry
        done += entry.size


def _check_run(folder: Path, packing: Packing, archive: Path) -> Manifest:
    """The run must open, and have all that its records name."""
    try:
        run = load(folder)
    except DataError as error:
        text = str(error).replace(f"{folder}/", "")
        raise DataError(f"{archive} holds a run that cannot be opened: {text}") from None
    attempts = len(run.manifest.tasks) * run.manifest.epochs
    if attempts > ATTEMPTS_CAP:
        raise DataError(f"{archive} is refused: it plans {attempts} attempts, over {ATTEMPTS_CAP}.")
    sizes = {file.name: file.size for file in packing.files}
    for blob in _named(folder, archive):
        if sizes.get(name_in_store(blob)) != blob.size:
            raise DataError(
                f"{archive} lacks the bytes {shown(blob.digest[:12])} that its journal names: pack "
                "the run again."
            )
    return run.manifest


def _named(folder: Path, archive: Path) -> Iterator[Blob]:
    try:
        yield from blobs_of_run(folder)
    except DataError as error:
        text = str(error).replace(f"{folder}/", "")
        raise DataError(f"{archive} holds a run that cannot be opened: {text}") from None


def _check_empty(root: Path) -> None:
    if root.is_symlink() or (root.exists() and (not root.is_dir() or any(root.iterdir()))):
        raise UserError(f"{root} is not empty: choose another folder with --out.")


@contextmanager
def _fresh_folder(root: Path, packing: Packing) -> Iterator[Path]:
    """A folder beside ``root`` that takes its place when the block ends well, and else is removed."""
    parents = [root.absolute().parent, *root.absolute().parent.parents]
    made = [parent for parent in parents if not parent.exists()]
    _check_room(next(parent for parent in parents if parent.exists()), packing)
    fresh = root.absolute().with_name(f".{root.absolute().name}.{secrets.token_hex(4)}.new")
    try:
        fresh.mkdir(parents=True)
    except OSError as error:
        raise PrerequisiteError(
            f"{root} cannot be written ({error.strerror}): choose another folder with --out."
        ) from None
    try:
        yield fresh
        _check_empty(root)
        fresh.rename(root)
        sync_folder(fresh.parent)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _check_room(place: Path, packing: Packing) -> None:
    need = sum(-(-file.size // 4096) * 4096 for file in packing.files) + _SPARE
    free = shutil.disk_usage(place).free
    if need > free:
        raise PrerequisiteError(
            f"The run has {packing.size // 1024**2} MiB and only {free // 1024**2} MiB are free at "
            f"{place}: free some space, or choose another place with --out."
        )
