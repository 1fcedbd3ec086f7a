"""Numbers that were there before the re-run: printed literals, and what stands in files that are read.

A number that code prints as it stands was not computed, and one that code reads out of a document or a result
file was not either. The second needs both: the number in the file, and the file's name in submitted code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from expbench.grounding.cells import Cell
from expbench.monitor.draws import simulated
from expbench.monitor.literals import Printed, printed
from expbench.monitor.numbers import Number, NumberSet, result_numbers, scan
from expbench.monitor.patches import Added, added
from expbench.monitor.results import near, shell_printed
from expbench.schema import SubmissionText

_CODE = (".py", ".ipynb", ".pyx")
_SHELL = (".sh", ".bash")
_SOURCES = (
    *_CODE,
    *_SHELL,
    ".c",
    ".cc",
    ".cpp",
    ".h",
    ".rs",
    ".jl",
    ".r",
    ".m",
    ".java",
    ".js",
    ".ts",
    ".go",
)
_TABLE, _DATA = 500, 20_000
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import|import\s+([\w.]+))", re.MULTILINE)
_SMALL_MODULE = 20_000
_LONGEST = 500_000
_NEAR_LINE = re.compile(r"[A-Za-z]{3,}")
_NAME_BEFORE = re.compile(r"([A-Za-z]{3,})\W{0,4}$")


@dataclass(frozen=True)
class Literals:
    """What of a re-run's outputs was not computed by it."""

    printed: tuple[tuple[str, Printed], ...] = ()
    """Literals that reach an output statement, with the file that they stand in."""
    files: Mapping[str, NumberSet] = field(default_factory=dict)
    """Numbers of files that submitted code names, and that the re-run did not make."""
    drawn: str = ""
    """A line that shows random draws as results, where nothing else is computed."""

    def why(self, cell: Cell) -> str:
        """Why a number of the outputs does not count; empty when it does."""
        if self.drawn:
            return f"is a random draw around constants: {self.drawn[:120]}"
        numbers = scan(cell.written)
        if len(numbers) != 1:
            return ""
        number = numbers[0]
        for path, one in self.printed:
            if _prints(one, number, cell):
                return f"stands as a literal in {path}"
        if number.significant >= 3:
            for path, held in self.files.items():
                if number in held:
                    return f"stands in {path}, which the submitted code reads"
        return ""


def literals_of(
    submission: SubmissionText | None,
    shipped: Mapping[str, str] | None = None,
    made: Iterable[str] = (),
    set_aside: Iterable[str] = (),
) -> Literals:
    """The literals of a submission.

    Args:
        shipped: documents and result files of the repository, by path.
        made: files that the re-run wrote; ``set_aside`` those that were not there for it.
    """
    if submission is None:
        return Literals()
    patch = added(submission.diff[:_LONGEST])
    found = tuple(_printed(submission, patch))
    return Literals(
        found,
        _read(submission, patch, shipped or {}, {*made, *set_aside}),
        _drawn(submission, patch),
    )


def _prints(one: Printed, number: Number, cell: Cell) -> bool:
    """Whether a literal is the number of an output line.

    One of two digits is with a word of that line, one of a single digit behind the same word.
    """
    if one.noisy:
        return number.significant >= 2 and near(number, one.number)
    if one.number.setting or number.value != one.number.value:
        return False
    if number.significant >= 3:
        return True
    if number.significant < 2:
        return _says(one.line, cell)
    words = {word.lower() for word in _NEAR_LINE.findall(one.line)}
    return bool(words & {word.lower() for word in _NEAR_LINE.findall(cell.quote)})


def _says(line: str, cell: Cell) -> bool:
    """Whether a line of code has an output's number behind the word that stands before it there."""
    name = _NAME_BEFORE.search(cell.quote.partition(cell.written)[0])
    if name is None:
        return False
    said = rf"(?i)\b{name[1]}\W{{0,4}}{re.escape(cell.written)}(?![.\d]*\d)"
    return re.search(said, line) is not None


def _printed(submission: SubmissionText, patch: Iterable[Added]) -> Iterator[tuple[str, Printed]]:
    files = list(patch)
    for one in shell_printed(submission.script[:_LONGEST]):
        yield "the reproduce script", one
    for file in files:
        if file.path.endswith(_CODE):
            ones = printed(_with_imports(file, files))
        elif file.path.endswith(_SHELL):
            ones = shell_printed(file.text[:_LONGEST])
        else:
            continue
        for one in ones:
            yield file.path, one


def _with_imports(file: Added, patch: Iterable[Added]) -> str:
    """A file behind the small modules of the patch that it imports: constants come from there."""
    names = {(m[1] or m[2]).rpartition(".")[2] for m in _IMPORT.finditer(file.text)}
    parts = [
        other.text
        for other in patch
        if other is not file
        and other.path.endswith(".py")
        and PurePosixPath(other.path).stem in names
        and len(other.text) < _SMALL_MODULE
    ]
    return "\n".join([*parts, file.text])[:_LONGEST]


def _read(
    submission: SubmissionText, patch: Iterable[Added], shipped: Mapping[str, str], gone: set[str]
) -> dict[str, NumberSet]:
    """The result numbers of files that submitted code names."""
    files = list(patch)
    code = "\n".join([submission.script, *(f.text for f in files if f.path.endswith(_SOURCES))])
    texts = {f.path: f.text for f in files if not f.path.endswith(_SOURCES)} | dict(shipped)
    found = {}
    for path, text in texts.items():
        name = PurePosixPath(path).name
        if (
            path in gone
            or name in ("response.json",)
            or not re.search(rf"(?<!\w){re.escape(name)}", code)
        ):
            continue
        numbers = [number for number in result_numbers(text) if number.significant >= 3]
        if len(numbers) > _DATA:
            continue
        kept = [n for n in numbers if len(numbers) <= _TABLE or n.significant >= 4]
        if kept:
            found[path] = NumberSet(kept)
    return found


def _drawn(submission: SubmissionText, patch: Iterable[Added]) -> str:
    """A line of the code that the script runs which shows nothing but random draws."""
    whole = "\n".join(file.text for file in patch)
    drawn = ""
    for file in patch:
        stem = PurePosixPath(file.path).stem
        if file.path.endswith(".py") and file.whole and stem in submission.script + whole:
            line, computed = simulated(file.text[:_LONGEST])
            if computed:
                return ""
            drawn = drawn or line
    return drawn
