"""Documents of a tree that show how a masked program is started."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from expbench.dataset.lint.document import PROSE, Document
from expbench.dataset.lint.finding import Finding, finding
from expbench.schema import ResearchTask

_PROGRAMS = (".py", ".sh", ".ipynb")
_NAMED = re.compile(r"[^\s'\"`=(),;|&<>\[\]]+\.(?:py|sh|ipynb)(?![\w/])|(?<=-m )\s*[\w.]+")


def command_findings(task: ResearchTask, files: Mapping[str, Document]) -> Iterator[Finding]:
    """Command lines of masked programs, each program once in each document."""
    masked = {path for path in task.mask if path.endswith(_PROGRAMS)}
    for path, document in files.items() if masked else ():
        if document.suffix not in PROSE | {".ipynb"}:
            continue
        told: set[str] = set()
        for number, line in document.commands:
            for program in _programs(line, path, files, masked) - told:
                told.add(program)
                yield finding(task.id, "masked_command_in_docs", f"{path}:{number}", line)


def _programs(
    line: str, document: str, files: Mapping[str, Document], masked: set[str]
) -> set[str]:
    return {
        program
        for match in _NAMED.finditer(line)
        if (program := _meant(match.group().strip(), document, files, masked))
    }


def _meant(named: str, document: str, files: Mapping[str, Document], masked: set[str]) -> str:
    """The masked program that a command means, or nothing.

    A relative path is looked up from the document's folder, then from each folder above it. One that
    leads nowhere, as after a ``cd``, means the masked program that ends so, unless a file that is left
    ends so too.
    """
    if not named.endswith(_PROGRAMS):
        named = named.replace(".", "/") + ".py"
    folder = PurePosixPath(document).parent
    for base in (folder, *folder.parents):
        path = posixpath.normpath(f"{base}/{named}")
        if path in masked:
            return path
        if path in files:
            return ""
    end = "/" + re.sub(r"^(?:\.{0,2}/|[^/]*\$[^/]*/)+", "", named)
    if any(f"/{path}".endswith(end) for path in files):
        return ""
    return next((path for path in sorted(masked) if f"/{path}".endswith(end)), "")
