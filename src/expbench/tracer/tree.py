"""A repository's files, read safely: nothing outside it, nothing huge, any encoding, no link twice.

What is left out or read with a doubt is told in :attr:`Tree.notes`.
"""

from __future__ import annotations

import codecs
import fnmatch
import os
import posixpath
import re
import stat
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

MOST_FILES = 60_000
LARGEST = 3_000_000
"""Bytes above which a file is not read; notebooks hold pictures and may be ten times as large."""

_MOST_MATCHING, _MOST_WIDE = 60, 100
"""Files that a pattern may mean, and patterns that are looked for in the whole repository."""
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_SKIPPED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".venv"})


class Tree:
    """The files below a folder, by their paths relative to it (POSIX).

    Symbolic links to folders are not followed; those to files are files where they stay inside.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.notes: dict[str, None] = {}
        self.sizes: dict[str, int] = {}
        self._texts: dict[str, str | None] = {}
        self._wide = 0
        self._list()
        self.by_name: dict[str, list[str]] = defaultdict(list)
        self._inside: dict[str, list[str]] = defaultdict(list)
        for path in self.sizes:
            folder, name = posixpath.split(path)
            self.by_name[name].append(path)
            self._inside[folder].append(path)
        self.folders = frozenset(folder for path in self.sizes for folder in _parents(path))

    def note(self, text: str) -> None:
        """Say once what could not be followed or read."""
        self.notes.setdefault(text)

    def __contains__(self, path: object) -> bool:
        return path in self.sizes

    def _list(self) -> None:
        def unlisted(error: OSError) -> None:
            self.note(f"A folder could not be listed: {error.strerror}.")

        for folder, folders, names in os.walk(self.root, onerror=unlisted, followlinks=False):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            for name in sorted(names):
                if len(self.sizes) >= MOST_FILES:
                    self.note(
                        f"Only the first {MOST_FILES} files of the repository were looked at."
                    )
                    return
                self._add(Path(folder) / name)

    def _add(self, file: Path) -> None:
        path = file.relative_to(self.root).as_posix()
        try:
            path.encode()
            facts = file.lstat()
            if stat.S_ISLNK(facts.st_mode):
                if not file.resolve().is_relative_to(self.root):
                    self.note(f"{path} is a link that leads out of the repository.")
                    return
                facts = file.stat()
        except UnicodeEncodeError:
            self.note(f"A file whose name is no UTF-8 was left out: {path!r}.")
        except (OSError, RuntimeError):
            self.note(f"{path} is a link that leads nowhere or in circles.")
        else:
            if stat.S_ISREG(facts.st_mode):
                self.sizes[path] = facts.st_size

    def read(self, path: str) -> str | None:
        """The text of a file, with ``\\n`` as its only line ending; ``None`` where it is not to be read."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> str | None:
        size = self.sizes.get(path)
        if size is None:
            return None
        if size > LARGEST * (10 if path.endswith(".ipynb") else 1):
            self.note(f"{path} is too large to be read ({size} bytes).")
            return None
        try:
            content = (self.root / path).read_bytes()
        except OSError as error:
            self.note(f"{path} could not be read ({error.strerror}).")
            return None
        text = self._decode(path, content)
        return None if text is None else text.replace("\r\n", "\n").replace("\r", "\n")

    def _decode(self, path: str, content: bytes) -> str | None:
        for mark, encoding in (
            (codecs.BOM_UTF8, "utf-8-sig"),
            (b"\xff\xfe", "utf-16"),
            (b"\xfe\xff", "utf-16"),
        ):
            if content.startswith(mark):
                return content.decode(encoding, "replace")
        if b"\0" in content[:8192]:
            self.note(f"{path} is no text.")
            return None
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            encoding = _declared(content) or "latin-1"
            self.note(f"{path} is not UTF-8; it was read as {encoding}.")
            return content.decode(encoding, "replace")

    def resolve(self, name: str, folders: Iterable[str] = ("",)) -> str | None:
        """The file that a name means, seen from these folders; else the one file whose path ends so."""
        name = name.strip().removeprefix("file://")
        for prefix in ("/workspace/", "./"):
            name = name.removeprefix(prefix)
        if not name or len(name) > 400 or "\n" in name or "\0" in name:
            return None
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, name))
            if path in self.sizes:
                return path
        return self.ending(name)

    def matching(self, pattern: str, folders: Iterable[str] = ("",)) -> list[str]:
        """The files that a pattern means, seen from the first of these folders where there are any."""
        for folder in folders:
            whole = posixpath.normpath(posixpath.join(folder, pattern))
            inside = self.below(posixpath.dirname(whole))
            if "*" in posixpath.dirname(whole):
                self._wide += 1
                inside = list(self.sizes) if self._wide <= _MOST_WIDE else []
            if found := [path for path in inside if fnmatch.fnmatchcase(path, whole)]:
                return found[:_MOST_MATCHING]
        return []

    def ending(self, name: str, near: str = "") -> str | None:
        """The file whose path ends in ``name``; of several, the one that is nearest to ``near``."""
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        if not parts:
            return None
        tail = "/".join(parts)
        found = [p for p in self.by_name.get(parts[-1], ()) if p == tail or p.endswith("/" + tail)]
        if len(found) > 1 and not near:
            return None if len(parts) == 1 else min(found, key=lambda p: (p.count("/"), p))
        return max(
            found, key=lambda p: (len(posixpath.commonprefix([p, near])), -len(p), p), default=None
        )

    def below(self, folder: str, suffix: str = "") -> list[str]:
        """The files directly in a folder, by name."""
        return [path for path in self._inside.get(folder, ()) if path.endswith(suffix)]


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _declared(content: bytes) -> str | None:
    """The encoding that one of the first two lines declares, where Python knows it."""
    for line in content.split(b"\n", 2)[:2]:
        if match := _CODING.match(line):
            try:
                name = codecs.lookup(match[1].decode("ascii", "replace")).name
            except LookupError:
                return None
            return (
                name
                if name in _TEXTUAL or name.startswith(("iso8859", "cp", "koi8", "euc", "gb"))
                else None
            )
    return None


_TEXTUAL = frozenset({"latin-1", "utf-8", "ascii", "shift_jis", "big5", "gbk", "mac-roman"})
