"""A simple shell command, and the conditions that it runs under."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """A condition that a command runs under: the test's text, and whether it must hold."""

    test: str
    holds: bool


@dataclass(frozen=True)
class Command:
    """One simple command: its unquoted words, its redirections, and what stands on its stdin.

    ``source`` is the text it came from, verbatim; ``piped`` says that it reads what the command
    before it prints, ``when`` under which conditions it runs, ``printed`` what it prints, where that is
    known. A function's definition is the command ``function NAME`` with its body as ``stdin``.
    """

    words: tuple[str, ...]
    source: str = ""
    stdin: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    piped: bool = False
    appends: bool = False
    background: bool = False
    when: tuple[Guard, ...] = ()
    printed: str | None = None

    @property
    def program(self) -> str:
        """The program's name without its folder, or the empty string."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.words[1:]
