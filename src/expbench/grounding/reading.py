"""A text of a re-run, read line by line into numbers: structures, tables, and lines of prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from expbench.grounding import lines as prose
from expbench.grounding import structures, tables
from expbench.grounding.cells import SETTING, Cell, Headings, Label
from expbench.grounding.layouts import plain
from expbench.grounding.names import label_tokens
from expbench.grounding.printouts import heads

_RANKING = re.compile(r"[\w.+/-]+(?:\s*[<>≤≥]\s+[\w.+/-]+){2,}")
_WHOLE = (".json", ".yaml", ".yml", ".ndjson")
_MARKED = re.compile(r"\s*(?:==|##|\*\*|--|~~|>>)")
_NAME_AND_NAME = re.compile(r"\s*[\w ]{1,30}:\s[\w .()/+-]{1,40}")
_NAMED = re.compile(r"\s*([A-Za-z][\w /.-]{0,30}):\s+\S")
"""A line that begins with a name, which those below it, further in, are of as well: *read: IOPS=184k*."""
_TRACE = re.compile(
    r"\s*File \"[^\"]+\", line \d+|Traceback \(most recent|\s*\w+\(formula = |\s*at \S+\(\S+:\d+\)\s*$"
)
"""Lines of a failure that say where in the code it was, and the call that R repeats above a model."""
_STEP = re.compile(
    r"(?:epoch|iteration|iter|round|fold|seed|run|trial|step)[\s:#=]{1,3}(?:\[?\d+(?:\s?(?:/|of)\s?\d+)?\]?)\W*",
    re.IGNORECASE,
)
"""A line that only says what the next ones are of: *Epoch 2/3*."""
_BRACKETED = re.compile(r"\((?=[^()]*[A-Za-z])[^()=]*=[^()]*\)")
"""Settings that a title says in brackets: *power (alpha = 0.05)*."""
_SECTION = re.compile(r"\s*\[\s*([A-Za-z][^\[\]{}\"',]{0,60})\]\s*")
"""A line in brackets, which is a title as in an INI file: *[T=4]*."""
_LAST_NUMBER = re.compile(r"(.*?)[\s:=#]*\d[\d,]*\W*$")
_LONGEST_PROSE = 20_000


def read(text: str, source: str, most: int = 60_000) -> list[Cell]:
    """The numbers of one text, at most so many."""
    return _without_its_name(_read(text, source, most), source)


def _without_its_name(cells: list[Cell], source: str) -> list[Cell]:
    """The numbers without the file's name as a label, where it says what only some are of: *train.log*."""
    own = _file(source)
    words = {token for _, label in own for token in label_tokens(label)}
    inside = {
        token
        for role, label in {label for cell in cells for label in cell.labels} - set(own)
        for token in (label_tokens(label) if role != "title" else ())
    }
    if not words & inside:
        return cells
    return [
        replace(cell, labels=tuple(label for label in cell.labels if label not in own))
        for cell in cells
    ]


def _read(text: str, source: str, most: int) -> list[Cell]:
    whole = structures.parsed(text) if source.endswith(_WHOLE) else None
    if isinstance(whole, dict | list) and whole:
        found = structures.cells_of(whole, source, -1, _file(source))
        return [cell for cell, _ in zip(found, range(most), strict=False)]
    reader = _Reader(text.split("\n"), source)
    at = 0
    while at < len(reader.rows) and len(reader.found) < most:
        at = reader.read(at)
    return reader.found[:most]


