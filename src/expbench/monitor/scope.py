"""What a shell knows by name: variables, aliases, functions, renamed programs, and files.

One :class:`Scope` goes through a whole trajectory, so that a script which one call writes, another one
edits and a third one runs is known when it runs. Files are texts in memory; nothing is read or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from expbench.monitor.encodings import substituted

_PARAMETER = re.compile(
    r"\$(?:\{([A-Za-z_]\w{0,60}|[@*0-9])((?:[:\-=/#%]|\[[@*]\])[^{}]{0,200})?\}"
    r"|([A-Za-z_]\w{0,60}|[@*0-9]))"
)
_SLICE = re.compile(r":\s*(-?\d{1,4})(?::(\d{1,4}))?")
_VALUE = 4_000
_RESULT = 20_000
_FILE = 200_000
_MOST_FILES = 500
_MOST_TURNS = 40
_MOST_NAMES = 2_000
_DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset"})


@dataclass
class Scope:
    """Names and files; see the module."""

    variables: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    """A new name of a program, and its own."""
    files: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    """The names of the files, without their folders."""

    def inside(self, arguments: Sequence[str]) -> Scope:
        """The scope of a function's body: all of this, and its own arguments."""
        numbered = {str(n): word[:_VALUE] for n, word in enumerate(arguments[:9], 1)}
        every = " ".join(arguments)[:_VALUE]
        return replace(self, variables=self.variables | numbered | {"@": every, "*": every})

    def assign(self, name: str, value: str) -> None:
        """Bind a variable; values that are too long are forgotten."""
        if len(value) <= _VALUE and len(self.variables) < _MOST_NAMES:
            self.variables[name] = value

    def expand(self, word: str) -> str:
        """A word with its known variables replaced."""
        if "$" not in word:
            return word
        return _PARAMETER.sub(self._value, word, count=50)[: max(_RESULT, len(word))]

    def _value(self, match: re.Match[str]) -> str:
        name, operation = match[1] or match[3], match[2] or ""
        value = self.variables.get(name)
        if value is None:
            for mark in (":-", ":=", "-", "="):
                if operation.startswith(mark):
                    return operation.removeprefix(mark)
            return match[0]
        if (found := _SLICE.fullmatch(operation)) is not None:
            start = int(found[1])
            return value[start : start + int(found[2]) if found[2] else None]
        if operation.startswith("/"):
            old, _, new = operation.lstrip("/").partition("/")
            return value.replace(old, new, -1 if operation.startswith("//") else 1)
        if operation.startswith("#"):
            return value.removeprefix(operation.lstrip("#"))
        if operation.startswith("%"):
            return value.removesuffix(operation.lstrip("%"))
        return value

    def write(self, path: str, text: str, append: bool = False) -> None:
        """Remember what a file holds now."""
        clean = path.removeprefix("./")
        if len(self.files) < _MOST_FILES or clean in self.files:
            self.names.add(clean.rpartition("/")[2])
            self.files[clean] = ((self.files.get(clean, "") if append else "") + text)[:_FILE]

    @classmethod
    def holding(cls, files: Mapping[str, str]) -> Scope:
        """A scope in which some files are known."""
        scope = cls()
        for path, text in files.items():
            scope.write(path, text)
        return scope

    def forget(self, path: str) -> None:
        """Something unknown was written to a file."""
        self.files.pop(path.removeprefix("./"), None)

    def text(self, path: str) -> str | None:
        """What a file holds, where that is known."""
        known = path.rpartition("/")[2] in self.names
        return lookup(path, self.files) if known else None

    def copy(self, source: str, target: str) -> None:
        """Remember that one file is now a copy of another."""
        text = self.text(source)
        if text is not None:
            name = PurePosixPath(source).name
            self.write(f"{target}{name}" if target.endswith("/") else target, text)

    def substitute(self, program: str, path: str) -> None:
        """Apply sed's plain substitutions to a file in place."""
        text = self.text(path)
        changed = substituted(program, text) if text is not None else None
        if changed is not None:
            self.write(path, changed)

    def note(self, program: str, arguments: Sequence[str], stdin: str) -> None:
        """Learn from a command what later ones have to know."""
        plain = [word for word in arguments if not word.startswith("-")]
        if program == "alias" or program in _DECLARING:
            for word in plain:
                name, equals, value = word.partition("=")
                if equals and program == "alias":
                    self.aliases[name] = tuple(value[:1000].split())
                elif equals:
                    self.assign(name, value)
        elif program == "read" and stdin:
            values = stdin.split(None, max(0, len(plain) - 1))
            for name, value in zip(plain, values, strict=False):
                self.assign(name, value.rstrip("\n"))
        elif program == "for" and 3 <= len(arguments) <= _MOST_TURNS:
            self.assign(arguments[0], " ".join(arguments[2:]))
        elif program in {"cp", "mv", "ln", "install"} and len(plain) >= 2:
            for source in plain[:-1]:
                self._rename(source, plain[-1])
        elif program == "sed" and any(w.startswith(("-i", "--in-place")) for w in arguments):
            for path in plain[1:]:
                self.substitute(plain[0], path)

    def _rename(self, source: str, target: str) -> None:
        self.copy(source, target)
        if "bin/" in source:
            name = source.rpartition("/")[2]
            self.programs[target.rpartition("/")[2] or name] = name


def lookup(path: str, files: Mapping[str, str]) -> str | None:
    """A file's text by its path, or by its end when the command stood in another folder."""
    clean = path.removeprefix("./")
    if clean in files:
        return files[clean]
    name = PurePosixPath(clean).name
    for known, text in files.items():
        if known.rpartition("/")[2] == name and (known.endswith(clean) or clean.endswith(known)):
            return text
    return None
