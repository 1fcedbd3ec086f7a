"""Files that declare an environment, read without running anything.

``setup.py`` is parsed as syntax only. The conda and Docker readers know the few lines that matter here;
whatever they do not understand they leave out, and the checks then name the imports that nothing brings.
"""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from expbench.dataset.distributions import canonical
from expbench.syntax import parse_python

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?\s*(.*)", re.S)
_DOCKER_PYTHON = re.compile(r"^FROM\s+(?:\S+/)?python:(\d\.\d+)", re.M | re.I)
_APT = re.compile(r"apt(?:-get)?\s+(?:-\S+\s+)*install\s+([^&|;]+)")
_DECLARING = re.compile(
    r"requirements[\w.-]*\.txt|setup\.(?:py|cfg)|pyproject\.toml|environment[\w.-]*\.ya?ml"
    r"|Dockerfile[\w.-]*|\.python-version|packages\.txt"
)


@dataclass(frozen=True)
class Package:
    """A distribution with its version specifier, ``==1.2`` or empty, and the file that asks for it.

    ``extras`` are the optional parts of it that are asked for too, as ``[a,b]`` or empty.
    """

    name: str
    specifier: str
    file: str
    extras: str = ""

    @property
    def pinned(self) -> str:
        """The exact version, or an empty string."""
        match = re.fullmatch(r"===?\s*([\w.+!]+)", self.specifier)
        return match.group(1) if match else ""

    def __str__(self) -> str:
        return f"{self.name}{self.extras}{self.specifier}"


@dataclass
class Declared:
    """What one or more files say."""

    packages: list[Package] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    python: list[tuple[str, str]] = field(default_factory=list)
    """(specifier, file)"""
    base_image: str = ""
    unread: list[str] = field(default_factory=list)


def declares(path: str) -> bool:
    """Whether a file by its name declares an environment."""
    return _DECLARING.fullmatch(PurePosixPath(path).name) is not None


def read_declared(path: str, text: str, into: Declared) -> None:
    """Add what one file declares. A file that does not parse is listed in ``unread``."""
    name = PurePosixPath(path).name
    try:
        if name.endswith(".txt"):
            into.packages += requirement_lines(text.splitlines(), path)
        elif name == "pyproject.toml":
            _pyproject(tomllib.loads(text), path, into)
        elif name == "setup.cfg":
            _setup_cfg(text, path, into)
        elif name == "setup.py":
            _setup_py(text, path, into)
        elif name.startswith("Dockerfile"):
            _dockerfile(text, path, into)
        elif name == ".python-version":
            into.python.append((f"=={text.strip()}", path))
        else:
            _conda(text, path, into)
    except (ValueError, SyntaxError, RecursionError, configparser.Error, AttributeError, TypeError):
        into.unread.append(path)


def requirement_lines(lines: Any, path: str) -> Iterator[Package]:
    """Packages of requirement lines; options, addresses and other files' names are no packages."""
    for raw in lines:
        line = re.split(r"\s#|^#", str(raw))[0].partition(";")[0].strip()
        line = line.partition(" @ ")[0] if " @ " in line else line
        if not line or line.startswith(("-", "git+", "http", ".", "/")) or "://" in line:
            continue
        match = _NAME.fullmatch(line)
        if match and canonical(match[1]) != "python":
            specifier = "" if line != raw and " @ " in str(raw) else match[3].strip("() ")
            specifier = re.sub(r"\s+", "", specifier.partition(" --")[0])
            if re.match(r"=[^=]", specifier):
                specifier = f"={specifier}"
            known = specifier if specifier[:1] in "<>=!~" else ""
            extras = _extras((match[2] or "").strip("[]").split(","))
            yield Package(canonical(match[1]), known, path, extras)


def _extras(names: Iterable[Any]) -> str:
    """Names of extras in their usual form and order, ``[a,b]``; what is no name is left out."""
    texts = (str(name).strip() for name in names)
    found = {canonical(text) for text in texts if re.fullmatch(r"[A-Za-z0-9][\w.-]*", text)}
    return f"[{','.join(sorted(found))}]" if found else ""