class _Reader:
    """Reads one text; keeps the titles and what it found."""

    def __init__(self, rows: Sequence[str], source: str) -> None:
        self.shown = rows
        self.rows = plain(rows)
        self.source = source
        self.found: list[Cell] = []
        self._titles = Headings(file=_file(source))
        self._heads = heads(rows)
        self._sets = prose.set_keys(self.rows)
        self._structures = structures.Structures(rows)
        self._tables: dict[int, tables.Table | None] = {}
        self._patience = tables.Patience.of(rows)

    def read(self, at: int) -> int:
        """Read what begins at a line; the line behind it."""
        line = self.rows[at]
        if not line.strip():
            self._titles.blank()
            return at + 1
        if _TRACE.match(line):
            return at + 1
        if tables.is_rule(line) and "|" not in line:
            return at + 1
        if _STEP.fullmatch(line.strip(" -=*#")):
            self._titles.read(f"# {line}")
            return at + 1
        section = _SECTION.fullmatch(line)
        if section is not None:
            self._titles.read(f"# {section[1]}")
            return at + 1
        opens = self._opens(at)
        self._titles.indent(line, opens)
        structure = self._structures.at(at) if "{" in line or "[" in line else None
        if structure is not None:
            return self._structure(structure, at)
        if _TRACE.match(line):
            return at + 1
        table = self._table(at)
        if table is not None:
            self._titles.reopen()
            self.found += tables.cells_of(table, self.source, self._titles.labels(), self.shown)
            self._titles.ended()
            return table.end
        self._prose(at, opens)
        named = _NAMED.match(line)
        if named is not None and not opens and self._above_deeper(at):
            self._titles.above(line, named[1])
        return at + 1

    def _structure(self, structure: structures.Found, at: int) -> int:
        own: tuple[Label, ...] = (("title", structure.before),) if structure.before else ()
        labels = (*self._titles.labels(structure=True), *own)
        self.found += structures.cells_of(
            structure.value, self.source, at, labels, structure.before, self._structures.sets
        )
        self._titles.used()
        return structure.end

    def _prose(self, at: int, opens: bool) -> None:
        line = self.rows[at][:_LONGEST_PROSE]
        rest = _RANKING.sub("; ", line) if "<" in line or ">" in line else line
        titles = self._titles.labels()
        if at in self._heads:
            titles = (*titles, ("set", self._heads[at]))
        cells = list(prose.cells_of(rest, at, self.source, titles, self._sets))
        self.found += cells
        if opens and not line.rstrip().endswith(":"):
            return
        if self._is_title(at, cells) or self._above_a_table(at):
            self._titles.read(line)
        else:
            self._titles.used()

    def _table(self, at: int) -> tables.Table | None:
        if at not in self._tables:
            fits = at < len(self.rows) and len(self.rows[at]) <= _LONGEST_PROSE
            self._tables[at] = tables.table_at(self.rows, at, self._patience) if fits else None
        return self._tables[at]

    def _is_title(self, at: int, cells: Sequence[Cell]) -> bool:
        """Whether a line is above others: it has no number, is marked, ends in a colon or begins a part."""
        line = self.rows[at]
        if _MARKED.match(line) or line.rstrip().endswith(":"):
            return True
        if not cells and _NAME_AND_NAME.fullmatch(line):
            return True
        line = _BRACKETED.sub("", line)
        if re.search(r"\s[<>]\s|:\s", line):
            return False
        first = (at == 0 or not self.rows[at - 1].strip()) and not line[:1].isspace()
        measured = any(
            (cell.figure.step < 1 or cell.figure.total or cell.figure.unit) and cell.written in line
            for cell in cells
        )
        last = _LAST_NUMBER.search(line[:200])
        measured = measured or (last is not None and not SETTING.search(last[1]))
        return not cells or (first and not measured and not re.search(r"[=:]\s*-?\d|\{", line))

    def _opens(self, at: int) -> bool:
        """Whether a line without numbers stands above lines that are further in."""
        deeper = self._above_deeper(at)
        plain = not re.search(r"\d\.\d|[=]\s*\d|^\s*[-+]?\d[\d,.]*\s", self.rows[at])
        return deeper and plain and self._table(at) is None and self._table(at + 1) is None

    def _above_deeper(self, at: int) -> bool:
        following = self.rows[at + 1] if at + 1 < len(self.rows) else ""
        depth = len(self.rows[at]) - len(self.rows[at].lstrip())
        return bool(following.strip()) and len(following) - len(following.lstrip()) > depth

    def _above_a_table(self, at: int) -> bool:
        """Whether a table begins in the next line, or in the one after a line without numbers."""
        following = [row for row in self.rows[at + 1 : at + 3] if row.strip()]
        if not following or re.search(r"[=:]\s*[-+]?\.?\d", _BRACKETED.sub("", self.rows[at])):
            return False
        if self._table(at + 1) is not None:
            return True
        first = at == 0 or not self.rows[at - 1].strip()
        unnumbered = len(following) == 2 and not re.search(r"\d", following[0])
        return first and unnumbered and self._table(at + 2) is not None


def _file(source: str) -> tuple[Label, ...]:
    """The name of a made file as a label: *results/ridge.csv* tells what its numbers are of."""
    stem = re.sub(r"\.[A-Za-z]\w{0,5}$", "", source.rpartition("/")[2])
    return () if source in ("stdout", "stderr") else (("title", stem),)
