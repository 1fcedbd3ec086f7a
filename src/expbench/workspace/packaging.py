"""READMEs that a package's build reads: a neutral stub takes the place of a removed one.

The root's READMEs, and what a task masks, are taken out of a workspace. A package whose metadata is
made from such a file cannot be installed any more, which would fail every task of its repository. So
the files that build a package are read, and never run: where one of them names a removed README as a
file to open, a sentence that says nothing about the repository stands there instead. A README that is
only listed (``MANIFEST.in``, ``package_data``) may be missing and gets none.
"""

from __future__ import annotations

import ast
import configparser
import fnmatch
import os
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from expbench.syntax import parse_python
from expbench.workspace.repository.tree import SUBMODULE, SYMLINK, Entry

STUB = b"The README of this repository is not part of the task.\n"
"""Plain text that is valid Markdown and reStructuredText as well."""

MOST_BYTES = 256 * 1024
"""Of a packaging file that is read."""
MOST_FILES = 200
"""Packaging files that are read, those nearest the root first."""

PACKAGING_NAMES = frozenset(
    [b"setup.py", b"setup.cfg", b"pyproject.toml", b"hatch_build.py", b"pdm_build.py"]
)

_README = re.compile(rb"readme([._-].*)?", re.IGNORECASE)
_QUOTED = re.compile(r"""["']([^"'\n]*readme[^"'\n]*)["']""", re.IGNORECASE)
_PLACE = re.compile(r"^(?:%s|\{[^{}]*\})?/+|^(?:\./)+")
"""What stands before a path inside its folder: ``{here}/README.md``, ``%s/README.md``, ``./``."""
_UPWARDS = re.compile(r"\.\.|\bparents?\b|dirname\([^()]*dirname\(")
_UNREAD_KEYWORDS = frozenset(
    [
        "classifiers",
        "description",
        "exclude",
        "exclude_package_data",
        "include",
        "keywords",
        "license_files",
        "long_description_content_type",
        "name",
        "package_data",
        "project_urls",
        "url",
    ]
)
_UNREAD_CALLS = frozenset(["debug", "error", "exit", "info", "print", "warn", "warning"])
_README_KEYS = frozenset(["readme", "description-file", "long-description-file"])
_MARKERS = (("start-after", "start-at"), ("end-before", "end-at"))

Read = Callable[[str], bytes]
"""A blob's content by its id."""


@dataclass(frozen=True)
class Stub:
    """A file that takes a removed README's place, and which packaging file reads it."""

    path: str
    content: bytes = field(repr=False)
    reason: str


@dataclass(frozen=True)
class _Named:
    """A file that a packaging file opens, as it names it.

    ``upwards`` says that the name may start from a folder above; ``around`` is what the reader looks
    for in the file, before and after the part that it takes.
    """

    name: str
    upwards: bool = False
    around: tuple[str, str] = ("", "")


def readme_stubs(
    entries: Sequence[Entry], removed: AbstractSet[bytes], read: Read
) -> tuple[Stub, ...]:
    """The stubs that a masked tree needs so that its packages still install.

    Args:
        entries: the whole tree, as it is before anything is taken out.
        removed: the paths that are taken out; those that are no READMEs never get a stub.

    Returns:
        One stub for each removed README that packaging reads, by path.
    """
    wanted = {path for path in removed if _README.fullmatch(path.rpartition(b"/")[2])}
    if not wanted:
        return ()
    tree = {entry.path: entry for entry in entries}
    kept = tree.keys() - removed
    found: dict[bytes, Stub] = {}
    for entry in packaging_files(entries):
        if entry.path not in kept:
            continue
        folder = posixpath.dirname(os.fsdecode(entry.path))
        for named in _opened(entry, tree, read):
            for path in _resolve(named, folder, wanted, kept):
                reason = f"{os.fsdecode(entry.path)} reads it"
                stub = Stub(os.fsdecode(path), _content(named.around), reason)
                if path not in found or len(stub.content) > len(found[path].content):
                    found[path] = stub
    return tuple(found[path] for path in sorted(found))


