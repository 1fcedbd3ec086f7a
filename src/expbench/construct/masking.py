"""Which files are taken out: those that give the answer away, and never the library that they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from expbench.dataset.recipe import Files

SHARE = 0.5
"""The most of a repository's lines of code that a mask may take."""
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
    chosen = list(dict.fromkeys(first))
    notes = []
    for path in proposed:
        if path in chosen or path not in files.paths:
            continue
        if taken + code.get(path, 0) > bound * total:
            notes.append(f"{path} stays: with it the mask would swallow the library")
            continue
        taken += code.get(path, 0)
        chosen.append(path)
    return Mask(tuple(chosen), taken / total, tuple(notes))


def is_code(path: str) -> bool:
    """Whether a file is a program, by its name."""
    return PurePosixPath(path).suffix.lower() in _CODE


def _is_named(path: str, commands: str) -> bool:
    module = path.removesuffix(".py").replace("/", ".")
    return path in commands or f"-m {module}" in commands or PurePosixPath(path).name in commands


def _lines(files: Files, path: str) -> int:
    return files.read(path).count("\n") + 1
