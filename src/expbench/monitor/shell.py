"""What a shell text would run: one flat list of simple commands.

A word-by-word lexer in one pass, because ``shlex`` cannot serve here: it raises on an unbalanced
quote, which an agent's text often has, and its POSIX mode takes a quoted ``;`` for a real one. The
lexer knows quotes, comments, here-documents, redirections, ``$(…)``, backticks and process
substitution; :func:`parse` then opens what hides a command in another one: ``bash -c``, ``eval``,
``env``, ``sudo``, ``timeout``, ``xargs``, ``find -exec`` and a script that is piped into a shell.

It never fails. An unbalanced quote reaches to the end of the text, and a here-document without its
end is read as commands, so that a stray ``<<X`` hides nothing. Nesting and counts are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from expbench.monitor.lexer import Token, lex
from expbench.monitor.programs import SHELLS, named

_DEPTH = 6
_MOST = 2000
_BREAKS = frozenset({"\n", ";", ";;", "&", "&&", "||", "|", "|&", "(", ")"})
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "fi", "done", "time"}
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w{0,60})\}|([A-Za-z_]\w{0,60}))")

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
}
_RUNNERS = named("conda mamba micromamba poetry uv pipenv hatch pdm")


@dataclass(frozen=True)
class Command:
    """One simple command: its unquoted words, its redirections, and what stands on its stdin.

    ``source`` is the text it came from, verbatim; ``piped`` says that it reads what the command
    before it prints.
    """

    words: tuple[str, ...]
    source: str = ""
    stdin: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    piped: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder, or the empty string."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.words[1:]


def parse(text: str) -> list[Command]:
    """Every simple command of a text, outer before inner, at most 2,000."""
    return _parse(text, _DEPTH, {})[:_MOST]


def _parse(text: str, depth: int, variables: dict[str, str]) -> list[Command]:
    if depth == 0 or not text.strip():
        return []
    tokens, inner = lex(text)
    found: list[Command] = []
    for command in _simple_commands(text, tokens, variables):
        if len(found) >= _MOST:
            break
        previous = found[-1] if found else None
        found.extend(_open(command, previous, depth, variables))
    for nested in inner[:_MOST]:
        if len(found) >= _MOST:
            break
        found.extend(_parse(nested, depth - 1, variables))
    return found


@dataclass
class _Draft:
    start: int = -1
    end: int = -1
    words: list[str] = field(default_factory=list)
    stdin: str = ""
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)


def _simple_commands(
    text: str, tokens: Sequence[Token], variables: dict[str, str]
) -> list[Command]:
    found: list[Command] = []
    draft, piped = _Draft(), False
    at = 0
    while at <= len(tokens):
        token = tokens[at] if at < len(tokens) else Token("operator", "\n", len(text), len(text))
        at += 1
        if token.kind == "operator" and token.text in _BREAKS:
            if draft.start >= 0:
                found.append(_finish(text, draft, piped, variables))
            draft, piped = _Draft(), token.text in {"|", "|&"}
            continue
        draft.start = token.start if draft.start < 0 else draft.start
        draft.end = token.end
        if token.kind == "word":
            draft.words.append(_expand(token.text, variables))
        elif token.kind == "heredoc":
            draft.stdin = token.text
        elif at < len(tokens) and tokens[at].kind == "word":
            target = _expand(tokens[at].text, variables)
            draft.end = tokens[at].end
            at += 1
            if token.text == "<<<":
                draft.stdin = target
            elif not token.text.endswith("&"):
                (draft.reads if token.text.startswith("<") else draft.writes).append(target)
    return found


def _finish(text: str, draft: _Draft, piped: bool, variables: dict[str, str]) -> Command:
    words = draft.words
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
        name, equals, value = words[0].partition("=")
        if equals and len(value) <= 500:
            variables[name.rstrip("+")] = value
        words = words[1:]
    return Command(
        tuple(words),
        text[draft.start : draft.end],
        draft.stdin,
        tuple(draft.reads),
        tuple(draft.writes),
        piped,
    )


def _expand(word: str, variables: dict[str, str]) -> str:
    if "$" not in word or not variables:
        return word
    return _VARIABLE.sub(lambda m: variables.get(m[1] or m[2], m[0]), word[:4000]) + word[4000:]


def _open(
    command: Command, previous: Command | None, depth: int, variables: dict[str, str]
) -> list[Command]:
    """The command without its wrappers, then the commands that it hides."""
    command = replace(command, words=unwrap(command.words))
    found = [command]
    if depth <= 0:
        return found
    script = _hidden_script(command, previous)
    if script:
        found += _parse(script, depth - 1, variables)
    if command.program == "find":
        for words in _find_actions(command.words):
            action = replace(command, words=words, stdin="", reads=(), writes=(), piped=False)
            found += _open(action, None, depth - 1, variables)
    return found


def _hidden_script(command: Command, previous: Command | None) -> str:
    program, arguments = command.program, command.arguments
    if program == "eval":
        return " ".join(arguments)
    if program not in SHELLS and program != "su":
        return ""
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-[a-z]*c", word):
            return arguments[at + 1] if at + 1 < len(arguments) else ""
    if any(not word.startswith("-") for word in arguments):
        return ""
    if command.stdin:
        return command.stdin
    if command.piped and previous is not None and previous.program in {"echo", "printf", "cat"}:
        return previous.stdin or "\n".join(previous.arguments)
    return ""


def unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the command that wrappers such as ``sudo`` and ``timeout 5`` run."""
    for _ in range(8):
        while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
            words = words[1:]
        name = words[0].rpartition("/")[2] if words else ""
        if name in _RUNNERS and "run" in words[1:3]:
            words = _skip_options(words[words.index("run") + 1 :], "-n -p --name --prefix")
        elif name in _WRAPPERS:
            valued, operands = _WRAPPERS[name]
            words = _skip_options(words[1:], valued)[operands:]
        else:
            break
    return words


def _skip_options(words: tuple[str, ...], valued: str) -> tuple[str, ...]:
    with_value = frozenset(valued.split())
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at:]


def _find_actions(words: tuple[str, ...]) -> list[tuple[str, ...]]:
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