def packaging_files(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The regular files that build packages, those nearest the root first; bounded in size and number."""
    found = [
        entry
        for entry in entries
        if entry.path.rpartition(b"/")[2] in PACKAGING_NAMES and is_readable(entry)
    ]
    return tuple(sorted(found, key=lambda each: (each.path.count(b"/"), each.path))[:MOST_FILES])


def is_readable(entry: Entry) -> bool:
    """Whether an entry is a regular file of a size that is read."""
    return entry.mode not in (SYMLINK, SUBMODULE) and entry.size <= MOST_BYTES


def parsed_toml(content: bytes) -> dict[str, Any] | None:
    """A TOML file's tables, or None when it is none."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def parsed_python(content: bytes) -> ast.Module | None:
    """A module's syntax, or None when Python of today cannot read it."""
    try:
        return parse_python(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parsed_config(content: bytes) -> configparser.RawConfigParser | None:
    """A ``setup.cfg``, or None when it is none."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(content.decode("utf-8", "replace"))
    except configparser.Error:
        return None
    return parser


def _content(around: tuple[str, str]) -> bytes:
    before, after = (f"{part}\n".encode() if part else b"" for part in around)
    return before + STUB + after


def _resolve(
    named: _Named, folder: str, wanted: AbstractSet[bytes], kept: AbstractSet[bytes]
) -> Iterator[bytes]:
    """The wanted files that a name means when it is opened from ``folder``."""
    name = _PLACE.sub("", named.name.replace("\\", "/"))
    path = _inside(folder, name)
    if "*" in name:
        yield from (each for each in wanted if fnmatch.fnmatchcase(os.fsdecode(each), path))
    elif os.fsencode(path) in wanted:
        yield os.fsencode(path)
    elif named.upwards and os.fsencode(path) not in kept:
        while folder:
            folder = posixpath.dirname(folder)
            if (above := os.fsencode(_inside(folder, name))) in wanted:
                yield above
                return


def _inside(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name)) if name else ""


def _opened(entry: Entry, tree: Mapping[bytes, Entry], read: Read) -> Iterator[_Named]:
    """Every file that a packaging file opens, or may open, at a build."""
    content = read(entry.oid)
    name = entry.path.rpartition(b"/")[2]
    if name == b"pyproject.toml":
        yield from _opened_by_pyproject(content)
    elif name == b"setup.cfg":
        setup = tree.get(_beside(entry, b"setup.py"))
        pbr = setup is not None and is_readable(setup) and b"pbr" in read(setup.oid)
        yield from _opened_by_config(content, pbr)
    else:
        yield from _opened_by_python(content)
        for helper in _helpers(entry, content, tree):
            yield from _opened_by_python(read(helper.oid))


def _opened_by_pyproject(content: bytes) -> Iterator[_Named]:
    data = parsed_toml(content)
    if data is None:
        text = content.decode("utf-8", "replace")
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        yield from (_Named(name) for line in lines for name in _QUOTED.findall(line))
        return
    tables: list[dict[str, Any]] = [data]
    while tables:
        for key, value in tables.pop().items():
            yield from _opened_by_setting(key.lower().replace("_", "-"), value)
            if isinstance(value, dict):
                tables.append(value)
            elif isinstance(value, list):
                tables += [each for each in value if isinstance(each, dict)]


def _opened_by_setting(key: str, value: Any) -> Iterator[_Named]:
    if key in _README_KEYS:
        yield from map(_Named, _texts(value))
    elif key == "force-include" and isinstance(value, dict):
        yield from map(_Named, value)
    elif key == "data-files" and isinstance(value, dict):
        yield from (_Named(name) for names in value.values() for name in _texts(names))
    elif key == "fragments" and isinstance(value, list):
        for part in value:
            if isinstance(part, dict) and isinstance(part.get("path"), str):
                before, after = (
                    next((part[name] for name in names if isinstance(part.get(name), str)), "")
                    for names in _MARKERS
                )
                yield _Named(part["path"], around=(before, after))


def _texts(value: Any) -> Iterator[str]:
    """The file names of a setting: one, several, or a table that holds them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))
    elif isinstance(value, dict):
        yield from _texts(value.get("file"))


def _opened_by_config(content: bytes, pbr: bool) -> Iterator[_Named]:
    """The files of a ``setup.cfg``. Its ``description-file`` is opened by pbr and no tool else."""
    parser = parsed_config(content)
    if parser is None:
        return
    for section in parser.sections():
        for key, value in parser.items(section):
            option = key.replace("_", "-")
            if section == "options.data_files" or (pbr and option == "description-file"):
                yield from map(_Named, re.split(r"[\s,=]+", value))
            elif option == "long-description" and value.strip().startswith("file:"):
                yield from map(_Named, re.split(r"[\s,]+|file:", value))


def _opened_by_python(content: bytes) -> Iterator[_Named]:
    """The names that a build's code holds, except where they are compared, told or only listed."""
    text = content.decode("utf-8", "replace")
    upwards = _UPWARDS.search(text) is not None
    module = parsed_python(content)
    if module is None:
        lines = (line.partition("#")[0] for line in text.splitlines())
        yield from (_Named(name, upwards) for line in lines for name in _QUOTED.findall(line))
        return
    nodes: list[ast.AST] = [module]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and "\n" not in node.value:
                yield _Named(node.value, upwards)
        elif not _unread(node):
            nodes += ast.iter_child_nodes(node)


def _unread(node: ast.AST) -> bool:
    """Whether a text below this node is surely no file that is opened."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        return _called(node) in _UNREAD_CALLS
    if isinstance(node, ast.keyword):
        literal = node.arg == "long_description" and isinstance(node.value, ast.Constant)
        return literal or node.arg in _UNREAD_KEYWORDS
    return isinstance(node, ast.Compare) and all(
        isinstance(each, ast.Constant | ast.Name) for each in (node.left, *node.comparators)
    )


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _helpers(entry: Entry, content: bytes, tree: Mapping[bytes, Entry]) -> Iterator[Entry]:
    """The modules beside a packaging file that it imports."""
    module = parsed_python(content)
    if module is None:
        return
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    for name in sorted(names):
        helper = tree.get(_beside(entry, os.fsencode(f"{name.replace('.', '/')}.py")))
        if helper is not None and is_readable(helper):
            yield helper


def _beside(entry: Entry, name: bytes) -> bytes:
    folder = entry.path.rpartition(b"/")[0]
    return folder + b"/" + name if folder else name
