"""Finding the reproduce script where agents leave it, and making it start on another machine.

Only what keeps a script from being started is mended: how its lines end, which program reads it, where its
author's copy of the repository lay. What it does is never changed, and every change is named.
"""

from __future__ import annotations

import codecs
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import dropwhile

from expbench.sandboxes.mounts import WORKSPACE
from expbench.workspace.submission.ignored import suffix

_SHELLS = frozenset(("sh", "bash", "dash", "ash", "rbash"))
_ENDINGS = (".txt", ".sh", ".bash", ".py")
_SYSTEM = frozenset(
    ("usr", "bin", "sbin", "lib", "lib32", "lib64", "etc", "dev", "proc", "sys", "run")
)
_ROOT_NAMES = frozenset(("workspace", "repo", "repository", "project"))
_PART = r"[\w.@+-]+"
_HOME = r"(?:~|\$HOME|\$\{HOME\})?"
_ABSOLUTE = re.compile(rf"(?<![\w./~$}})-]){_HOME}/{_PART}(?:/{_PART})*")
_ASSIGNED = re.compile(
    rf"^[ \t]*(?:(?:export|readonly|local)\s+)?(\w+)=[\"']?({_HOME}/{_PART}(?:/{_PART})*)/?[\"']?"
    r"\s*(?:$|[;#&])",
    re.MULTILINE,
)
_ENTERED = re.compile(
    rf"(?:\b(?:cd|pushd)\s+(?:--\s+)?|\bPYTHONPATH=)[\"']?({_HOME}/{_PART}(?:/{_PART})*)"
)
_MADE = re.compile(rf"\bmkdir\s+(?:-\S+\s+)*[\"']?({_HOME}/{_PART}(?:/{_PART})*)")
_MODULE = re.compile(r"(?:\s-m|\bfrom|\bimport)\s+([A-Za-z_]\w*(?:\.\w+)*)")
_HOMES = re.compile(r"(?:/home|/Users)/[^/]+|/root|/tmp|~|\$HOME|\$\{HOME\}")
"""Folders that are nobody's repository, but the place of many."""
_PROGRAMS = (".py", ".sh", ".bash", ".ipynb", ".r", ".jl")
_RELATIVE = re.compile(rf"(?<![\w./~$}}-]){_PART}(?:/{_PART})*")
_MOST_VARIABLES = 50
_SOURCE = frozenset(b".sh .bash .py .r .jl .pl .yaml .yml .toml .json .cfg .ini .txt .mk".split())


@dataclass(frozen=True)
class Tree:
    """The files of a workspace by path, and those that the patch added or changed."""

    files: frozenset[str]
    submitted: frozenset[str]

    @cached_property
    def folders(self) -> frozenset[str]:
        found: set[str] = set()
        for path in self.files:
            folder = path.rpartition("/")[0]
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    def __contains__(self, path: str) -> bool:
        return path in self.files or path in self.folders


@dataclass(frozen=True)
class Script:
    """A script as it is started: its path, the folder that it starts in, and what was mended.

    ``interpreter`` are the words before its path; ``content`` is there where its bytes have to be written.
    """

    path: str
    folder: str = ""
    interpreter: tuple[str, ...] = ("bash",)
    content: bytes | None = None
    adapted: tuple[str, ...] = field(default=())

    @property
    def command(self) -> list[str]:
        """The words that start it, in its folder."""
        name = self.path[len(self.folder) + 1 :] if self.folder else self.path
        return [*self.interpreter, name]


def find(name: str, tree: Tree) -> str:
    """The path of the script; empty where there is none.

    In this order: the name in the root; in the root but spelled otherwise (case, dashes, ending); the same in
    a folder, those higher up first. What the repository ships was not handed in.
    """
    if name in tree.submitted:
        return name
    alike = [path for path in tree.submitted if _alike(path.rpartition("/")[2], name)]
    return min(alike, key=lambda path: _distance(path, name), default="")


def _alike(name: str, wanted: str) -> bool:
    return _plain(name) == _plain(wanted)


def _plain(name: str) -> str:
    """A name without what agents vary: case, separators and endings."""
    name = name.lower()
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return re.sub(r"[^a-z0-9]", "", name)


def _distance(path: str, name: str) -> tuple[int, bool, bool, str]:
    own = path.rpartition("/")[2]
    return path.count("/"), own != name, not own.lower().endswith((".sh", ".bash")), path


