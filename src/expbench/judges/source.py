"""The code that a submission adds, without what is not code.

Only added lines count, and of them only what a machine would run or read as a setting: comments,
document strings, sentences in strings, prose and result files are no implementation, whatever they
announce; nor is what is never reached (:mod:`~expbench.judges.reach`). File names do not count either,
they are as easily written as a comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from expbench.judges.overrides import without_overridden
from expbench.judges.reach import unreached
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, SubmissionText

_PROSE = (".md", ".rst", ".txt", ".log", ".csv", ".tsv", ".out", ".html", ".svg", ".tex", ".lock")
_SETTINGS = (".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".env")
_SLASH_COMMENTS = (".c", ".h", ".cc", ".cpp", ".cu", ".cuh", ".java", ".js", ".ts", ".go", ".rs")
_NOTEBOOK = ".ipynb"
_LONGEST_LINE = 2_000
_LONGEST_NAME = 4
"""Words of a string that may still name something; longer ones are sentences."""
_LONGEST_MESSAGE = 8
"""Words of a string with values in it that may still say what the values are."""
_QUOTES = "fF\"'"
_DOCSTRING = re.compile(r"^\s*[rRuUbB]?(?P<quote>\"\"\"|''')")
_STRING = r"[fF]?\"(?:\\.|[^\"\\])*\"|[fF]?'(?:\\.|[^'\\])*'"
_STRING_OR_HASH = re.compile(rf"(?P<string>{_STRING})|(?P<comment>(?<![\w$\\{{])#.*)")
_STRING_OR_SLASHES = re.compile(rf"(?P<string>{_STRING})|(?P<comment>//.*|/\*.*?\*/)")
_FIELD = re.compile(r"\{([^{}]+)\}")
_WORDS = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)*")
_SAID = re.compile(r"^\s*(?:echo|printf)\b(?!.*\$\()|^\s*:\s")


@dataclass(frozen=True)
class Line:
    """One added line: as it stands in the submission, and what of it is code."""

    raw: str
    code: str


@dataclass(frozen=True)
class SourceFile:
    """The added lines of one file that hold code."""

    path: str
    lines: tuple[Line, ...]

    @property
    def is_settings(self) -> bool:
        """Whether it holds settings only, nothing that runs."""
        return PurePosixPath(self.path).suffix.lower() in _SETTINGS


def added_code(submission: SubmissionText, masked: Sequence[str] = ()) -> tuple[SourceFile, ...]:
    """The added code of every file of the diff, and of the reproduce script.

    What stands in a ``masked`` file is called by the repository, so all of it counts as reached.
    """
    added = [(path, lines) for path, lines in _added(submission.diff) if _counts(path)]
    texts = {path: [text for _, text in _program(path, lines)] for path, lines in added}
    script = submission.script.split("\n")
    dead = unreached({**texts, SCRIPT_NAME: script}, frozenset(masked))
    files = []
    for path, lines in added:
        program = _program(path, lines)
        alive = [pair for at, pair in enumerate(program) if at not in dead.get(path, ())]
        files.append(SourceFile(path, tuple(_code_lines(path, alive))))
    files.append(SourceFile(SCRIPT_NAME, tuple(_code_lines(SCRIPT_NAME, [(s, s) for s in script]))))
    return tuple(file for file in without_overridden(files) if file.lines)


def code_only(text: str) -> str:
    """Python code without its comments, document strings and sentences."""
    return "\n".join(line.code for line in _code_lines("_.py", [(s, s) for s in text.split("\n")]))


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


def _program(path: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Each line as it stands in the diff, with its text; of notebooks the code cells' lines."""
    if not path.lower().endswith(_NOTEBOOK):
        return [(raw, raw[1:]) for raw in lines]
    found: list[tuple[str, str]] = []
    is_code, in_source = False, False
    for raw in lines:
        text = raw[1:].strip()
        if text.startswith('"cell_type"'):
            is_code = "code" in text.partition(":")[2]
        elif text.startswith('"source"'):
            in_source = is_code
        elif text.startswith("]"):
            in_source = False
        elif in_source and text.startswith('"'):
            found.append((raw, _unquoted(text)))
    return found


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text.rstrip(","))
    except ValueError:
        return text
    return value.rstrip("\n") if isinstance(value, str) else text


def _code_lines(path: str, lines: Sequence[tuple[str, str]]) -> Iterator[Line]:
    suffix = PurePosixPath(path).suffix.lower()
    pattern = _STRING_OR_SLASHES if suffix in _SLASH_COMMENTS else _STRING_OR_HASH
    closing = ""
    for raw, text in lines:
        if closing:
            closing = "" if closing in text else closing
            continue
        opening = _DOCSTRING.match(text)
        if opening:
            closing = "" if opening["quote"] in text[opening.end() :] else opening["quote"]
            continue
        if len(text) > _LONGEST_LINE or _SAID.match(text):
            continue
        code = pattern.sub(_kept, text)
        if code.strip():
            yield Line(raw, code)


def _kept(found: re.Match[str]) -> str:
    """What of a string or a comment is code: short strings, and the fields of longer ones."""
    if found["comment"]:
        return ""
    text = found["string"]
    if len(_WORDS.findall(text)) <= _LONGEST_NAME:
        return text
    fields = _FIELD.findall(text) if text[0] in "fF" else []
    said = _FIELD.sub(" ", text) if fields else ""
    if len(_WORDS.findall(said)) > _LONGEST_MESSAGE:
        said = ""
    return f'"{" ".join([said.strip(_QUOTES), *fields])}"'
