"""What a re-run put out, as numbers that can be looked up.

Standard output, standard error and the texts that it made are read line by line into
:class:`~expbench.grounding.cells.Cell` s. Everything is bounded: of a long text the beginning and the end are
read.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from expbench.grounding.cells import Cell
from expbench.grounding.names import DENIAL, NEGATED, Token, setting
from expbench.grounding.reading import read
from expbench.schema import RESPONSE_NAME, Execution
from expbench.workspace import BlobStore

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_TEXTS = frozenset(
    (
        *(
            ".txt",
            ".log",
            ".out",
            ".csv",
            ".tsv",
            ".json",
            ".jsonl",
            ".ndjson",
            ".md",
            ".yaml",
            ".yml",
        ),
        *(".tex", ".rst", ".html", ".dat", ".results", ""),
    )
)
_HALF = 1_000_000
_MOST_CELLS = 60_000
_LONGEST_LINE = 1_000_000


@dataclass(frozen=True)
class Run:
    """The outputs of one execution: its texts by name, and all numbers in them."""

    texts: Mapping[str, str]
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Run:
        """Read texts by name; ``stdout`` first, then as they come."""
        cells: list[Cell] = []
        kept = {name: clean(text) for name, text in texts.items()}
        for name, text in kept.items():
            cells += read(text, name, _MOST_CELLS - len(cells))
        return cls(kept, tuple(_denied(cells[:_MOST_CELLS])))


@dataclass(frozen=True)
class Outputs:
    """The outputs of k executions of one submission; the first one is where places refer to."""

    runs: tuple[Run, ...]

    @classmethod
    def of(cls, *texts: Mapping[str, str]) -> Outputs:
        """The outputs of executions given as texts by name."""
        return cls(tuple(Run.of(each) for each in texts))

    @classmethod
    def of_executions(cls, executions: Iterable[Execution], store: BlobStore) -> Outputs:
        """The outputs of executions that ran, out of the run's store. Raises DataError."""
        return cls.of(*(texts_of(each, store) for each in executions))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The numbers of the first run."""
        return self.runs[0].cells if self.runs else ()

    @property
    def empty(self) -> bool:
        """Whether nothing was put out that is a number."""
        return not self.cells

    @cached_property
    def index(self) -> dict[Token, frozenset[int]]:
        """For each token of a label the numbers of the first run that stand under it."""
        found: dict[Token, set[int]] = defaultdict(set)
        for at, cell in enumerate(self.cells):
            for token in cell.tokens:
                found[token].add(at)
        return {token: frozenset(ids) for token, ids in found.items()}

    def together(self, token: Token, name: Token) -> tuple[bool, bool]:
        """Whether a label comes only with a name, and whether it never does."""
        known = self._together.get((token, name))
        if known is None:
            ids, its = self.index[token], self.index[name]
            known = self._together[token, name] = (ids <= its, ids.isdisjoint(its))
        return known

    @cached_property
    def _together(self) -> dict[tuple[Token, Token], tuple[bool, bool]]:
        return {}

    def alike(self, cell: Cell) -> list[Cell]:
        """The numbers of the table, list or kind of line that one is from."""
        return self._groups[cell.source, cell.group]

    @cached_property
    def _groups(self) -> dict[tuple[str, str], list[Cell]]:
        found: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in self.cells:
            found[cell.source, cell.group].append(cell)
        return found

    @cached_property
    def _others(self) -> tuple[dict[tuple[str, ...], list[float]], ...]:
        found = []
        for run in self.runs[1:]:
            values: dict[tuple[str, ...], list[float]] = defaultdict(list)
            for cell in run.cells:
                values[cell.key].append(cell.value)
            found.append(values)
        return tuple(found)

    @cached_property
    def _order(self) -> dict[int, int]:
        """For each number its place among those of the same key."""
        seen: dict[tuple[str, ...], int] = defaultdict(int)
        found = {}
        for at, cell in enumerate(self.cells):
            found[at] = seen[cell.key]
            seen[cell.key] += 1
        return found

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(cell): at for at, cell in enumerate(self.cells)}

    def values(self, cell: Cell) -> list[float]:
        """A number's values in all runs; its own where it is made of others."""
        at = self._numbers.get(id(cell))
        return [cell.value] if at is None else self.repeated(at)

    def sets(self, cell: Cell) -> bool:
        """Whether a number only says under what the others of its line were measured."""
        if cell.labels and cell.labels[-1][0] == "key" and cell.figure.whole:
            name = re.split(r"[\s_]", cell.labels[-1][1])[-1]
            return setting(name, cell.value) in self.index
        return False

    def level(self, cell: Cell) -> float:
        """A number's mean over all runs."""
        values = self.values(cell)
        return math.fsum(values) / len(values)

    def repeated(self, at: int) -> list[float]:
        """A number's values in all runs; only its own where another run has none of that name."""
        cell, order = self.cells[at], self._order[at]
        values = [cell.value]
        for run in self._others:
            same = run.get(cell.key, [])
            if order < len(same):
                values.append(same[order])
        return values


def _denied(cells: Sequence[Cell]) -> Iterator[Cell]:
    """The numbers with marked labels where one denies what another affirms: *iid* and *non-iid*."""
    labels = {label for cell in cells for _, label in cell.labels}
    denied = {m[1].lower() for label in labels for m in NEGATED.finditer(label)}
    rest = {label: NEGATED.sub(" ", label) for label in labels} if denied else {}
    words = {w for each in rest.values() for w in re.findall(r"[a-z]+", each.lower())}
    for cell in cells:
        if any(m[1].lower() in words for _, label in cell.labels for m in NEGATED.finditer(label)):
            marked = tuple((role, _marked(label, words)) for role, label in cell.labels)
            cell = replace(cell, labels=marked)
        yield cell


def _marked(label: str, words: set[str]) -> str:
    return NEGATED.sub(lambda m: DENIAL + m[1] if m[1].lower() in words else m[0], label)


def texts_of(execution: Execution, store: BlobStore) -> dict[str, str]:
    """The texts of an execution by name. Raises DataError."""
    found = {}
    for name, blob in (("stdout", execution.stdout), ("stderr", execution.stderr)):
        if blob is not None and blob.size:
            found[name] = _text(store.get(blob))
    for file in execution.made:
        if file.path == RESPONSE_NAME:
            continue  # a conclusion that the script writes again is no output of the experiment
        suffix = re.search(r"\.[A-Za-z0-9]+$", file.path)
        if file.content is not None and (suffix[0].lower() if suffix else "") in _TEXTS:
            found[file.path] = _text(store.get(file.content))
    return found


def clean(text: str) -> str:
    """A text as a reader sees it: without colours, of overwritten lines the last state, and bounded."""
    if len(text) > 2 * _HALF:
        text = text[:_HALF] + "\n" + text[-_HALF:]
    plain = _COLOURS.sub("", text).replace("\r\n", "\n")
    return "\n".join(
        line.rstrip("\r").rpartition("\r")[2][:_LONGEST_LINE].expandtabs(8)
        if "\r" in line or "\t" not in line
        else line[:_LONGEST_LINE]
        for line in plain.split("\n")
    )


def _text(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    return content.decode("utf-8", errors="replace")
