"""The files that a re-run made or changed, found by comparing the workspace before and after.

Links are never followed, nothing that is no regular file is read, and what is read and kept is bounded:
a script may have made a million files. Caches and virtual environments are no outputs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from expbench.schema import MadeFile
from expbench.workspace import BlobStore, Prepared, View
from expbench.workspace.repository.tree import Entry
from expbench.workspace.submission.ignored import file_reason, folder_reason, suffix
from expbench.workspace.submission.names import printable
from expbench.workspace.submission.nofollow import Folder, listed
from expbench.workspace.submission.outputs import looks_like_result

LISTED = 1000
"""Made files that are listed; more are counted."""
ENTRIES = 2_000_000
"""Files and folders that are looked at."""
HASHED = 2 * 1024**3
"""Bytes that are read for digests, of all files together."""
TEXT_KEPT = 256 * 1024
PICTURE_KEPT = 1024**2
KEPT = 32 * 1024**2
"""Bytes of contents that are kept, of one text, one picture and all files together."""
KEPT_FILES = 200
"""Files whose contents are kept."""

_PICTURES = frozenset(b".png .jpg .jpeg .gif .webp .bmp .svg .pdf".split())
_CHUNK = 1 << 20

Facts = tuple[int, int, int, int]


@dataclass(frozen=True)
class Before:
    """A workspace as it was before the script: facts of its files, and digests of those handed in.

    ``own`` are folders of the harness's in it; ``known`` are digests by path of files that are no outputs
    while they have them, ``aside`` of those that were set aside.
    """

    files: Mapping[bytes, Facts]
    known: Mapping[bytes, str] = field(default_factory=dict)
    aside: Mapping[bytes, str] = field(default_factory=dict)
    own: frozenset[bytes] = frozenset()
    since: Callable[[float], float | None] = lambda _: None
    """Seconds from the script's begin to a moment in its time."""


@dataclass(frozen=True)
class Made:
    """The files that were made, the likeliest results first, and how many more there are."""

    files: tuple[MadeFile, ...] = ()
    more: int = 0


def facts_of(view: View, skipped: frozenset[bytes] = frozenset()) -> dict[bytes, Facts]:
    """Inode, change time, modification time and size of every regular file of a view by its path.

    Of an overlay only what was made or changed is there. The root's ``.git`` is passed over.
    """
    return dict(_walk(os.fsencode(view.files.resolve()), skipped | {b".git"}))


def digests(view: View, paths: Iterable[bytes]) -> dict[bytes, str]:
    """sha256 of the regular files of these paths; what cannot be read is left out."""
    found = {}
    with Folder(os.fsencode(view.files)) as folder:
        for path in paths:
            with suppress(OSError):
                found[path] = _digest(folder, path, "sha256")
    return found


def made_files(
    view: View,
    prepared: Prepared,
    before: Before,
    store: BlobStore,
    writers: Mapping[str, str] | None = None,
) -> Made:
    """What the script made or changed. No process may run in the workspace any more."""
    writers = writers or {}
    after = facts_of(view, before.own)
    touched = {path: facts for path, facts in after.items() if before.files.get(path) != facts}
    base = {e.path: e for e in prepared.entries if e.path in touched}
    found: list[MadeFile] = []
    budget = _Budget()
    more = 0
    with Folder(os.fsencode(view.files)) as folder:
        for path in sorted(touched, key=lambda each: _rank(each, touched[each][3])):
            size = touched[path][3]
            if len(found) >= LISTED:
                more += 1
            elif not _unchanged(folder, path, size, base.get(path), before, budget):
                made = _made(folder, path, size, store, budget)
                digest = before.aside.get(path, "")
                update = {
                    "submitted": path in before.aside,
                    "same": bool(digest) and digest == made.digest,
                    "writer": writers.get(made.path, ""),
                    "written": before.since(touched[path][2] / 1e9),
                }
                found.append(made.model_copy(update=update))
    return Made(tuple(found), more)


@dataclass
class _Budget:
    """How many bytes may still be read, and kept."""

    read: int = HASHED
    keep: int = KEPT
    files: int = KEPT_FILES


def _rank(path: bytes, size: int) -> tuple[bool, bool, int, bytes]:
    """Results first, and small files before large ones."""
    return not looks_like_result(path), size > PICTURE_KEPT, size, path


def _unchanged(
    folder: Folder, path: bytes, size: int, base: Entry | None, before: Before, budget: _Budget
) -> bool:
    """Whether a file that was written has the bytes that it had, of the repository's or the patch's."""
    known = before.known.get(path)
    comparable = known is not None or (base is not None and base.size == size)
    if not comparable or path in before.aside or size > budget.read:
        return False
    budget.read -= size
    try:
        if known is not None:
            return _digest(folder, path, "sha256") == known
        return base is not None and _digest(folder, path, "sha1", b"blob %d\0" % size) == base.oid
    except OSError:
        return False


def _made(folder: Folder, path: bytes, size: int, store: BlobStore, budget: _Budget) -> MadeFile:
    name = printable(path)
    if size > budget.read:
        return MadeFile(path=name, size=size)
    budget.read -= size
    try:
        content = _kept(folder, path, size, budget.keep if budget.files else 0)
        if content is None:
            return MadeFile(path=name, size=size, digest=_digest(folder, path, "sha256"))
    except OSError:
        return MadeFile(path=name, size=size)
    budget.keep -= len(content)
    budget.files -= 1
    blob = store.put(content)
    return MadeFile(path=name, size=len(content), digest=blob.digest, content=blob)


def _kept(folder: Folder, path: bytes, size: int, room: int) -> bytes | None:
    """The bytes of a small text or picture; ``None`` for any other file. Raises OSError."""
    picture = suffix(path) in _PICTURES
    cap = PICTURE_KEPT if picture else TEXT_KEPT
    if not 0 < size <= min(cap, room):
        return None
    with os.fdopen(folder.open(path), "rb") as file:
        content = file.read(cap + 1)
    if len(content) > cap:
        return None
    return content if picture or _is_text(content) else None


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError as error:
        # One byte in fifty may be of another encoding.
        bad = content.decode(errors="replace").count("\ufffd")
        return error.start > 0 and bad * 50 < len(content)
    return True


def _digest(folder: Folder, path: bytes, kind: str, head: bytes = b"") -> str:
    digest = hashlib.new(kind, head, usedforsecurity=False)
    with os.fdopen(folder.open(path), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _walk(root: bytes, skipped: frozenset[bytes]) -> Iterator[tuple[bytes, Facts]]:
    """Every regular file that is no cache, with its facts; folders that cannot be read are passed over."""
    pending, looked = [b""], 0
    while pending:
        folder = pending.pop()
        prefix = folder + b"/" if folder else b""
        with suppress(OSError), listed(root + b"/" + folder if folder else root) as listing:
            for entry in listing:
                looked += 1
                if looked > ENTRIES:
                    return
                path = prefix + entry.name
                if path in skipped:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if not folder_reason(entry.name, entry.path):
                        pending.append(path)
                    continue
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode) and file_reason(path, 0) != "cache":
                        yield path, _facts(status)


def _facts(status: os.stat_result) -> Facts:
    return status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size
