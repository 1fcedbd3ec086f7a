"""Programs that run another command: what they run, and the scripts that commands carry with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from expbench.monitor.programs import FETCHERS, SHELLS, named

KEYWORDS = frozenset(
    {
        "if",
        "then",
        "elif",
        "else",
        "do",
        "while",
        "until",
        "!",
        "{",
        "}",
        "fi",
        "done",
        "time",
        "esac",
    }
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")

_WRAPPERS: dict[str, tuple[str, int]] = {
    # program: (options that take a value, leading operands to skip)
    "env": ("-u -C --unset --chdir", 0),
    "sudo": ("-u -g -h -p -C", 0),
    "doas": ("-u", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "nice": ("-n", 0),
    "ionice": ("-c -n -p", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "exec": ("-a", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "stdbuf": ("-i -o -e", 0),
    "time": ("-f -o", 0),
    "xargs": ("-n -I -P -d -L -s -a -E", 0),
    "parallel": ("-j", 0),
    "watch": ("-n", 0),
    "chronic": ("", 0),
    "unbuffer": ("", 0),
    "taskset": ("-c", 0),
    "busybox": ("", 0),
    "proot": ("-r -b -w", 0),
    "fakeroot": ("", 0),
    "strace": ("-e -o -p", 0),
}
_RUNNERS = named("conda mamba micromamba poetry uv pipenv hatch pdm")
_SOURCES = frozenset({"--from", "--with", "--spec"})
"""Options by which a runner installs something."""
_EDITORS = named("ex nvim vi vim")
_FED = named("-i --input-file -K --config -a")
"""Options by which a program that fetches reads its addresses from a file."""
_SCRIPT_OPTION = named("script su ssh expect tmux")


def unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the command that wrappers such as ``sudo`` and ``timeout 5`` run."""
    for _ in range(8):
        while words and (words[0] in KEYWORDS or ASSIGNMENT.match(words[0])):
            words = words[1:]
        name = words[0].rpartition("/")[2] if words else ""
        if name == "command" and words[1:2] in (("-v",), ("-V",)):
            break
        if name in _RUNNERS and "run" in words[1:3] and not _SOURCES & set(words):
            words = _skip_options(words[words.index("run") + 1 :], "-n -p --name --prefix")
        elif name == "strace" and any(re.match(r"-p", word) for word in words[1:]):
            break
        elif name in _WRAPPERS:
            valued, operands = _WRAPPERS[name]
            words = _skip_options(words[1:], valued)[operands:]
        else:
            break
    if words and " " in words[0].strip():
        words = (*words[0].split()[:50], *words[1:])
    return words


def _skip_options(words: tuple[str, ...], valued: str) -> tuple[str, ...]:
    with_value = frozenset(valued.split())
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at:]


def filled(words: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The words that ``xargs`` runs when it reads ``text``."""
    items = tuple(text.split()[:100])
    if "-I" in words[:6]:
        mark = words[words.index("-I") + 1 :][:1]
        line = text.strip().partition("\n")[0]
        return tuple(w.replace(mark[0], line) if mark else w for w in unwrap(words))
    return unwrap(words) + items


def listed(words: tuple[str, ...], text_of: Callable[[str], str | None]) -> tuple[str, ...]:
    """The addresses in a known file that a program fetches from a list (``wget -i FILE``)."""
    if not words or words[0].rpartition("/")[2] not in FETCHERS:
        return ()
    names = [word.partition("=")[2] for word in words if word.startswith("--input-file=")]
    names += [b for a, b in pairwise(words) if a in _FED]
    text = "\n".join(text_of(name) or "" for name in names)
    return tuple(re.findall(r"\w+://[^\s\"']{3,500}", text)[:50])


def find_actions(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The commands that ``find`` runs."""
    found: list[tuple[str, ...]] = []
    current: list[str] | None = None
    for word in words:
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            current = []
        elif current is not None and word in {";", "+"}:
            found.append(tuple(current))
            current = None
        elif current is not None:
            current.append(word)
    return found


def carried_script(
    program: str, arguments: tuple[str, ...], stdin: str
) -> tuple[str, tuple[str, ...]]:
    """The shell text that a command runs, from its words or its standard input, and its arguments."""
    if program in SHELLS:
        for at, word in enumerate(arguments):
            if re.fullmatch(r"-[a-z]*c", word):
                return "".join(arguments[at + 1 : at + 2]), arguments[at + 3 :]
    return _carried(program, arguments, stdin), ()


def _carried(program: str, arguments: tuple[str, ...], stdin: str) -> str:
    if program == "eval":
        return " ".join(arguments)
    if program in {"source", "."}:
        return stdin if arguments[:1] == ("/dev/stdin",) else ""
    if program == "make":
        return recipes(stdin) if "-" in arguments and "-f" in arguments else ""
    if program == "git":
        return _git_alias(arguments)
    if program in _EDITORS:
        return "\n".join(w.lstrip(":")[1:] for w in arguments if re.match(r":?!", w))
    if program == "trap":
        return arguments[0] if arguments and not arguments[0].startswith("-") else ""
    if program not in SHELLS and program not in _SCRIPT_OPTION:
        return ""
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-[a-z]*c", word):
            return arguments[at + 1] if at + 1 < len(arguments) else ""
    if program not in SHELLS or any(w[:1] != "-" and w != "/dev/stdin" for w in arguments):
        return ""
    return stdin


_ALIAS = re.compile(r"alias\.\w+=!(.*)", re.DOTALL)


def _git_alias(arguments: tuple[str, ...]) -> str:
    """The shell text of an alias that begins with ``!``, where a command defines one."""
    for name, value in pairwise((*arguments, "")):
        if match := _ALIAS.fullmatch(name):
            return match[1]
        if name.startswith("alias.") and value.startswith("!"):
            return value[1:]
    return ""


def recipes(makefile: str) -> str:
    """The shell lines of a makefile, its simple variables as the shell's own."""
    found = []
    for line in makefile.splitlines()[:5000]:
        if match := re.match(r"([A-Za-z_]\w*)\s*[:?]?=\s*(.*)", line):
            found.append(f"{match[1]}='{match[2].strip()}'")
        elif line.startswith("\t"):
            plain = re.sub(r"\$\(([A-Za-z_]\w*)\)", r"${\1}", line.strip().lstrip("@-+"))
            found.append(plain.replace("$$", "$"))
        elif match := re.match(r"[\w.%/ -]+::?[^=;]*;(.*)", line):
            found.append(match[1].strip().lstrip("@-+"))
    return "\n".join(found)
