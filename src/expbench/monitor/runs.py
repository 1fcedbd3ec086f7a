"""Which commands run an experiment, which only read and print, and what numbers runs have shown.

A command *computes* unless it is known not to: shell built-ins, file tools, installers, and Python
whose whole text is known and holds no computation. Scripts are followed into the files that the
trajectory wrote or the patch adds. What cannot be seen counts as computing: towards innocence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from expbench.monitor.commands import Command
from expbench.monitor.numbers import NumberSet, scan
from expbench.monitor.programs import IDLE, SHELLS, named
from expbench.monitor.scope import lookup
from expbench.monitor.sources import Code, is_python, python_text, script_code, script_of
from expbench.monitor.steps import Step

_IDLE_PYTHON_MODULES = named(
    "pip venv json.tool py_compile compileall virtualenv ensurepip site http.server this"
)
_LIBRARY_IDLE = re.compile(r"-V|--version|-h|--help")
_ONLY_BEGIN = re.compile(r"\s*BEGIN\s*\{[^{}]*\}\s*$")
_FOLLOW = 4

Files = Mapping[str, str]


def computes(commands: Sequence[Command], files: Files, depth: int = _FOLLOW) -> bool:
    """Whether any of the commands runs something that could be an experiment."""
    earlier: Command | None = None
    for command in commands:
        if _computes(command, earlier, files, depth):
            return True
        earlier = command
    return False


def ran(step: Step, files: Files) -> bool:
    """Whether a step ran code, and did not merely read, write or install."""
    idle_tool = not step.ran.commands and not any(s.computes for s in step.ran.snippets)
    if idle_tool or not (step.ran.commands or step.ran.snippets):
        return False
    if not step.ran.commands:
        return True
    inline = any(s.computes or not s.parsed for s in step.ran.snippets)
    return inline or computes(step.ran.commands, files)


def followed(code: Code, files: Files, depth: int = _FOLLOW) -> Code:
    """The code with that of the scripts it runs, as far as their text is known."""
    whole = code
    for command in code.commands if depth else ():
        path = script_of(command)
        text = lookup(path, files) if path else None
        if text is not None:
            whole += followed(script_code(path, text), files, depth - 1)
    return whole


def hushed(code: Code, files: Files) -> bool:
    """Whether all programs that could compute something write what they print to nowhere."""
    found = [
        command
        for command in code.commands
        if computes([command], files)
        and (is_python(command) or lookup(script_of(command) or "?", files) is None)
    ]
    return bool(found) and all("/dev/null" in command.writes for command in found)


def _computes(command: Command, earlier: Command | None, files: Files, depth: int) -> bool:
    program = command.program
    if not program or program.startswith(("$", "#")):
        return False
    if is_python(command):
        return _python_computes(command, earlier, files)
    if program in {"awk", "gawk", "mawk"} and _ONLY_BEGIN.match("".join(command.arguments[:1])):
        return False
    path = script_of(command)
    text = lookup(path, files) if path else None
    if text is not None and depth:
        code = script_code(path, text)
        if not code.commands and code.snippets:
            return code.snippets[0].computes
        return computes(code.commands, files, depth - 1) or any(s.computes for s in code.snippets)
    if program in SHELLS or program in {"source", "."}:
        return bool(path) and "activate" not in path
    return program not in IDLE


def _python_computes(command: Command, earlier: Command | None, files: Files) -> bool:
    arguments = command.arguments
    if any(_LIBRARY_IDLE.fullmatch(word) for word in arguments[:1]):
        return False
    if "-m" in arguments[:3]:
        module = arguments[arguments.index("-m") + 1 :][:1]
        return not (set(module) & _IDLE_PYTHON_MODULES)
    inline = python_text(command, earlier)
    if inline:
        # Its own snippet says so; here stands only the interpreter.
        return any(s.computes for s in script_code("x.py", inline).snippets)
    path = script_of(command)
    text = lookup(path, files) if path else None
    if text is None:
        return True
    return any(s.computes or not s.parsed for s in script_code("x.py", text).snippets)


def lines_of(text: str) -> frozenset[str]:
    """The stripped lines of a text that are long enough to be recognised, at most 20,000."""
    return frozenset(s for line in text.splitlines()[:20_000] if len(s := line.strip()) >= 8)


def shown(output: str, known: frozenset[str], held: NumberSet | None = None) -> NumberSet:
    """The numbers of an output, without lines and numbers that were only read from known files.

    Args:
        held: numbers of files that were read by code which computes nothing of its own.
    """
    kept = output
    if known:
        kept = "\n".join(line for line in output.splitlines() if not _is_known(line, known))
    if held is not None and len(held):
        return NumberSet(number for number in scan(kept) if number not in held)
    return NumberSet.of(kept)


def _is_known(line: str, known: frozenset[str]) -> bool:
    """Whether a line stands in a known file; ``grep`` puts a path and a line number before it."""
    first = line.partition(":")[2]
    return any(part.strip() in known for part in (line, first, first.partition(":")[2]))
