"""What a command line starts: a script, a module, a notebook, a make target, through its launchers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expbench.tracer.tree import Tree

_RUNNABLE = (".py", ".sh", ".bash", ".ipynb", ".slurm", ".sbatch", ".pbs")
_SHELLS = frozenset({"bash", "sh", "zsh", "source", ".", "sbatch", "qsub", "ksh", "dash"})
_FLAG = re.compile(r"^--?[A-Za-z][\w./-]*$")
_LIBRARIES = frozenset(
    {"pip", "venv", "http", "torch", "accelerate", "pytest", "unittest", "ensurepip", "deepspeed"}
)


@dataclass(frozen=True)
class Started:
    """What a command starts: ``path`` with ``arguments``, or a make ``target`` of it."""

    path: str
    arguments: tuple[str, ...] = ()
    target: str = ""
    module: str = ""


def started(words: Sequence[str], tree: Tree, folders: Sequence[str]) -> list[Started]:
    """The repository's files that a command starts, seen from ``folders`` (its own first)."""
    if not words:
        return []
    name = posixpath.basename(words[0])
    if name in ("make", "gmake"):
        return _made(words[1:], tree, folders)
    if name in (
        "echo",
        "printf",
        "rm",
        "mkdir",
        "cp",
        "mv",
        "ls",
        "cat",
        "chmod",
        "touch",
        "grep",
        "git",
        "export",
        "sed",
        "vim",
        "nano",
        "cd",
    ):
        return []
    for place, word in enumerate(words):
        if word in ("-m", "--module", "-am") and place + 1 < len(words):
            if (path := module_path(words[place + 1], tree, folders)) is not None:
                return [Started(path, tuple(words[place + 2 :]), module=words[place + 1])]
            if words[place + 1].split(".")[0] in _LIBRARIES:
                continue
        if word == "-c" and place and place + 1 < len(words):
            inner = words[place + 1].split()
            return started(inner, tree, folders) if name in _SHELLS else []
        if word.endswith(_RUNNABLE) or name in _SHELLS:
            if word.startswith("-") and "=" in word:
                continue
            if "*" in word and (several := tree.matching(word, folders)):
                return [Started(each, tuple(words[place + 1 :])) for each in several]
            path = tree.resolve(word, folders)
            if path is not None and (place > 0 or "/" in word or word.endswith(_RUNNABLE)):
                return [Started(path, tuple(words[place + 1 :]))]
    if (path := tree.resolve(words[0], folders[:1])) is not None and "/" in words[0]:
        return [Started(path, tuple(words[1:]))]
    return _console(words, tree, folders)


def module_path(module: str, tree: Tree, folders: Sequence[str]) -> str | None:
    """The file of ``python -m module``."""
    if not re.fullmatch(r"[\w.]+", module):
        return None
    base = module.strip(".").removesuffix(".py").replace(".", "/")
    for ending in (f"{base}.py", f"{base}/__main__.py"):
        for folder in (*folders, "", "src"):
            if (path := posixpath.normpath(posixpath.join(folder, ending))) in tree:
                return path
    return tree.ending(f"{base}.py", folders[0] if folders else "") if "/" in base else None


def _made(words: Sequence[str], tree: Tree, folders: Sequence[str]) -> list[Started]:
    where, targets = list(folders[:1]) or [""], []
    for place, word in enumerate(words):
        if word == "-C" and place + 1 < len(words):
            where = [posixpath.normpath(posixpath.join(where[0], words[place + 1]))]
        elif (
            not word.startswith("-")
            and "=" not in word
            and words[place - 1] not in ("-C", "-f", "-j")
        ):
            targets.append(word)
    for name in ("Makefile", "makefile", "GNUmakefile"):
        path = posixpath.normpath(posixpath.join(where[0], name))
        if path in tree:
            return [Started(path, target=target) for target in targets or [""]]
    return []


def _console(words: Sequence[str], tree: Tree, folders: Sequence[str]) -> list[Started]:
    """A command that the repository's own package installs (``[project.scripts]``, ``console_scripts``)."""
    for place, word in enumerate(words[:3]):
        if not re.fullmatch(r"[a-z][\w-]{2,}", word):
            continue
        for file in ("pyproject.toml", "setup.cfg", "setup.py"):
            text = tree.read(file) if file in tree else None
            if text and (
                match := re.search(
                    rf"""["']?{re.escape(word)}["']?\s*=\s*["']?\s*([\w.]+):(\w+)""", text
                )
            ):
                path = module_path(match[1], tree, folders)
                if path is not None:
                    return [Started(path, tuple(words[place + 1 :]), module=match[1])]
    return []


def options(words: Sequence[str]) -> dict[str, str]:
    """A command line's options with their values (``--lr 0.1``, ``optim.lr=0.1``); a flag has ``true``."""
    found: dict[str, str] = {}
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        name, sign, value = word.partition("=")
        if _FLAG.match(name) and sign:
            found[name] = value
        elif _FLAG.match(word):
            values: list[str] = []
            while place < len(words) and not _FLAG.match(words[place]) and len(values) < 12:
                values.append(words[place])
                place += 1
            found[word] = " ".join(values) if values else "true"
        elif sign and re.fullmatch(r"[\w./@+~-]+", name):
            found[name] = value
    return found


def told(values: Mapping[str, str], most: int = 24) -> dict[str, str]:
    """Values cut to what a reader takes in."""
    return {key[:80]: value[:160] for key, value in list(values.items())[:most]}
