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
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from expbench.monitor.commands import Command
from expbench.monitor.scope import Scope
from expbench.monitor.sources import Code, opened, python_code, script_code, script_kind, shell_code
from expbench.schema import Turn

HALF = 100_000
TOTAL = 8_000_000
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


@dataclass(frozen=True)
class Step:
    """One tool call: what it did.

    ``ran`` is what it executed, ``authored`` the code it wrote to files, and ``opened`` that of scripts
    which it ran and which were not looked at where they were written.
    """

    turn: int
    source: str
    output: str = ""
    cut: bool = False
    ran: Code = field(default_factory=Code)
    authored: Code = field(default_factory=Code)
    opened: Code = field(default_factory=Code)
    written: dict[str, str] = field(default_factory=dict)
    queries: tuple[str, ...] = ()

    @property
    def code(self) -> Code:
        """Everything that the call ran or wrote."""
        return self.ran + self.authored + self.opened


def clip(text: str, half: int = HALF) -> str:
    """A text of at most ``2 * half`` characters: its head and its tail. NULs become blanks."""
    short = text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}"
    return short.replace("\0", " ")


def steps(trajectory: Sequence[Turn]) -> list[Step]:
    """The tool turns of a trajectory; those behind the total bound stay, without their text."""
    found: list[Step] = []
    left = TOTAL
    reader = _Reader()
    for at, turn in enumerate(trajectory):
        if turn.role != "tool":
            continue
        half = min(HALF, left // 4)
        source, output = clip(turn.command, half), clip(turn.text, half)
        left = max(0, left - len(source) - len(output))
        cut = len(turn.command) + len(turn.text) > len(source) + len(output)
        found.append(reader.step(at, turn.tool, source, output, cut))
    return found


def written_files(commands: Sequence[Command]) -> dict[str, str]:
    """Files that shell commands fill with literal text: here-documents, ``echo … >``, ``tee``."""
    found: dict[str, str] = {}
    earlier: Command | None = None
    for command in commands:
        targets, text = command.writes, command.stdin
        if command.printed is not None and command.program != "tee":
            text = command.printed
        elif command.program in {"echo", "printf"}:
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


class _Reader:
    """Reads one call after another, and remembers the names and files that they leave behind."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.seen: set[str] = set()

    def step(self, turn: int, tool: str, source: str, output: str, cut: bool) -> Step:
        before = dict(self.scope.files)
        ran, written, queries = self._call(tool, source, 2)
        for snippet in ran.snippets:
            written |= snippet.files
        files = self.scope.files
        changed = {path for path, text in files.items() if before.get(path) != text}
        for path, text in written.items():
            if path.removeprefix("./") not in changed:
                self.scope.write(path, text)
        written = {p: t for p, t in files.items() if before.get(p) != t} | {
            p: self.scope.text(p) or t for p, t in written.items()
        }
        authored = Code()
        for path, text in written.items():
            authored += script_code(path, text)
            if script_kind(path, text):
                self.seen.add(text)
        more = opened(ran.commands, self.scope, self.seen)
        return Step(turn, source, output, cut, ran, authored, more, written, queries)

    def _call(self, tool: str, source: str, depth: int) -> _Read:
        arguments = _json_arguments(source) if depth else {}
        if arguments:
            return self._arguments(tool, arguments, depth)
        if "*** Begin Patch" in source[:200]:
            return Code(), _patched(source), ()
        if _WEB_TOOL.search(tool):
            return Code(), {}, (source,)
        if _PYTHON_TOOL.search(tool):
            return python_code(source), {}, ()
        if _FILE_TOOL.search(tool):
            verb, path, text = _file_operation(source)
            return _file_call(verb, path, text)
        ran = shell_code(source, scope=self.scope)
        return ran, written_files(ran.commands), ()

    def _arguments(self, tool: str, arguments: dict[str, str], depth: int) -> _Read:
        path = next((arguments[key] for key in _PATH_KEYS if key in arguments), "")
        if "pattern" in arguments:
            pattern, place = arguments["pattern"], path or "."
            found = Command(("grep", pattern, place), pattern)
            if "glob" in tool.lower():
                found = Command(("find", place, "-name", pattern), pattern)
            return Code((found,)), {}, ()
        if path:
            text = "\n".join(v for k, v in arguments.items() if "text" in k or k in _CONTENT_KEYS)
            old = arguments.get("old_str") or arguments.get("old_string")
            known = self.scope.text(path)
            if old and known and old in known:
                text = known.replace(old, text)
            return _file_call(arguments.get("command", "write" if text else "view"), path, text)
        for key in ("query", "url", "q"):
            if key in arguments:
                return Code(), {}, (arguments[key],)
        for key, kind in (("code", "python"), ("command", tool), ("cmd", tool), ("input", tool)):
            if key in arguments:
                return self._call(kind, arguments[key], depth - 1)
        return shell_code("\n".join(arguments.values()), scope=self.scope), {}, ()


_Read = tuple[Code, dict[str, str], tuple[str, ...]]
_PATH_KEYS = ("path", "file_path", "filename", "notebook_path")
_CONTENT_KEYS = frozenset(
    {"content", "contents", "new_str", "new_string", "insert_line_text", "new_source"}
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update) File: (.{1,500})$", re.MULTILINE)


def _patched(text: str) -> dict[str, str]:
    """The lines that a patch in the form ``*** Begin Patch`` adds, by file."""
    parts = _PATCHED.split(text)
    return {
        path.strip(): "\n".join(s[1:] for s in body.splitlines() if s.startswith("+"))
        for path, body in zip(parts[1::2], parts[2::2], strict=True)
    }


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
    return value if isinstance(value, str) else shlex.join(map(str, value))


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


def _file_call(verb: str, path: str, text: str) -> _Read:
    if text and not verb.startswith(("view", "read", "open")):
        return Code(), {path: text}, ()
    return Code((Command(("cat", path), f"{verb} {path}"),)), {}, ()