def mend_text(content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A script's bytes as its interpreter can read them, and what was changed."""
    notes = []
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            text = content[len(mark) :].decode(encoding, "replace")
            content = text.encode("utf-8", "replace")
            notes.append("UTF-16 was made UTF-8")
    if content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
        notes.append("a byte order mark was taken away")
    if b"\r\n" in content:
        content = content.replace(b"\r\n", b"\n")
        notes.append("line ends CRLF were made LF")
    elif b"\r" in content and b"\n" not in content:
        content = content.replace(b"\r", b"\n")
        notes.append("line ends CR were made LF")
    return content, tuple(notes)


def shebang(content: bytes, path: str) -> tuple[str, ...]:
    """The interpreter that a script names, without ``env``; empty for a shell's or none at all."""
    first = content[:1000].partition(b"\n")[0]
    if not first.startswith(b"#!"):
        return ("python",) if path.endswith(".py") else ()
    try:
        words = shlex.split(first[2:].decode("utf-8", "replace"))
    except ValueError:
        return ()
    if words and words[0].rpartition("/")[2] == "env":
        words = list(dropwhile(lambda word: word.startswith("-") or "=" in word, words[1:]))
    if not words or words[0].rpartition("/")[2] in _SHELLS:
        return ()
    return tuple(words)


def choose_interpreter(
    wanted: tuple[str, ...], there: Callable[[str], bool]
) -> tuple[tuple[str, ...], str]:
    """The words that run a script, and what had to be changed for it.

    Args:
        there: whether the sandbox has a program, by name or path.
    """
    if not wanted:
        return ("bash",), ""
    program, *rest = wanted
    name = program.rpartition("/")[2]
    if there(program):
        return wanted, ""
    if there(name):
        return (name, *rest), f"{program} is not here: {name} runs it"
    return ("bash",), f"{program} is not here: bash runs it"


def starting_folder(path: str, content: bytes, tree: Tree) -> str:
    """The folder that a script in a subfolder starts in: where more of the files that it names are."""
    folder = path.rpartition("/")[0]
    if not folder:
        return ""
    names = set(_RELATIVE.findall(_text(content))) - {path.rpartition("/")[2]}
    in_root = sum(name.removeprefix("./") in tree for name in names)
    in_folder = sum(f"{folder}/{name.removeprefix('./')}" in tree for name in names)
    return folder if in_folder > in_root else ""


def foreign_roots(content: bytes, tree: Tree) -> list[str]:
    """Absolute paths in a script that clearly name the repository's root on another machine.

    A path does when what follows it names a file or folder of the repository that nothing else would be
    called, or when the script goes there and then to files or modules of the repository; the workspace that
    agents are told of always does. Where a path may be the repository or a folder of it, what the script then
    names decides. Whether a path exists here is not looked at.
    """
    text = _expanded(_text(content))
    named = {path for path in _ABSOLUTE.findall(text) if path.split("/")[1] not in _SYSTEM}
    entered = (set(_ENTERED.findall(text)) & named) - set(_MADE.findall(text))
    called = _called(text)
    roots = {path for path in entered if _is_root(path, called, tree)}
    inside: dict[str, set[str]] = {}
    for path in named - roots:
        parts = path.split("/")
        for place in range(2, len(parts)):
            if (rest := "/".join(parts[place:])) in tree:
                inside.setdefault("/".join(parts[:place]), set()).add(rest)
                break
    found = {root for root, rests in inside.items() if _is_clear(root, rests, named, entered, tree)}
    relative = any(name in tree for name in called)
    for path in entered - found:
        others = {each for each in named if each != path and not each.startswith(path + "/")}
        own_name = path.rpartition("/")[2] in _ROOT_NAMES
        if own_name or path in roots or (relative and not others):
            found.add(path)
    if any(path == WORKSPACE or path.startswith(WORKSPACE + "/") for path in named):
        found.add(WORKSPACE)
    return sorted(found, key=len, reverse=True)


def _expanded(text: str) -> str:
    """A script's text with the paths that it gives to variables in their places: ``cd "$REPO"``."""
    for name, path in _ASSIGNED.findall(text)[:_MOST_VARIABLES]:
        text = re.sub(rf"\$(?:{name}\b|\{{{name}\}})", path, text)
    return text


def _called(text: str) -> frozenset[str]:
    """What a script names by relative paths, and the files that its modules would be."""
    names = {name.removeprefix("./") for name in _RELATIVE.findall(text)}
    for module in _MODULE.findall(text):
        path = module.replace(".", "/")
        names |= {f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py"}
    return frozenset(names)


def _is_root(path: str, called: Collection[str], tree: Tree) -> bool:
    """Whether a folder that is gone to is the root, and not the folder of the repository of its name."""
    parts = path.split("/")
    in_root = sum(name in tree for name in called)
    for place in range(2, len(parts)):
        rest = "/".join(parts[place:])
        if rest in tree.folders:
            in_folder = sum(f"{rest}/{name}" in tree for name in called)
            above = _HOMES.fullmatch("/".join(parts[:place])) is not None
            return in_root > in_folder or (above and in_root == in_folder)
    return False


def _is_clear(
    root: str, rests: Collection[str], named: Collection[str], entered: Collection[str], tree: Tree
) -> bool:
    outer = root.rpartition("/")[0]
    program = any(rest.lower().endswith(_PROGRAMS) for rest in rests)
    return (
        len(rests) > 1
        or any("/" in rest for rest in rests)
        or root in named
        or root.rpartition("/")[2] in _ROOT_NAMES
        or (program and _HOMES.fullmatch(outer) is not None)
        or any(f"{root}/{rest}" in entered and rest in tree.folders for rest in rests)
    )


def replace_roots(content: bytes, roots: Iterable[str], workspace: str) -> bytes:
    """The bytes with these roots as the workspace; a longer name that begins alike is another one."""
    place = workspace.encode("utf-8", "surrogateescape")
    for root in roots:
        pattern = rf"(?<![\w./~}}$-]){re.escape(root)}(?![\w.@+-])".encode(
            "utf-8", "surrogateescape"
        )
        content = re.sub(pattern, place.replace(b"\\", rb"\\"), content)
    return content


def is_readable_source(path: str) -> bool:
    """Whether a submitted file is code or a setting that may hold its author's paths."""
    return suffix(os.fsencode(path)) in _SOURCE


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
