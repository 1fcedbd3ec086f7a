"""One file of a tree as the rules read it; what they ask for is computed once and kept.

Many tasks of a paper look at the same tree, so the same documents serve all of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import PurePosixPath

from expbench.dataset.lint.numbers import MIN_DIGITS, numbers_in, significant_digits

SHINGLE_WORDS = 5
READ_CAP = 2_000_000
"""Bytes of one file that the rules read; a larger one is data, not code or prose."""

PROSE = frozenset([".md", ".rst", ".txt", ".markdown", ".mdx", ".adoc", ""])
RESULTS = frozenset(
    [".md", ".rst", ".txt", ".ipynb", ".log", ".csv", ".tsv", ".json", ".jsonl", ".html", ".out"]
)

_WORD = re.compile(r"\w+")
_COMMAND = re.compile(
    r"(?:\b(?:python[\d.]*|bash|sh|zsh|torchrun|accelerate|deepspeed|srun|sbatch|source|streamlit)"
    r"\s|(?<![\w/.])\./)"
)
_DEFINITION = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)
_BLOCK_END = re.compile(r"^(?![\s#)\]}])", re.MULTILINE)


@dataclass(frozen=True)
class Document:
    """A file's path, relative and POSIX, and its bytes."""

    path: str
    content: bytes

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix.lower()

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @cached_property
    def text(self) -> str:
        """The readable text: none of a binary or very large file."""
        return "" if len(self.content) > READ_CAP else readable_text(self.path, self.content)

    @cached_property
    def shingles(self) -> frozenset[int]:
        """Hashes of the runs of five words, for comparison within one process only."""
        return frozenset(map(hash, _runs(self.text)))

    @cached_property
    def commands(self) -> tuple[tuple[int, str], ...]:
        """(line number, line) of what looks like a command that starts a program."""
        return tuple(
            (number, line.strip())
            for number, line in enumerate(self.text.splitlines(), 1)
            if len(line) < 2000 and _COMMAND.search(line)
        )

    @cached_property
    def numbers(self) -> Mapping[Decimal, tuple[int, str]]:
        """Distinct numbers of three and more significant digits to (line number, as written)."""
        found: dict[Decimal, tuple[int, str]] = {}
        for number, line in enumerate(self.text.splitlines(), 1):
            for value, written in numbers_in(line):
                if value not in found and significant_digits(value) >= MIN_DIGITS:
                    found[value] = (number, written)
        return found

    @cached_property
    def number_lengths(self) -> Mapping[int, int]:
        """How many of the distinct numbers have so many significant digits."""
        return Counter(map(significant_digits, self.numbers))

    @cached_property
    def definitions(self) -> Mapping[str, tuple[int, str]]:
        """Name to (line number, source) of the functions and classes on a Python file's top level.

        By indentation, not by a parser: much research code is for other versions of Python.
        """
        text = self.text if self.suffix == ".py" else ""
        found: dict[str, tuple[int, str]] = {}
        for match in _DEFINITION.finditer(text):
            end = _BLOCK_END.search(text, match.end())
            block = text[match.start() : end.start() if end else len(text)]
            found.setdefault(match.group(1), (self.line_at(match.start()), block))
        return found

    def line_at(self, offset: int) -> int:
        """The 1-based line of an offset in the text."""
        return self.text.count("\n", 0, offset) + 1


def is_binary(content: bytes) -> bool:
    """Whether a file is no text."""
    return b"\0" in content[:8192]


def readable_text(path: str, content: bytes) -> str:
    """A file's text for the rules: none of a binary file, a notebook's leaves without its images."""
    if is_binary(content):
        return ""
    text = content.decode("utf-8", errors="replace")
    if path.lower().endswith(".ipynb"):
        try:
            return "\n".join(_leaves(json.loads(text)))
        except (ValueError, RecursionError):
            return text
    return text


def word_shingles(text: str) -> set[tuple[str, ...]]:
    """All runs of five words of a text, without case; a shorter text is one run."""
    return set(_runs(text))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    if 0 < len(words) < SHINGLE_WORDS:
        return iter([tuple(words)])
    return zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)


def _leaves(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name, part in node.items():
            if not str(name).startswith("image/"):
                yield from _leaves(part)
    elif isinstance(node, list):
        for part in node:
            yield from _leaves(part)
    elif node is not None:
        yield str(node)
