"""What a tree's builds ask git for their version, and the variables that answer them without history.

Packages take their version from git by a tool, or by a command of their own. A workspace's tag answers
most of them (:mod:`expbench.workspace.repository.described`); tools that look at a variable first are
given the version there, because the distance from the tag is lost in one commit.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from expbench.workspace.packaging import (
    PACKAGING_NAMES,
    Read,
    is_readable,
    packaging_files,
    parsed_config,
    parsed_python,
    parsed_toml,
)
from expbench.workspace.repository.described import UNKNOWN_VERSION, Described
from expbench.workspace.repository.tree import Entry

MOST_VERSION_FILES = 200
"""Files besides packaging that are read for questions to git, those nearest the root first."""
GENERAL_SCM = "SETUPTOOLS_SCM_PRETEND_VERSION"
_VARIABLES: Mapping[str, str | None] = {
    "setuptools_scm": GENERAL_SCM,
    # It calls setuptools_scm without the distribution's name, so the variable of one is not read.
    "hatch-vcs": GENERAL_SCM,
    "pbr": "PBR_VERSION",
    "pdm-backend": "PDM_BUILD_SCM_VERSION",
    "poetry-dynamic-versioning": "POETRY_DYNAMIC_VERSIONING_BYPASS",
    "uv-dynamic-versioning": "UV_DYNAMIC_VERSIONING_BYPASS",
    # These read no variable: the tag answers them.
    "versioneer": None,
    "dunamai": None,
    "versioningit": None,
    "setuptools-git-versioning": None,
    "git describe": None,
    "git rev-parse": None,
}
_PARSERS = _VARIABLES.keys() - {"git describe", "git rev-parse"}
_GIT = r"(?i:\bgit(?:_executable\})?)[\s\"',.]+(?:-C[\s\"',]+[^\s\"',]+[\s\"',]+)?"
_MARKS: Mapping[str, re.Pattern[str]] = {
    tool: re.compile(pattern, re.MULTILINE)
    for tool, pattern in {
        "setuptools_scm": r"\b(?:setuptools|flit)[_-]scm\b|\buse_scm_version\b|\bvcs[_-]versioning\b",
        "hatch-vcs": r"\bhatch[_-]vcs\b",
        "pbr": r"\bpbr\s*=\s*True\b|[\"']pbr(?=[\"' <>=~!.\[])|^\s*pbr\s*(?:[<>=~!][^=].*)?$",
        "pdm-backend": r"\bsource\s*=\s*[\"']scm[\"']|\buse_scm\s*=\s*true\b",
        "poetry-dynamic-versioning": r"\bpoetry-dynamic-versioning\b",
        "uv-dynamic-versioning": r"\buv-dynamic-versioning\b",
        "versioneer": r"\bversioneer\b",
        "dunamai": r"\bdunamai\b",
        "versioningit": r"\bversioningit\b",
        "setuptools-git-versioning": r"\bsetuptools[_-]git[_-]versioning\b",
        "git describe": rf"{_GIT}describe\b",
        "git rev-parse": rf"{_GIT}rev-parse\b",
    }.items()
}
_VERSION_NAMES = frozenset(
    [b"version.py", b"_version.py", b"__version__.py", b"__about__.py", b"versioneer.py"]
)


@dataclass(frozen=True)
class Asks:
    """A file that asks git for its version, and by which tool."""

    tool: str
    path: bytes


def version_tools(entries: Iterable[Entry], read: Read) -> tuple[Asks, ...]:
    """Every file of a tree that asks git for a version, as far as packaging and version files say so."""
    every = tuple(entries)
    packaging = packaging_files(every)
    others = [each for each in every if _is_version_file(each.path) and is_readable(each)]
    others.sort(key=lambda each: (each.path.count(b"/"), each.path))
    found = []
    for entry in (*packaging, *others[:MOST_VERSION_FILES]):
        text = read(entry.oid).decode("utf-8", "replace")
        found += [Asks(tool, entry.path) for tool, mark in _MARKS.items() if mark.search(text)]
    return tuple(found)


def asks_for_tag(entries: Iterable[Entry], read: Read) -> bool:
    """Whether a tree asks git for more than the commit's id, which any repository knows."""
    return any(asks.tool != "git rev-parse" for asks in version_tools(entries, read))


def takes_tags_apart(entries: Iterable[Entry], read: Read) -> bool:
    """Whether a tool of the tree reads a version out of a tag's name, if only to compare it."""
    return any(asks.tool in _PARSERS for asks in version_tools(entries, read))


def pretend_variables(
    entries: Sequence[Entry], read: Read, described: Described | None
) -> dict[str, str]:
    """The environment variables that make a tree's builds know their version without history.

    Only those of the tools that the tree uses. setuptools_scm's is the one of the distribution where its
    name can be read: the general one would give this version to every other package that an agent
    builds. Without an answer of git, the version is :data:`UNKNOWN_VERSION`.
    """
    version = described.version if described else UNKNOWN_VERSION
    found: dict[str, str] = {}
    for asks in version_tools(entries, read):
        folder, _, name = asks.path.rpartition(b"/")
        variable = _VARIABLES[asks.tool]
        if variable is None or name not in PACKAGING_NAMES:
            continue
        if asks.tool == "setuptools_scm":
            distribution = _distribution(entries, folder, read)
            variable = _scm_variable(distribution) if distribution else variable
        found[variable] = version
    return dict(sorted(found.items()))


def _is_version_file(path: bytes) -> bool:
    folder, _, name = path.rpartition(b"/")
    if name in _VERSION_NAMES:
        return True
    if name == b"__init__.py":
        return folder.removeprefix(b"src/").count(b"/") == 0
    return path == b"CMakeLists.txt"


def _scm_variable(distribution: str) -> str:
    return f"{GENERAL_SCM}_FOR_{re.sub(r'[-_.]+', '_', distribution).upper()}"


def _distribution(entries: Sequence[Entry], folder: bytes, read: Read) -> str | None:
    """The name of the distribution that is built in a folder, where its files state it."""
    here = {
        entry.path.rpartition(b"/")[2]: entry
        for entry in packaging_files(entries)
        if entry.path.rpartition(b"/")[0] == folder
    }
    for file, name_of in (
        (b"pyproject.toml", _name_in_pyproject),
        (b"setup.cfg", _name_in_config),
        (b"setup.py", _name_in_setup),
    ):
        if file in here and (name := name_of(read(here[file].oid))):
            return name if re.fullmatch(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", name, re.A) else None
    return None


def _name_in_pyproject(content: bytes) -> str | None:
    data = parsed_toml(content) or {}
    project = data.get("project")
    name = project.get("name") if isinstance(project, dict) else None
    return name if isinstance(name, str) else None


def _name_in_config(content: bytes) -> str | None:
    parser = parsed_config(content)
    return parser.get("metadata", "name", fallback=None) if parser else None


def _name_in_setup(content: bytes) -> str | None:
    """The text given to ``setup(name=...)``, also by a name of the module."""
    module = parsed_python(content)
    if module is None:
        return None
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called == "setup":
                for keyword in node.keywords:
                    value = keyword.value
                    if isinstance(value, ast.Name):
                        value = constants.get(value.id, value)
                    if keyword.arg == "name" and isinstance(value, ast.Constant):
                        return value.value if isinstance(value.value, str) else None
    return None
