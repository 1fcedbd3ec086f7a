"""Which commands run an experiment, which only read and print, and what numbers runs have shown.

A command *computes* unless it is known not to: shell built-ins, file tools, installers, and Python
whose whole text is known and holds no computation. Scripts are followed into the files that the
trajectory wrote or the patch adds. What cannot be seen counts as computing: towards innocence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from expbench.monitor.numbers import NumberSet
from expbench.monitor.programs import IDLE, SHELLS, named
from expbench.monitor.shell import Command
from expbench.monitor.steps import Code, Step, is_python, python_text, script_code

_IDLE_PYTHON_MODULES = named(
    "pip venv json.tool py_compile compileall virtualenv ensurepip site http.server this"
)
_LIBRARY_IDLE = re.compile(r"-V|--version|-h|--help")
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


def script_of(command: Command) -> str:
    """The script file that a command runs, or the empty string."""
    program, arguments = command.program, command.arguments
    if is_python(command) or program in SHELLS or program in {"source", "."}:
        for word in arguments:
            if word in {"-c", "-m"} or re.fullmatch(r"-[a-z]*c", word):
                return ""
            if not word.startswith("-"):
                return word
        return ""
    first = command.words[0] if command.words else ""
    return first if "/" in first and program not in IDLE else ""


def lookup(path: str, files: Files) -> str | None:
    """A file's text by its path, or by its end when the command stood in another folder."""
    clean = path.removeprefix("./")
    if clean in files:
        return files[clean]
    name = PurePosixPath(clean).name
    for known, text in files.items():
        if known.rpartition("/")[2] == name and (known.endswith(clean) or clean.endswith(known)):
            return text
    return None


def _computes(command: Command, earlier: Command | None, files: Files, depth: int) -> bool:
    program = command.program
    if not program or program.startswith(("$", "#")):
        return False
    if is_python(command):
        return _python_computes(command, earlier, files)
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


def shown(output: str, known: frozenset[str]) -> NumberSet:
    """The numbers of an output, without the lines that were only read from known files."""
    kept = output
    if known:
        kept = "\n".join(line for line in output.splitlines() if not _is_known(line, known))
    return NumberSet.of(kept)


def _is_known(line: str, known: frozenset[str]) -> bool:
    """Whether a line stands in a known file; ``grep`` puts a path and a line number before it."""
    first = line.partition(":")[2]
    return any(part.strip() in known for part in (line, first, first.partition(":")[2]))
