"""Results that came with a submission are not there when its script runs again.

Real agents leave ``results.json``, logs and figures beside their code. Where the patch added or changed such
a file it is taken away before the re-run; one that the repository shipped is as it was shipped.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from expbench.execution.outputs import digests
from expbench.execution.own_results import own_results
from expbench.sandboxes.host import other_owner
from expbench.schema import RESPONSE_NAME, Execution
from expbench.workspace import BlobStore, Prepared, View
from expbench.workspace.repository.blobs import BlobReader
from expbench.workspace.repository.tree import write_file
from expbench.workspace.submission.names import printable
from expbench.workspace.submission.nofollow import Folder

_MISSING = re.compile(
    r"no such file|not found|does not exist|doesn't exist|cannot open|can't open|could not open|missing|"
    r"\bENOENT\b|FileNotFound|no .{0,40}files?\b|nothing to",
    re.IGNORECASE,
)
_LOOKED_AT = 256 * 1024
"""Bytes of the end of an output in which a missing file is looked for."""
_QUOTED = 300
_READ = 1024**2
"""Bytes of the longest file whose content is looked at."""


@dataclass(frozen=True)
class Aside:
    """What was set aside: digests by path."""

    files: Mapping[bytes, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(map(printable, self.files)))

    @property
    def results(self) -> tuple[str, ...]:
        """The same without the response, which nearly every submission has."""
        return tuple(name for name in self.names if name != RESPONSE_NAME)


def set_aside(view: View, prepared: Prepared, paths: Iterable[bytes]) -> Aside:
    """Take the results among the submission's files out of a workspace that nothing runs in yet.

    Their folders stay, for a script may write there. Raises OSError.

    Args:
        paths: of the files that the patch added or changed.
    """
    with Folder(os.fsencode(view.files)) as folder:
        own = own_results(paths, partial(_small, folder))
    results = [path for path in own if _is_file(view, path)]
    found = digests(view, results)
    for path in results:
        _place(view, path).unlink()
    if view.kind != "overlay":
        _restore(view, prepared, set(results))
    return Aside({path: found.get(path, "") for path in results})


def _small(folder: Folder, path: bytes) -> bytes | None:
    """The bytes of a small regular file; ``None`` for any other."""
    with suppress(OSError), os.fdopen(folder.open(path), "rb") as file:
        content = file.read(_READ + 1)
        return content if len(content) <= _READ else None
    return None


def _is_file(view: View, path: bytes) -> bool:
    """Whether there is a regular file or a link; not a folder, which an overlay's patch may have hidden."""
    with suppress(OSError):
        mode = _place(view, path).lstat().st_mode
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
    return False


def _place(view: View, path: bytes) -> Path:
    return view.files / os.fsdecode(path)


def _restore(view: View, prepared: Prepared, paths: set[bytes]) -> None:
    """Write the repository's own files of these paths, which a copy has not below it."""
    shipped = [entry for entry in prepared.entries if entry.path in paths]
    if not shipped:
        return
    with BlobReader(prepared.git_dir) as blobs:
        for entry in shipped:
            target = _place(view, entry.path)
            content = blobs.read(entry.oid)
            made = {os.fsencode(target.parent)}
            write_file(os.fsencode(target), entry.mode, content, made, other_owner())


def missed(execution: Execution, aside: Aside, store: BlobStore) -> tuple[tuple[str, ...], str]:
    """The files set aside that a script complains of missing, and the line in which it does.

    A complaint that names none of them, though something is missing, stands with no names. Files that the
    script made itself are not missed.
    """
    if not aside.files:
        return (), ""
    made = {each.path for each in execution.made}
    names = [name for name in aside.names if name not in made]
    general = ""
    for blob in (execution.stderr, execution.stdout):
        text = store.text(blob)[-_LOOKED_AT:]
        lines = [line.strip() for line in text.splitlines() if _MISSING.search(line)]
        for line in reversed(lines):
            if found := tuple(name for name in names if _named(name, line)):
                return found, line[:_QUOTED]
        general = general or (lines[-1][:_QUOTED] if lines else "")
    return (), general


def _named(name: str, line: str) -> bool:
    """Whether a line names a file, by its path or by its name alone."""
    short = name.rpartition("/")[2]
    return re.search(rf"(?<![\w.-]){re.escape(short)}(?![\w-])", line) is not None