def _pyproject(content: dict[str, Any], path: str, into: Declared) -> None:
    project = content.get("project", {})
    into.packages += requirement_lines(project.get("dependencies", ()), path)
    if wanted := project.get("requires-python"):
        into.python.append((str(wanted), path))
    poetry = content.get("tool", {}).get("poetry", {}).get("dependencies", {})
    for name, value in poetry.items():
        version = value if isinstance(value, str) else str(value.get("version", ""))
        specifier = _caret(version)
        if name == "python":
            into.python.append((specifier, path))
        else:
            extras = _extras(value.get("extras") or ()) if isinstance(value, dict) else ""
            into.packages.append(Package(canonical(name), specifier, path, extras))


def _caret(version: str) -> str:
    """Poetry's ``^1.2`` as ``>=1.2,<2``; a bare version is exact."""
    if version.startswith("^"):
        major = version[1:].partition(".")[0]
        return f">={version[1:]},<{int(major) + 1}"
    return f"=={version}" if version[:1].isdigit() else version.replace("*", "")


def _setup_cfg(text: str, path: str, into: Declared) -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    wanted = parser.get("options", "install_requires", fallback="")
    into.packages += requirement_lines(wanted.splitlines(), path)
    if python := parser.get("options", "python_requires", fallback=""):
        into.python.append((python.strip(), path))


def _setup_py(text: str, path: str, into: Declared) -> None:
    tree = parse_python(text)
    values = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node).rpartition(".")[2] == "setup":
            for keyword in node.keywords:
                value = keyword.value
                if isinstance(value, ast.Name):
                    value = values.get(value.id, value)
                if keyword.arg == "install_requires":
                    into.packages += requirement_lines(_strings(value), path)
                elif keyword.arg == "python_requires":
                    into.python += [(text, path) for text in _strings(value)]


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""


def _strings(node: ast.expr) -> list[str]:
    found = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    return [
        part.value
        for part in found
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def _dockerfile(text: str, path: str, into: Declared) -> None:
    joined = text.replace("\\\n", " ")
    if match := _DOCKER_PYTHON.search(joined):
        into.python.append((f"=={match.group(1)}.*", path))
    images = re.findall(r"^FROM\s+(\S+)", joined, re.M | re.I)
    into.base_image = into.base_image or (images[-1] if images else "")
    for words in _APT.findall(joined):
        names = (re.split(r"[=:]", word)[0] for word in words.split() if not word.startswith("-"))
        into.system += [name for name in names if re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", name)]


def _conda(text: str, path: str, into: Declared) -> None:
    """``- name=1.2=build`` lines; what stands below ``- pip:`` are requirement lines."""
    inside = pip = False
    for line in text.splitlines():
        if re.match(r"\S", line) and not line.startswith("-"):
            inside = line.startswith("dependencies:")
            continue
        entry = re.match(r"\s*-\s+(.+?)\s*$", line)
        if not inside or not entry:
            continue
        item = entry[1].strip("'\"")
        if item == "pip:":
            pip = True
        elif pip:
            into.packages += requirement_lines([item], path)
        else:
            _conda_item(item.rpartition("::")[2], path, into)


def _conda_item(item: str, path: str, into: Declared) -> None:
    match = re.match(r"([\w.-]+)\s*(?:([<>=!~]=?)\s*([\w.*]+))?", item)
    if not match:
        return
    name, operator, version = match[1], match[2] or "", match[3] or ""
    specifier = f"{'==' if operator == '=' else operator}{version}" if version else ""
    if name == "python":
        exact = operator in ("=", "==") and version.count(".") == 1 and "*" not in version
        into.python.append((f"=={version}.*" if exact else specifier, path))
    elif not name.startswith(("_", "lib", "ld_")):
        into.packages.append(
            Package(canonical({"pytorch": "torch"}.get(name, name)), specifier, path)
        )
