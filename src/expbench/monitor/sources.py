"""Commands and Python together: what a text runs, through every change of language.

A shell text may hold Python, which may hold shell again, and either may run a script whose text is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from expbench.monitor.commands import Command
from expbench.monitor.handed_over import with_given
from expbench.monitor.programs import FOREIGN, IDLE, SHELLS
from expbench.monitor.pycode import Snippet, foreign, read
from expbench.monitor.scope import Scope
from expbench.monitor.shell import parse
from expbench.monitor.wrappers import recipes

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|ipython3?")
_SCRIPTS = {".py": "python", ".sh": "shell", ".bash": "shell", ".mk": "make"}
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_FOLLOW = 3
_NUMBERED = re.compile(r"\$\{?[1-9@*]")


@dataclass(frozen=True)
class Code:
    """Commands and Python that stand in one text."""

    commands: tuple[Command, ...] = ()
    snippets: tuple[Snippet, ...] = ()

    def __add__(self, other: Code) -> Code:
        return Code(self.commands + other.commands, self.snippets + other.snippets)


def shell_code(text: str, depth: int = 3, scope: Scope | None = None) -> Code:
    """What a shell text runs, with the Python inside it and the shell inside that."""
    commands: list[Command] = []
    snippets: list[Snippet] = []
    earlier: Command | None = None
    scope = scope or Scope()
    for command in parse(text, scope):
        commands.append(command)
        inline = python_text(command, earlier)
        if inline:
            inline = with_given(inline, given_to(command), scope.variables)
        nested = python_code(inline, depth - 1) if inline and depth else Code()
        if command.program in FOREIGN and depth:
            nested = _foreign_code(command, depth - 1)
        commands.extend(nested.commands)
        snippets.extend(nested.snippets)
        earlier = command
    return Code(tuple(commands), tuple(snippets))


def python_code(text: str, depth: int = 3) -> Code:
    """What a piece of Python runs, with the shell commands and the Python inside it."""
    code = Code((), (read(text),))
    if depth:
        for shell in code.snippets[0].shells[:200]:
            code += shell_code(shell, depth - 1)
        for nested in code.snippets[0].nested[:50]:
            code += python_code(nested, depth - 1)
    return code


def _foreign_code(command: Command, depth: int) -> Code:
    """What a one-liner of another interpreter runs (``perl -e``, ``node -e``…)."""
    code = Code((), tuple(foreign(w) for w in command.arguments[:20] if len(w) > 5))
    for shell in [text for snippet in code.snippets for text in snippet.shells][:50]:
        code += shell_code(shell, depth)
    return code


def python_text(command: Command, earlier: Command | None = None) -> str:
    """The Python that a command carries in ``-c``, a here-document or a pipe; else nothing."""
    if not _PYTHON.fullmatch(command.program):
        return ""
    arguments = command.arguments
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-[a-zA-Z]*c", word):
            return arguments[at + 1] if at + 1 < len(arguments) else ""
        if not word.startswith("-") and word != "/dev/stdin":
            return ""
    if command.stdin:
        return command.stdin
    if command.piped and earlier is not None and earlier.program in {"cat", "echo", "printf"}:
        return earlier.stdin or "\n".join(earlier.arguments)
    return ""


def given_to(command: Command) -> tuple[str, ...]:
    """What a program in Python finds in ``sys.argv``."""
    arguments = command.arguments
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-[a-zA-Z]*c", word):
            return ("-c", *arguments[at + 2 :])
        if word == "-" or not word.startswith("-"):
            return arguments[at:]
    return ()


def is_python(command: Command) -> bool:
    """Whether a command starts a Python interpreter."""
    return _PYTHON.fullmatch(command.program) is not None


def script_code(path: str, text: str) -> Code:
    """The code of a script file by its name; other files hold none."""
    kind = script_kind(path, text)
    if kind == "python":
        return python_code(text)
    if kind == "make":
        return shell_code(recipes(text))
    return shell_code(text) if kind == "shell" else Code()


def script_kind(path: str, text: str) -> str:
    """``python``, ``shell``, ``make``, or the empty string for a file that is no script."""
    kind = _SCRIPTS.get(PurePosixPath(path).suffix.lower(), "")
    if PurePosixPath(path).name in _MAKEFILES:
        return "make"
    if not kind and text.startswith("#!"):
        kind = "python" if "python" in text.partition("\n")[0] else "shell"
    return kind


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


def opened(commands: Sequence[Command], scope: Scope, seen: set[str]) -> Code:
    """The code of the scripts that commands run, where it is known and was not looked at before.

    Args:
        seen: the texts that were looked at; it gets those that are opened here.
    """
    whole, waiting = Code(), list(commands)
    for _ in range(_FOLLOW):
        found = Code()
        for command in waiting:
            found += _script_of_known(command, scope, seen)
        if not found.commands and not found.snippets:
            break
        whole += found
        waiting = list(found.commands)
    return whole


def _script_of_known(command: Command, scope: Scope, seen: set[str]) -> Code:
    path = script_of(command)
    if command.program == "make":
        named = [b for a, b in zip(command.words, command.words[1:], strict=False) if a == "-f"]
        path = next((p for p in (*named, *_MAKEFILES) if scope.text(p)), "")
    text = scope.text(path) if path else None
    python = is_python(command) or (bool(text) and script_kind("", text or "") == "python")
    if text and python:
        text = with_given(text, given_to(command), scope.variables)
    given = (
        command.arguments[command.arguments.index(path) + 1 :] if path in command.arguments else ()
    )
    given = given or (command.arguments if command.words[:1] == (path,) else ())
    mark = f"{text} {given}" if text and given and _NUMBERED.search(text) and not python else text
    if not text or not mark or mark in seen:
        return Code()
    seen.update((text, mark))
    if python:
        return python_code(text)
    if command.program == "make":
        return shell_code(recipes(text), scope=scope)
    return shell_code(text, scope=scope.inside(given) if given else scope)
