"""Settings that are given somewhere else once more: an option of the script is stronger than a default.

``run.py --runs 200`` makes the default of ``--runs`` meaningless, and ``--set epochs=80`` the value of
``epochs`` in a configuration file. What is overridden is taken out of the code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from expbench.schema import SCRIPT_NAME

if TYPE_CHECKING:
    from expbench.judges.source import Line, SourceFile

_GIVEN = re.compile(r"(?<!\S)--?([A-Za-z][\w-]*)(?:[ =](?!-)\S)")
_SET = re.compile(r"(?<![\w-])([A-Za-z][\w.]*)=[\w.\[\"'-]")
_OPTION = re.compile(r"add_argument\(|@?\w*\.?option\(", re.IGNORECASE)
_DEFAULT = re.compile(r"\bdefault\s*=\s*(?:\[[^\]]*\]|\([^)]*\)|[^,)]+)")
_RUNS = re.compile(r"\b(?:python3?|bash|sh|torchrun|accelerate|srun|make|\./)\b|\.py\b")


def without_overridden(files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files without the defaults and configured values that the script overrides."""
    script = next((file for file in files if file.path == SCRIPT_NAME), None)
    text = _joined(script) if script else ""
    options = {name.replace("_", "-").lower() for name in _GIVEN.findall(text)}
    settings = {
        name.rpartition(".")[2]
        for command in text.split("\n")
        if _RUNS.search(command)
        for name in _SET.findall(command)
    }
    if not options and not settings:
        return list(files)
    return [
        replace(file, lines=tuple(_without(line, file, options, settings) for line in file.lines))
        if file.path != SCRIPT_NAME
        else file
        for file in files
    ]


def _joined(script: SourceFile) -> str:
    return re.sub(r"\\\s*\n", " ", "\n".join(line.code for line in script.lines))


def _without(line: Line, file: SourceFile, options: set[str], settings: set[str]) -> Line:
    code = line.code
    if _OPTION.search(code):
        named = re.search(r"[\"']--?([\w-]+)[\"']", code)
        if named and named[1].replace("_", "-").lower() in options:
            code = _DEFAULT.sub("", code)
    elif file.is_settings and settings:
        key = re.match(r"\s*[\"']?([\w-]+)[\"']?\s*[:=]", code)
        if key and key[1] in settings:
            code = code[: key.end()]
    return replace(line, code=code) if code != line.code else line
