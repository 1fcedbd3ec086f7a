"""Masked functions and classes that another module of an installable package still defines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from expbench.dataset.lint.document import Document, word_shingles
from expbench.dataset.lint.finding import Finding, Severity, finding
from expbench.schema import ResearchTask

MIN_SHINGLES = 30
"""A shorter definition is boilerplate."""
SAME_SHARE = 0.8
MAIN_SHARE = 0.3
"""The share of a masked file from which the definitions are more than its common helpers."""

Shingles = set[tuple[str, ...]]

_BUILD_FILES = frozenset(["setup.py", "pyproject.toml", "setup.cfg"])


def symbol_findings(
    task: ResearchTask, files: Mapping[str, Document], masked: Mapping[str, Document]
) -> Iterator[Finding]:
    """Definitions of masked Python files that stand, under their name, in a package of the tree."""
    wanted = {
        (name, symbol): shingles
        for name, document in masked.items()
        for symbol, (_, block) in document.definitions.items()
        if len(shingles := word_shingles(block)) >= MIN_SHINGLES
    }
    if not wanted:
        return
    wholes = {name: len(document.shingles) for name, document in masked.items()}
    for path, document in files.items():
        if document.suffix == ".py" and _installable(path, files):
            for name in masked:
                same = _same(document, name, wanted)
                if same:
                    line = min(document.definitions[symbol][0] for symbol in same)
                    evidence = f"{', '.join(sorted(same))} as in the masked {name}"
                    held = sum(len(wanted[name, symbol]) for symbol in same)
                    severity: Severity = "warning" if held >= MAIN_SHARE * wholes[name] else "note"
                    yield finding(
                        task.id, "masked_symbol_left", f"{path}:{line}", evidence, severity
                    )


def _same(document: Document, name: str, wanted: Mapping[tuple[str, str], Shingles]) -> list[str]:
    """The symbols of one masked file that a document defines too, in nearly the same words."""
    return [
        symbol
        for (origin, symbol), shingles in wanted.items()
        if origin == name
        and symbol in document.definitions
        and len(shingles & word_shingles(document.definitions[symbol][1]))
        >= SAME_SHARE * len(shingles)
    ]


def _installable(path: str, files: Mapping[str, Document]) -> bool:
    """Whether a module lies in a package whose parent folder, or its ``src``, has a build file."""
    folder = PurePosixPath(path).parent
    if str(folder / "__init__.py") not in files:
        return False
    while str(folder / "__init__.py") in files and folder.name:
        folder = folder.parent
    bases = [folder, folder.parent] if folder.name == "src" else [folder]
    return any(str(base / name) in files for base in bases for name in _BUILD_FILES)
