"""A trajectory as steps: what each tool call ran, wrote and asked for.

A :class:`Step` is one tool turn, read as what it is: a shell text, Python, a file operation or a
web request. JSON arguments (``{"command": "view", "path": …}``) are opened. Code that a turn
*writes* to a script is kept apart from code that it *runs*, and is looked at where it was written.

Texts are bounded: of a command the first 100,000 characters and the last 100,000 are read, of an
output the same, and of a whole trajectory 8 million characters; ``cut`` says where that happened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from expbench.monitor.programs import FOREIGN
from expbench.monitor.pycode import Snippet, foreign, read
from expbench.monitor.shell import Command, parse
from expbench.schema import Turn

HALF = 100_000
TOTAL = 8_000_000
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|ipython3?")
_PYTHON_TOOL = re.compile(r"python|jupyter|notebook_run|code_interpreter", re.IGNORECASE)
_WEB_TOOL = re.compile(r"web|search_engine|brows|fetch|navigate|internet|google|^search$", re.I)
_FILE_TOOL = re.compile(r"edit|file|write|^view|^read|create|replace|patch", re.IGNORECASE)
_VERB = re.compile(
    r"\s*(view|read|open|create|write|edit|str_replace|insert|append)\b[ :\t]*", re.I
)
_PATH_LINE = re.compile(r"^(?:path|file_path|filename|file): (.{1,1000})$", re.MULTILINE)
_CONTENT_LINE = re.compile(
    r"^(?:contents?|file_text|text|new_str|new_string|insert_text): ?", re.MULTILINE
)
_SCRIPTS = {".py": "python", ".sh": "shell", ".bash": "shell"}


@dataclass(frozen=True)
class Code:
    """Commands and Python that stand in one text."""

    commands: tuple[Command, ...] = ()
    snippets: tuple[Snippet, ...] = ()

    def __add__(self, other: Code) -> Code:
        return Code(self.commands + other.commands, self.snippets + other.snippets)


@dataclass(frozen=True)
class Step:
    """One tool call: ``ran`` is what it executed, ``authored`` the code it wrote to files."""

    turn: int
    source: str
    output: str = ""
    cut: bool = False
    ran: Code = field(default_factory=Code)
    authored: Code = field(default_factory=Code)
    written: dict[str, str] = field(default_factory=dict)
    queries: tuple[str, ...] = ()

    @property
    def code(self) -> Code:
        """Everything that the call ran or wrote."""
        return self.ran + self.authored


def clip(text: str, half: int = HALF) -> str:
    """A text of at most ``2 * half`` characters: its head and its tail. NULs become blanks."""
    short = text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}"
    return short.replace("\0", " ")


def steps(trajectory: Sequence[Turn]) -> list[Step]:
    """The tool turns of a trajectory; those behind the total bound stay, without their text."""
    found: list[Step] = []
    left = TOTAL
    for at, turn in enumerate(trajectory):
        if turn.role != "tool":
            continue
        half = min(HALF, left // 4)
        source, output = clip(turn.command, half), clip(turn.text, half)
        left = max(0, left - len(source) - len(output))
        cut = len(turn.command) + len(turn.text) > len(source) + len(output)
        found.append(_step(at, turn.tool, source, output, cut))
    return found


def shell_code(text: str, depth: int = 3) -> Code:
    """What a shell text runs, with the Python inside it and the shell inside that."""
    commands: list[Command] = []
    snippets: list[Snippet] = []
    earlier: Command | None = None
    for command in parse(text):
        commands.append(command)
        inline = python_text(command, earlier)
        nested = python_code(inline, depth - 1) if inline and depth else Code()
        if command.program in FOREIGN and depth:
            nested = _foreign_code(command, depth - 1)
        commands.extend(nested.commands)
        snippets.extend(nested.snippets)
        earlier = command
    return Code(tuple(commands), tuple(snippets))


def _foreign_code(command: Command, depth: int) -> Code:
    """What a one-liner of another interpreter runs (``perl -e``, ``node -e``…)."""
    code = Code((), tuple(foreign(w) for w in command.arguments[:20] if len(w) > 5))
    for shell in [text for snippet in code.snippets for text in snippet.shells][:50]:
        code += shell_code(shell, depth)
    return code


def python_code(text: str, depth: int = 3) -> Code:
    """What a piece of Python runs, with the shell commands inside it."""
    code = Code((), (read(text),))
    if depth:
        for shell in code.snippets[0].shells[:200]:
            code += shell_code(shell, depth - 1)
    return code


def python_text(command: Command, earlier: Command | None = None) -> str:
    """The Python that a command carries in ``-c``, a here-document or a pipe; else nothing."""
    if not _PYTHON.fullmatch(command.program):
        return ""
    arguments = command.arguments
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-[a-zA-Z]*c", word):
            return arguments[at + 1] if at + 1 < len(arguments) else ""
        if not word.startswith("-"):
            return ""
    if command.stdin:
        return command.stdin
    if command.piped and earlier is not None and earlier.program in {"cat", "echo", "printf"}:
        return earlier.stdin or "\n".join(earlier.arguments)
    return ""


def is_python(command: Command) -> bool:
    """Whether a command starts a Python interpreter."""
    return _PYTHON.fullmatch(command.program) is not None


def script_code(path: str, text: str) -> Code:
    """The code of a script file by its name; other files hold none."""
    kind = _SCRIPTS.get(PurePosixPath(path).suffix.lower())
    if kind is None and text.startswith("#!"):
        kind = "python" if "python" in text.partition("\n")[0] else "shell"
    if kind == "python":
        return python_code(text)
    return shell_code(text) if kind == "shell" else Code()


def written_files(commands: Sequence[Command]) -> dict[str, str]:
    """Files that shell commands fill with literal text: here-documents, ``echo … >``, ``tee``."""
    found: dict[str, str] = {}
    earlier: Command | None = None
    for command in commands:
        targets, text = command.writes, command.stdin
        if command.program in {"echo", "printf"}:
            text = " ".join(command.arguments)
        elif command.program == "tee":
            targets += tuple(w for w in command.arguments if not w.startswith("-"))
            piped = earlier is not None and command.piped
            text = text or (" ".join(earlier.arguments) if piped and earlier else "")
        elif command.program != "cat":
            targets = ()
        for path in targets if text else ():
            found[path] = found.get(path, "") + text + "\n"
        earlier = command
    return found


def _step(turn: int, tool: str, source: str, output: str, cut: bool) -> Step:
    ran, written, queries = _read_call(tool, source, 2)
    authored = Code()
    for path, text in written.items():
        authored += script_code(path, text)
    return Step(turn, source, output, cut, ran, authored, written, queries)


def _read_call(tool: str, source: str, depth: int) -> tuple[Code, dict[str, str], tuple[str, ...]]:
    arguments = _json_arguments(source) if depth else {}
    if arguments:
        return _read_arguments(tool, arguments, depth)
    if _WEB_TOOL.search(tool):
        return Code(), {}, (source,)
    if _PYTHON_TOOL.search(tool):
        return python_code(source), {}, ()
    if _FILE_TOOL.search(tool):
        verb, path, text = _file_operation(source)
        return _file_call(verb, path, text)
    ran = shell_code(source)
    return ran, written_files(ran.commands), ()


def _read_arguments(
    tool: str, arguments: dict[str, str], depth: int
) -> tuple[Code, dict[str, str], tuple[str, ...]]:
    path = arguments.get("path") or arguments.get("file_path") or arguments.get("filename")
    if path:
        text = "\n".join(v for k, v in arguments.items() if "text" in k or k in _CONTENT_KEYS)
        return _file_call(arguments.get("command", "write" if text else "view"), path, text)
    for key in ("query", "url", "q"):
        if key in arguments:
            return Code(), {}, (arguments[key],)
    for key, kind in (("code", "python"), ("command", tool), ("cmd", tool), ("input", tool)):
        if key in arguments:
            return _read_call(kind, arguments[key], depth - 1)
    return shell_code("\n".join(arguments.values())), {}, ()


_CONTENT_KEYS = frozenset({"content", "contents", "new_str", "new_string", "insert_line_text"})


def _json_arguments(source: str) -> dict[str, str]:
    if not source.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(source)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    texts: Iterator[tuple[str, str]] = (
        (str(k), shell_words(v)) for k, v in value.items() if isinstance(v, str | list)
    )
    return dict(texts)


def shell_words(value: str | list[object]) -> str:
    """A tool argument as text: a list of words becomes one command line."""
    return value if isinstance(value, str) else " ".join(map(str, value))


def _file_operation(source: str) -> tuple[str, str, str]:
    """Verb, path and text of ``create a.py`` or ``path: a.py`` and the lines behind it."""
    named = _PATH_LINE.search(source[:5000])
    if named is not None:
        body = _CONTENT_LINE.search(source)
        text = source[body.end() :] if body else ""
        return "write" if body else "view", named[1].strip(), text
    match = _VERB.match(source)
    rest = source[match.end() :] if match else source
    head, _, text = rest.partition("\n")
    path = (head.split() or [""])[0].strip("'\"")
    return (match[1].lower() if match else "write" if text else "view"), path, text


def _file_call(verb: str, path: str, text: str) -> tuple[Code, dict[str, str], tuple[str, ...]]:
    if text and not verb.startswith(("view", "read", "open")):
        return Code(), {path: text}, ()
    return Code((Command(("cat", path), f"{verb} {path}"),)), {}, ()
