"""Which files are taken out: those that give the answer away, and never the library that they stand on."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from expbench.dataset.recipe import Files
from expbench.syntax import parse_python

SHARE = 0.5
"""The most of a repository's lines of code that a mask may take."""
_MOST_PROPOSED = 40
_CODE = frozenset(
    (
        *(".py", ".sh", ".bash", ".ipynb", ".r", ".jl", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp"),
        *(".go", ".rs", ".java", ".js", ".ts", ".m", ".lua", ".pl", ".scala"),
    )
)


@dataclass(frozen=True)
class Mask:
    """The chosen files, the share of the code's lines that they are, and what was left in and why."""

    paths: tuple[str, ...]
    share: float
    notes: tuple[str, ...] = ()
    refused: str = ""


def choose_mask(
    files: Files,
    source: Sequence[str],
    commands: Sequence[str],
    proposed: Sequence[str],
    bound: float = SHARE,
) -> Mask:
    """What of the chain is masked.

    The programs that the commands name and their configurations always are; of the other files those that
    the trace proposes, the surest first, as long as the library stays.

    Args:
        source: the chain's files.
        proposed: what the trace takes for giving the answer away, the surest first.
    """
    told = "\n".join(commands)
    first = [
        path
        for path in source
        if path in files.paths and (_is_named(path, told) or not is_code(path) or path in proposed)
    ]
    code = {path: _lines(files, path) for path in files.paths if is_code(path)}
    total = sum(code.values()) or 1
    taken = sum(code.get(path, 0) for path in dict.fromkeys(first))
    if not first:
        return Mask(
            (), 0.0, refused="nothing of the chain can be masked: no command names a file of it"
        )
    if taken > bound * total:
        return Mask(
            (),
            taken / total,
            refused=f"the chain is {taken / total:.0%} of the repository's code: masking it would swallow "
            "the library",
        )
    chosen, notes = _with_proposed(files, list(dict.fromkeys(first)), proposed, bound * total)
    share = sum(code.get(path, 0) for path in chosen) / total
    return Mask(tuple(chosen), share, tuple(notes))


def _with_proposed(
    files: Files, chosen: list[str], proposed: Sequence[str], most: float
) -> tuple[list[str], list[str]]:
    """The chosen files with those proposed ones that nothing else needs, and why others stay."""
    left = [
        path
        for path in proposed[:_MOST_PROPOSED]
        if path in files.paths and path not in chosen and not _tells_nothing(files, path)
    ]
    taken = sum(_lines(files, path) for path in chosen if is_code(path))
    notes: dict[str, str] = {}
    changed = True
    while changed:
        changed = False
        for path in [path for path in left if path not in chosen]:
            more = _lines(files, path) if is_code(path) else 0
            if user := _user(files, path, chosen):
                notes[path] = f"{path} stays: {user} needs it"
            elif taken + more > most:
                notes[path] = f"{path} stays: with it the mask would swallow the library"
            else:
                notes.pop(path, None)
                chosen.append(path)
                taken += more
                changed = True
    return chosen, list(notes.values())


def _tells_nothing(files: Files, path: str) -> bool:
    """Whether a Python file only imports, documents and names: the usual start of a package."""
    if not path.endswith(".py"):
        return False
    try:
        tree = parse_python(files.read(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Assign) and _names_only(node))
        for node in tree.body
    )


def _names_only(node: ast.Assign) -> bool:
    return all(isinstance(each, ast.Name) and each.id.startswith("__") for each in node.targets)


def _user(files: Files, path: str, masked: Sequence[str]) -> str:
    """A file outside the mask that imports or names a file; empty when there is none."""
    name = PurePosixPath(path)
    stem = name.parent.name if name.stem == "__init__" else name.stem
    imported = re.compile(rf"^\s*(?:from|import)\b.*\b{re.escape(stem)}\b", re.MULTILINE)
    named = re.compile(rf"(?<![\w-]){re.escape(name.name)}\b")
    for other in sorted(files.paths):
        if other == path or other in masked or not is_code(other):
            continue
        text = files.read(other)
        if stem not in text:
            continue
        if named.search(text) or (path.endswith(".py") and imported.search(text)):
            return other
    return ""


def is_code(path: str) -> bool:
    """Whether a file is a program, by its name."""
    return PurePosixPath(path).suffix.lower() in _CODE


def _is_named(path: str, commands: str) -> bool:
    module = path.removesuffix(".py").replace("/", ".")
    return path in commands or f"-m {module}" in commands or PurePosixPath(path).name in commands


def _lines(files: Files, path: str) -> int:
    return files.read(path).count("\n") + 1
