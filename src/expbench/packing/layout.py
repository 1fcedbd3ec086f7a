"""What a packed run looks like, for the one who writes it and the one who reads it.

A gzipped tar. Its first member is ``PACKING.json``, a :class:`Packing`: the list of all other members
with their sizes and digests, in the order in which they follow. Every member is a regular file; names
are those of a run's folder (:mod:`expbench.paths`) and no others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from expbench.errors import DataError
from expbench.runs import Entry, Manifest
from expbench.schema import Blob, Record

LIST_NAME = "PACKING.json"
SUFFIX = ".tar.gz"
CHUNK = 1 << 20
LIST_CAP = 32 * 1024**2
"""Bytes of the list: over a hundred thousand files."""
ATTEMPTS_CAP = 1_000_000
"""Planned attempts of one run; the largest suite with a thousand epochs has half of it."""

_MANIFEST_CAP = 16 * 1024**2
_TEXT_CAP = 1024**3
AGAIN = ("judged", "executed", "reproduced")
"""Folders of what was done once more with a run's submissions."""
_NAME = re.compile(
    rf"(?:(?:{'|'.join(AGAIN)})/[A-Za-z0-9][A-Za-z0-9._+-]{{0,150}}/)?"
    r"(?:manifest\.json|journal\.jsonl|outcomes\.jsonl|ledger\.jsonl|prices\.json"
    r"|failures-coding\.jsonl"
    r"|(?:report|failures)/[A-Za-z0-9][A-Za-z0-9._-]{0,80}\.(?:html|md|csv|json|tex))"
    r"|reviews/[A-Za-z0-9][A-Za-z0-9._-]{0,80}\.jsonl"
    r"|logs/[A-Za-z0-9][A-Za-z0-9._+-]{0,85}\.eval"
    r"|store/[0-9a-f]{2}/[0-9a-f]{62}"
)
_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_OPTIONS = {"data": "--data", "repos": "--repos"}

Step = Callable[[int, int], None]
"""Told of progress: bytes done, and bytes in all."""


def quiet(done: int, total: int) -> None:
    """Tells nobody."""


def further(step: Step, done: int, total: int) -> Callable[[int], None]:
    """Takes the bytes of one file so far, and tells ``step`` of those of all."""
    return lambda read: step(done + read, total)


class PackedFile(Record):
    """One member: its name in the run's folder, its size in bytes, its digest."""

    name: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Packing(Record):
    """The list at an archive's beginning. ``expbench`` is the version that packed the run ``run``."""

    format: Literal[1] = 1
    expbench: str
    run: str
    files: tuple[PackedFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Folder:
    """A folder of the machine where a run was made, which a resumption uses.

    ``option`` replaces it and is empty when nothing does; ``here`` says whether this machine has it.
    """

    name: str
    path: str
    option: str
    here: bool


def known(name: str) -> bool:
    """Whether a run's folder may hold a file of that name."""
    return _NAME.fullmatch(name) is not None


def usable_name(run: str) -> bool:
    """Whether a run's name can be a folder's without a second thought."""
    return _RUN_NAME.fullmatch(run) is not None


def check_list(packing: Packing, where: Path) -> None:
    """Refuse a list that no run has. Raises DataError with the reason."""
    seen: set[str] = set()
    for file in packing.files:
        if why := _fault(file, seen):
            raise DataError(f"{where} is refused: {shown(file.name)} {why}.")
        seen.add(file.name)
    if "manifest.json" not in seen:
        raise DataError(f"{where} is refused: it holds no manifest.json.")


def _fault(file: PackedFile, seen: set[str]) -> str:
    if why := misplaced(file.name):
        return why
    if file.name in seen:
        return "stands in it twice"
    if file.name.startswith("store/") and file.sha256 != digest_in(file.name):
        return "has a name that is not its digest"
    cap = _MANIFEST_CAP if file.name == "manifest.json" else _TEXT_CAP
    if not file.name.startswith(("store/", "logs/")) and file.size > cap:
        return f"has {file.size} bytes, and no run has over {cap} there"
    return ""


def misplaced(name: str) -> str:
    """Why a member's name is no name of a run's file; empty when it is one."""
    if name.startswith("/"):
        return "is an absolute name"
    if ".." in name.split("/"):
        return "leads out of the run's folder"
    return "" if known(name) else "is no file of a run"


def shown(name: str) -> str:
    """A stranger's name, short and without control characters."""
    return repr(name if len(name) <= 80 else f"{name[:79]}…")


def name_in_store(blob: Blob) -> str:
    """A blob's name in the run's folder."""
    return f"store/{blob.digest[:2]}/{blob.digest[2:]}"


def digest_in(name: str) -> str:
    """The digest that a name in the store says."""
    return name.removeprefix("store/").replace("/", "")


def blobs_of_journal(journal: Path) -> Iterator[Blob]:
    """Every blob that a journal names, in its order; a line that a kill cut short is no line."""
    if not journal.exists():
        return
    with journal.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield from blobs_in(Entry.model_validate_json(line))


def blobs_of_run(root: Path) -> Iterator[Blob]:
    """Every blob that a run's journal names, or one of its other judgings and executions.

    Raises:
        DataError: a journal is damaged.
    """
    again = sorted(journal for name in AGAIN for journal in root.glob(f"{name}/*/journal.jsonl"))
    for journal in (root / "journal.jsonl", *again):
        try:
            yield from blobs_of_journal(journal)
        except ValidationError:
            raise DataError(f"{journal} is damaged: restore the file.") from None


def blobs_in(value: object) -> Iterator[Blob]:
    """Every blob that a record names."""
    if isinstance(value, Blob):
        yield value
    elif isinstance(value, BaseModel):
        for _, part in value:
            yield from blobs_in(part)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from blobs_in(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from blobs_in(part)


def folders_of(manifest: Manifest) -> tuple[Folder, ...]:
    """The folders of the run's machine that a resumption would use on this one."""
    return tuple(
        Folder(name, path, _OPTIONS.get(name, ""), Path(path).is_dir())
        for name, path in sorted(manifest.options.items())
    )
