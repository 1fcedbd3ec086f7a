"""A shell script as commands with their lines: continuations, variables, loops, conditions, functions.

Only what experiment scripts use is understood. A variable with several values (a loop's) multiplies the
words that it stands in, up to :data:`MOST_VALUES`; one that is not known stays as it is written.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

MOST_VALUES = 24
_MOST_COMMANDS = 3_000

_NAME = re.compile(
    r"\$(?:\{([A-Za-z_]\w*|\d|[@*#])(?:(:?[-=+?]|##?|%%?|\[[^]]*\]|/)([^{}]*))?\}|([A-Za-z_]\w*|\d|[@*#]))"
)
_ASSIGNED = re.compile(r"^([A-Za-z_]\w*)(?:\[\w*\])?\+?=(.*)$", re.DOTALL)
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
_EITHER = re.compile(r"(?<=/)\[(\w+(?:,\w+)+)\](?=\.(?:sh|py)\b)")
"""How READMEs write that one of some scripts is run."""
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


def read_script(
    text: str, arguments: Sequence[str] = (), own: str = "", known: Mapping[str, str] | None = None
) -> Script:
    """Read a script of the folder ``own`` that is called so in an environment that has ``known``."""
    script = Script()
    text = _HERE_FOLDER.sub(own or ".", text)
    script.variables.update(
        {"SCRIPT_DIR": (own or ".",), "PWD": (".",), "0": (f"{own or '.'}/script.sh",)}
    )
    script.variables.update({name: (value,) for name, value in (known or {}).items()})
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
) -> None:
    part = part.strip()
    while (word := part.split(None, 1)[0] if part.split() else "") in _WORDS:
        part = part[len(word) :].strip()
    if not part:
        return
    if part.startswith("(") and not part.startswith("(("):
        part = part.lstrip("( ")
    if loop := _LOOP.match(part):
        values = tuple(_expanded_words(loop[2], script.variables))[:MOST_VALUES]
        script.variables[loop[1]] = values
        open_.append(("for", loop[1], values, start))
    elif word in ("while", "until", "if", "case", "select") or part.startswith("for "):
        open_.append((word, part.partition(word)[2].strip()[:80], (), start))
        if word in ("if", "while"):
            _take(script, part[len(word) :], start, end, [])
    elif word in ("done", "fi", "esac"):
        if open_:
            kind, name, values, first = open_.pop()
            script.loops.append(Loop(kind, name, values, first, end))
    elif word in ("elif",):
        return
    elif function := _FUNCTION.match(part):
        rest = (function[2] or function[4] or "").strip(" {}")
        if rest:
            _take(script, rest, start, end, [])
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
            values = tuple(_expanded_words(value.strip("()"), script.variables))[:MOST_VALUES]
        else:
            values = tuple(expand(_unquoted(value), script.variables))
        script.variables[match[1]] = values
        sets[match[1]] = values[0] if len(values) == 1 else " ".join(values)
    words: list[tuple[str, ...]] = [()]
    if rest.strip() and not rest.lstrip().startswith("#"):
        words = _combined(rest, script.variables)
    for each in words:
        script.commands.append(Command(each, start, end, sets))


def _combined(text: str, variables: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The command's words for every combination of what its variables may be.

    Variables that come together (``$model`` twice) have the same value in one combination.
    """
    names = [
        n
        for n in dict.fromkeys(m[1] or m[4] for m in _NAME.finditer(text))
        if len(variables.get(n, ())) > 1
    ]
    choices = [variables[name] for name in names]
    combined: list[tuple[str, ...]] = []
    for chosen in itertools.islice(itertools.product(*choices), MOST_VALUES):
        one = {**variables, **{name: (value,) for name, value in zip(names, chosen, strict=True)}}
        combined.append(tuple(_expanded_words(text, one)))
    return list(dict.fromkeys(combined)) or [()]


def _expanded_words(text: str, variables: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for word in split(text):
        quoted = word
        for value in expand(quoted, variables):
            if "$" in word and " " in value and not re.fullmatch(r".*[^\w$@{}\[\]*].*", word):
                yield from split(value)
            else:
                yield from _braces(value)


def _braces(word: str) -> Iterator[str]:
    """``{1..3}`` and ``{a,b}`` as the shell has them."""
    if numbers := re.search(r"\{(-?\d{1,6})\.\.(-?\d{1,6})\}", word):
        low, high = int(numbers[1]), int(numbers[2])
        for value in itertools.islice(range(low, high + 1), MOST_VALUES):
            yield word[: numbers.start()] + str(value) + word[numbers.end() :]
    elif listed := re.search(r"(?<!\$)\{([^{}\s]*,[^{}\s]*)\}", word):
        for part in listed[1].split(",")[:MOST_VALUES]:
            yield word[: listed.start()] + part + word[listed.end() :]
    elif either := _EITHER.search(word):
        for part in either[1].split(",")[:MOST_VALUES]:
            yield word[: either.start()] + part + word[either.end() :]
    else:
        yield word


def expand(text: str, variables: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Every value of a text with variables in it; unknown ones stay as they are written."""
    done = [""]
    place = 0
    for match in _NAME.finditer(text):
        values = _values(match, variables)
        done = [
            before + text[place : match.start()] + value for before in done for value in values
        ][:MOST_VALUES]
        place = match.end()
    return [value[:4_000] + text[place:] for value in done]


def _values(match: re.Match[str], variables: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    name, sign, other = match[1] or match[4], match[2] or "", match[3] or ""
    values = variables.get(name, ())
    if sign in (":-", "-", ":=", "=") and not any(values):
        return (other,)
    if not values:
        return ("",) if name in "@*" else (match[0],)
    if sign == "%%" or sign == "%":
        return tuple(
            value.removesuffix(other.lstrip("*")) if "*" not in other[1:] else value
            for value in values
        )
    if sign in ("##", "#") and other == "*/":
        return tuple(value.rpartition("/")[2] for value in values)
    return values


def split(text: str) -> list[str]:
    """Words of a command line; quotes that do not close are taken as they stand."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)
    except ValueError:
        return text.split()


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
        return word[1:-1]
    return word


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
