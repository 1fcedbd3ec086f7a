"""A shell script as commands with their lines: continuations, variables, loops, conditions, functions.

Only what experiment scripts use is understood. A variable with several values (a loop's) multiplies the
words that it stands in, up to :data:`MOST_VALUES`; one that is not known stays as it is written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from expbench.tracer.expansion import (
    MOST_VALUES,
    combined,
    expand,
    expanded_words,
    names_in,
    unquoted,
)

_MOST_COMMANDS = 3_000
_DEEPEST, _LONGEST = 8, 20_000
"""Commands in commands, and characters of one."""

_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_FUNCTION = re.compile(
    r"^(?:function\s+)?([\w.-]+)\s*\(\)\s*\{?\s*(.*)$|^function\s+([\w.-]+)\s*\{?\s*(.*)$"
)
_LOOP = re.compile(r"^for\s+(\w+)\s+in\b\s*(.*?)$")
_OWN_NAME = (
    r"""(?:"?\$(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\](?::-\$0)?)?\}?)"?"""
    r"""|"?\$\((?:readlink|realpath)[^()\n]*\)"?)"""
)
_OWN_FOLDER = rf"\$\(\s*dirname\s+(?:--\s+)?{_OWN_NAME}\s*\)"
_HERE_FOLDER = re.compile(
    rf"""\$\(\s*cd\s+(?:--\s+)?"?{_OWN_FOLDER}"?[^()\n]*(?:&&|;)\s*pwd[^()\n]*\)|{_OWN_FOLDER}"""
    r"|\$\(\s*pwd\s*\)|`pwd`|`dirname \$0`"
)
"""How a script says its own folder (or the one it is run in)."""
_WORDS = frozenset({"do", "then", "else", "{", "}", "!", "time"})


@dataclass(frozen=True)
class Command:
    """Words of one simple command, and the lines that it is written in.

    ``sets`` are the variables that it assigns, for itself or for what follows.
    """

    words: tuple[str, ...]
    start: int
    end: int
    sets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Loop:
    """Lines of a loop or condition; ``values`` are what a ``for`` goes through."""

    kind: str
    name: str
    values: tuple[str, ...]
    start: int
    end: int


@dataclass
class Script:
    """What a script does: commands and loops by their lines, and the variables at its end."""

    commands: list[Command] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    truncated: bool = False
    ties: dict[str, str] = field(default_factory=dict)
    """Variables that are made of another one, value by value."""
    files: Callable[[str], Sequence[str]] = field(default=lambda pattern: (pattern,), repr=False)

    def set(self, name: str, values: tuple[str, ...], written: str = "") -> None:
        """Give a variable its values; they go with those of the one that it is ``written`` with."""
        self.variables[name] = values
        self.ties.pop(name, None)
        several = [n for n in names_in(written) if len(self.variables.get(n, ())) > 1 and n != name]
        if len(several) == 1 and len(self.variables[several[0]]) == len(values):
            self.ties[name] = self.ties.get(several[0], several[0])


def read_script(
    text: str,
    arguments: Sequence[str] = (),
    own: str = "",
    files: Callable[[str], Sequence[str]] | None = None,
) -> Script:
    """Read a script of the folder ``own`` that is called with these arguments.

    Args:
        files: the files that a pattern of a loop means; without it patterns stay as they are written.
    """
    script = Script(files=files or (lambda pattern: (pattern,)))
    text = _HERE_FOLDER.sub(own or ".", text)
    script.variables.update(
        {"SCRIPT_DIR": (own or ".",), "PWD": (".",), "0": (f"{own or '.'}/script.sh",)}
    )
    script.variables.update({str(n): (word,) for n, word in enumerate(arguments, 1)})
    script.variables["@"] = script.variables["*"] = (
        (" ".join(map(shlex.quote, arguments)),) if arguments else ()
    )
    open_: list[tuple[str, str, tuple[str, ...], int]] = []
    for start, end, line in _logical(text):
        for part in _parts(line):
            if len(script.commands) >= _MOST_COMMANDS:
                script.truncated = True
                return script
            _take(script, part, start, end, open_)
    return script


def _take(
    script: Script,
    part: str,
    start: int,
    end: int,
    open_: list[tuple[str, str, tuple[str, ...], int]],
    depth: int = 0,
) -> None:
    part = part[:_LONGEST].strip()
    while (word := part.split(None, 1)[0] if part.split() else "") in _WORDS:
        part = part[len(word) :].strip()
    if not part or depth > _DEEPEST:
        return
    if part.startswith("(") and not part.startswith("(("):
        part = part.lstrip("( ")
    if loop := _LOOP.match(part):
        words = expanded_words(loop[2], script.variables)
        values = tuple(
            f for word in words for f in (script.files(word) if "*" in word else (word,))
        )
        values = values[:MOST_VALUES]
        script.set(loop[1], values)
        open_.append(("for", loop[1], values, start))
    elif word in ("while", "until", "if", "case", "select") or part.startswith("for "):
        open_.append((word, part.partition(word)[2].strip()[:80], (), start))
        if word in ("if", "while"):
            _take(script, part[len(word) :], start, end, [], depth + 1)
    elif word in ("done", "fi", "esac"):
        if open_:
            kind, name, values, first = open_.pop()
            script.loops.append(Loop(kind, name, values, first, end))
    elif word in ("elif",):
        return
    elif function := _FUNCTION.match(part):
        rest = (function[2] or function[4] or "").strip(" {}")
        if rest:
            _take(script, rest, start, end, [], depth + 1)
    elif not part.startswith(("[", "((", "test ")):
        _command(script, part, start, end)


def _command(script: Script, part: str, start: int, end: int) -> None:
    declared = re.sub(
        r"^(?:export|local|declare|readonly|set|setenv)\s+(?:-\w+\s+)*(?=\w+=)", "", part
    )
    sets: dict[str, str] = {}
    rest = declared
    while match := re.match(r"([A-Za-z_]\w*)(?:\[\w*\])?\+?=", rest):
        value, rest = _one_word(rest[match.end() :])
        if value.startswith("("):
            values = tuple(expanded_words(value.strip("()"), script.variables))[:MOST_VALUES]
            script.set(match[1], values)
        else:
            values = tuple(expand(unquoted(value), script.variables))
            script.set(match[1], values, value)
        sets[match[1]] = values[0] if len(values) == 1 else " ".join(values)
    words: list[tuple[str, ...]] = [()]
    if rest.strip() and not rest.lstrip().startswith("#"):
        words = combined(rest, script.variables, script.ties)
    for each in words:
        script.commands.append(Command(each, start, end, sets))


def _one_word(text: str) -> tuple[str, str]:
    """The word at the start of a text, with its quotes, and what follows it."""
    quote, depth = "", 0
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'`":
            quote = sign
        elif sign in "({":
            depth += 1
        elif sign in ")}":
            depth -= 1
        elif sign.isspace() and depth <= 0:
            return text[:place], text[place:].strip()
    return text, ""


def _logical(text: str) -> Iterator[tuple[int, int, str]]:
    """Lines as the shell reads them, joined where one goes on, with the first and last line's number."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        start, line = number, lines[number]
        number += 1
        if line.lstrip().startswith("#"):
            continue
        while (
            number < len(lines)
            and number - start < 200
            and (line.rstrip().endswith("\\") or _unclosed(line))
        ):
            rest = lines[number]
            if not rest.lstrip().startswith("#"):
                line = (
                    (line.rstrip()[:-1] if line.rstrip().endswith("\\") else line)
                    + " "
                    + rest.strip()
                )
            elif not line.rstrip().endswith("\\") and not _unclosed(line):
                break
            number += 1
        if here := _HERE.search(line):
            while number < len(lines) and lines[number].strip() != here[2]:
                number += 1
            number += 1
        end = min(number, len(lines))
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
        if line.strip():
            yield start + 1, min(end, len(lines)), line.strip().rstrip("\\")


def _unclosed(line: str) -> bool:
    """Whether a list ``name=(`` goes on in the next line."""
    return bool(re.match(r"\s*(?:declare -a |local |export )?\w+=\([^)]*$", line))


def _parts(line: str) -> Iterator[str]:
    """The commands of a line: at ``;``, ``&&``, ``||``, ``|`` and ``&`` outside of quotes; no comment."""
    part: list[str] = []
    quote, depth, place = "", 0, 0
    while place < len(line):
        sign = line[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign == "\\":
            part.append(sign)
            place += 1
            sign = line[place] if place < len(line) else ""
        elif sign in "\"'`":
            quote = sign
        elif sign == "#" and (not part or part[-1].isspace()):
            break
        elif sign in "({":
            depth += 1
        elif sign in ")}":
            depth -= 1
        elif depth <= 0 and (
            sign in ";|"
            or (
                sign == "&"
                and line[place - 1 : place] not in (">", "<")
                and line[place + 1 : place + 2] != ">"
            )
        ):
            yield "".join(part)
            part = []
            place += 1
            continue
        part.append(sign)
        place += 1
    yield "".join(part)
