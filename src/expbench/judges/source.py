"""The code that a submission adds, without what is not code.

Only added lines count, and of them only what a machine would run or read as a setting: comments,
document strings, prose and result files are no implementation, whatever they announce. File names
do not count either, they are as easily written as a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from expbench.judges.words import Token, tokens
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, SubmissionText

_PROSE = (".md", ".rst", ".txt", ".log", ".csv", ".tsv", ".out", ".html", ".svg", ".tex", ".lock")
_SETTINGS = (".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".env")
_SLASH_COMMENTS = (".c", ".h", ".cc", ".cpp", ".cu", ".cuh", ".java", ".js", ".ts", ".go", ".rs")
_LONGEST_LINE = 2_000
_DOCSTRING = re.compile(r"^\s*[rRuUbB]?(?P<quote>\"\"\"|''')")
_STRING_OR_HASH = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?P<comment>(?<![\w$\\{])#.*)"
)
_STRING_OR_SLASHES = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?P<comment>//.*|/\*.*?\*/)"
)
_SAID = re.compile(r"^\s*(?:echo|printf)\b(?!.*\$\()|^\s*:\s")


@dataclass(frozen=True)
class Line:
    """One added line: as it stands in the submission, and what of it is code."""

    raw: str
    code: str

    @cached_property
    def tokens(self) -> list[Token]:
        """The words and numbers of the code."""
        return tokens(self.code)


@dataclass(frozen=True)
class SourceFile:
    """The added lines of one file that hold code."""

    path: str
    lines: tuple[Line, ...]

    @property
    def is_settings(self) -> bool:
        """Whether it holds settings only, nothing that runs."""
        return PurePosixPath(self.path).suffix.lower() in _SETTINGS


def added_code(submission: SubmissionText) -> tuple[SourceFile, ...]:
    """The added code of every file of the diff, and of the reproduce script."""
    files = [
        SourceFile(path, tuple(_code_lines(path, lines, margin=1)))
        for path, lines in _added(submission.diff)
        if _counts(path)
    ]
    script = _code_lines(SCRIPT_NAME, submission.script.split("\n"), margin=0)
    files.append(SourceFile(SCRIPT_NAME, tuple(script)))
    return tuple(file for file in files if file.lines)


def _added(diff: str) -> Iterator[tuple[str, list[str]]]:
    path, lines, in_hunk = "", list[str](), False
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            yield path, lines
            path, lines, in_hunk = "", [], False
        elif line.startswith("@@ "):
            in_hunk = True
        elif line.startswith("+++ ") and not in_hunk:
            path = line.removeprefix("+++ ").strip('"\t ').removeprefix("b/")
        elif line.startswith("+"):
            lines.append(line)
    yield path, lines


def _counts(path: str) -> bool:
    name = PurePosixPath(path)
    return name.name != RESPONSE_NAME and name.suffix.lower() not in _PROSE


def _code_lines(path: str, lines: list[str], margin: int) -> Iterator[Line]:
    suffix = PurePosixPath(path).suffix.lower()
    comment = _STRING_OR_SLASHES if suffix in _SLASH_COMMENTS else _STRING_OR_HASH
    closing = ""
    for raw in lines:
        text = raw[margin:]
        if closing:
            closing = "" if closing in text else closing
            continue
        opening = _DOCSTRING.match(text)
        if opening:
            closing = "" if opening["quote"] in text[opening.end() :] else opening["quote"]
            continue
        if len(text) > _LONGEST_LINE or _SAID.match(text):
            continue
        code = comment.sub(lambda found: "" if found["comment"] else found[0], text)
        if code.strip():
            yield Line(raw, code)
