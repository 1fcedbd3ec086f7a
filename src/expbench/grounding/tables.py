"""Tables in text: Markdown, boxes, commas, tabs and aligned columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from expbench.grounding.cells import SETTING, Cell, Label
from expbench.grounding.figures import Figure, figures
from expbench.grounding.quality import is_metric

_RULE = re.compile(r"^[\s\-=_+|:*─━═┼╪╋┃│┏┓┗┛┡┩├┤┌┐└┘┬┴╇╈┷┯╤╧╞╡╒╕╘╛╟╢╔╗╚╝╠╣╦╩╬]{3,}$")
_BARS = re.compile(r"[|│┃║]")
_GAP = re.compile(r"\s{2,}|\t")
_NUMERIC = re.compile(
    r"[-+−(\[*~<>≈]{0,2}(?:\d[\d.,_]*(?:[eE][-+]?\d+|/\d+|[kKMG])?|\.\d+|nan|inf|n/a|none|-+)\s?%?[)\]*†‡↑↓]{0,3}"
    r"|-?\d+\.\d+\s?(?:[munµ]?s|[kKMGT]i?B(?:/s)?)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\s*(?:==|--|##|\*\*|~~|>>)[=*#~>-]*\s*\w")
"""A title in a line of its own, and no table's header."""
_MOST_CELLS = 400
_SHORT = 2
_LONGEST_SETTING = 3
"""Significant digits of a whole number that may have been set."""


@dataclass(frozen=True)
class Table:
    """A table as text: its header (perhaps empty names), rows of cells, and their line numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    end: int
    """The first line that is not part of it."""


@dataclass
class Patience:
    """How many lines may be looked at for tables: what is refused is looked at from every line again."""

    left: int = 300_000

    @classmethod
    def of(cls, lines: Sequence[str]) -> Patience:
        """Enough for a text of tables, and for some that are none."""
        return cls(cls.left + 3 * len(lines))


def table_at(lines: Sequence[str], at: int, patience: Patience) -> Table | None:
    """The table that begins at a line, if one does."""
    line = lines[at]
    if patience.left <= 0:
        return None
    if len(_BARS.findall(line)) >= 1 or line.lstrip().startswith("+-"):
        found = _barred(lines, at, patience)
        if found is not None:
            return found
        if next(figures(line), None) is not None:
            return None
    if line.count(",") >= 1 or "\t" in line:
        found = _separated(lines, at, patience)
        if found is not None:
            return found
    return _aligned(lines, at)


def is_rule(line: str) -> bool:
    """Whether a line is drawn, not written."""
    return _RULE.match(line) is not None and re.search(r"[-=_─━═]{3}|\|\s*:?-", line) is not None


def cells_of(
    table: Table, source: str, titles: Sequence[Label], quotes: Sequence[str]
) -> Iterator[Cell]:
    """The numbers of a table with row, column and titles as labels."""
    header = _named(table.header)
    kinds = _kinds(table, header)
    group = f"table|{'|'.join(header)}"
    for line, row in table.rows:
        names = [
            (f"row:{header[at]}", _row_name(header[at], text, kinds[at]))
            for at, text in enumerate(row[: len(header)])
            if kinds[at] in ("text", "key") and text.strip(" *`_")
        ]
        for at, text in enumerate(row[: len(header)]):
            if kinds[at] != "value":
                continue
            labels = (*titles, *names, ("column", header[at]))
            quote = quotes[line] if line < len(quotes) else text
            place = f"{source}:{line + 1}"
            yield from _numbers(text, source, line, place, quote, labels, group)


def _numbers(
    text: str,
    source: str,
    line: int,
    place: str,
    quote: str,
    labels: tuple[Label, ...],
    group: str,
) -> Iterator[Cell]:
    end = 0
    for count, figure in enumerate(figures(text)):
        near = text[end : figure.start].strip(" ()[]{},;:=±*`")
        own = (*labels, ("near", near)) if count and near else labels
        written = text[figure.start : figure.number_end]
        yield Cell(figure, source, line, place, quote.strip()[:300], own, group, written=written)
        end = figure.end


def _named(header: Sequence[str]) -> tuple[str, ...]:
    names = [name.strip(" *`_\"'") for name in header]
    first = names[0] if names else ""
    numeric = [name for name in names[1:] if _is_number(name)]
    if first and len(numeric) > 1 and not _is_number(first):
        return (first, *(f"{first} {name}" if _is_number(name) else name for name in names[1:]))
    return tuple(names)


def _kinds(table: Table, header: Sequence[str]) -> list[str]:
    """For each column ``text``, ``key`` (a number that is set), ``value``, or ``skip``."""
    found: list[str] = []
    columns = [
        [row[at] if at < len(row) else "" for _, row in table.rows] for at in range(len(header))
    ]
    values = sum(_mostly_numeric(column) or _measured(column) for column in columns)
    for at, column in enumerate(columns):
        if not _mostly_numeric(column):
            later = any(map(_mostly_numeric, columns[at + 1 :]))
            held = "value" in found and ("text" in found or "key" in found)
            named = "skip" if held and not later else "text"
            found.append("value" if _measured(column) else named)
        elif (
            all(kind != "value" for kind in found)
            and values > 1
            and _is_key(header[at], column, "text" in found, not at)
        ):
            counted = not header[at] and [c.strip() for c in column] == [
                str(n) for n in range(len(column))
            ]
            found.append("skip" if counted else "key")
            values -= 1
        else:
            found.append("value")
    return found


def _is_power(value: float) -> bool:
    """Whether a number is a power of two."""
    return value > 0 and int(value) & (int(value) - 1) == 0


def _is_key(
    name: str, column: Sequence[str], after_names: bool = False, first: bool = False
) -> bool:
    numbers = [figure for text in column if (figure := next(figures(text), None))]
    if not name:
        return all(figure.whole for figure in numbers)
    whole = all(figure.whole for figure in numbers)
    distinct = {figure.value for figure in numbers}
    rising = [figure.value for figure in numbers] == sorted(distinct)
    falling = first and [figure.value for figure in numbers] == sorted(distinct, reverse=True)
    rising = rising or (falling and not is_metric(name.lower()))
    short = all(
        len(f"{figure.value:g}".strip("-0.").replace(".", "")) <= _SHORT for figure in numbers
    )
    counts = any(f.digits > _LONGEST_SETTING and not _is_power(f.value) for f in numbers)
    repeated = len(numbers) > 2 and len(distinct) * 2 <= len(numbers)
    odd = sum(f.whole and f.digits > _SHORT and not _is_power(f.value) for f in numbers)
    if after_names and odd * 2 > len(numbers) and not rising and not repeated:
        return False
    chosen = whole or short or repeated or (first and rising) or len(numbers) == 1
    if SETTING.search(name) and chosen:
        return True
    return (whole or short) and len(numbers) > 1 and ((rising and not counts) or repeated)


def _measured(column: Sequence[str]) -> bool:
    """Whether cells that are no plain numbers begin with one: *0.17 (lr 1)*, *85.4 ± 0.3*."""
    begun = sum(bool(re.match(r"[\s*~≈<>\[(]*[-+−]?\.?\d", text)) for text in column)
    named = sum(bool(re.match(r"\s*[\d.]+[A-Za-z_/+-]", text)) for text in column)
    return begun * 2 > len(column) and not named


def _mostly_numeric(column: Sequence[str]) -> bool:
    filled = [text.strip(" *`") for text in column if text.strip(" *`")]
    return bool(filled) and sum(map(_is_number, filled)) * 2 > len(filled)


def _is_number(text: str) -> bool:
    return _NUMERIC.fullmatch(text.strip(" *`")) is not None


def _row_name(header: str, text: str, kind: str) -> str:
    name = text.strip(" *`_\"'")
    return f"{header} {name}" if kind == "key" and header else name


def _barred(lines: Sequence[str], at: int, patience: Patience) -> Table | None:
    rows: list[tuple[int, tuple[str, ...]]] = []
    end = at
    while end < len(lines) and (_BARS.search(lines[end]) or is_rule(lines[end])):
        if not is_rule(lines[end]):
            cells = tuple(cell.strip() for cell in _BARS.split(lines[end].strip().strip("|│┃║")))
            rows.append((end, cells))
        end += 1
    patience.left -= end - at
    if len(rows) < 2 or len(rows[0][1]) < 2:
        return None
    rows = [rows[0], *_filled(rows[1:])]
    same = [row for row in rows[1:] if len(row[1]) == len(rows[0][1])]
    alike = sum(
        _shape(a) == _shape(b) and "#" in _shape(a)
        for a, b in zip(rows[0][1], rows[1][1], strict=False)
    )
    stated = any(re.search(r"[=:]\s*[-+]?\d*\.\d", cell) for cell in rows[0][1])
    if alike * 2 >= len(rows[0][1]) or stated:
        return None  # no header: every row names its own numbers
    if len(same) * 2 < len(rows) - 1 or not _has_numbers(same):
        return None
    return Table(rows[0][1], tuple(same), end)


def _filled(rows: Sequence[tuple[int, tuple[str, ...]]]) -> list[tuple[int, tuple[str, ...]]]:
    """Rows of which the first name is left out where it is that of the row above."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in rows:
        above = found[-1][1] if found else cells
        left_out = len(cells) > 1 and not cells[0] and len(cells) == len(above)
        named = above[0] and not _is_number(above[0]) and any(map(_is_number, cells[1:]))
        if left_out and named:
            size = next(at for at, cell in enumerate(cells) if cell)
            cells = (*above[:size], *cells[size:])
        found.append((line, cells))
    return found


def _shape(cell: str) -> str:
    return re.sub(r"\d[\d.,]*", "#", cell)


def _separated(lines: Sequence[str], at: int, patience: Patience) -> Table | None:
    mark = "\t" if "\t" in lines[at] else ","
    width = len(_split(lines[at], mark))
    header = _split(lines[at], mark)
    if mark == "," and re.fullmatch(r"[^,]*\d,\d{3}(?!\d)[^,]*", lines[at]):
        return None  # the comma is one of thousands
    if (
        width < 2
        or any(len(name.split()) > 4 for name in header)
        or any(map(_is_number, header[:1]))
    ):
        return None
    rows: list[tuple[int, tuple[str, ...]]] = []
    end = at + 1
    while (
        end < len(lines) and len(cells := _split(lines[end], mark)) == width and lines[end].strip()
    ):
        rows.append((end, tuple(cells)))
        end += 1
    patience.left -= end - at
    worded = not any(_is_number(name) for name in header)
    if not rows or not worded or not all(any(map(_is_number, row)) for _, row in rows):
        return None
    return Table(tuple(header), tuple(rows), end)


def _split(line: str, mark: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=mark), [])][:_MOST_CELLS]
    except csv.Error:
        return []


def _has_numbers(rows: Sequence[tuple[int, tuple[str, ...]]]) -> bool:
    return any(next(figures(cell), None) for _, row in rows for cell in row)


def _aligned(lines: Sequence[str], at: int) -> Table | None:
    header = _GAP.split(lines[at].strip())
    if (
        _MARKED.match(lines[at])
        or is_rule(lines[at])
        or len(lines[at].split()) < 2
        or re.search(r"\s=\s|:\s", lines[at])
    ):
        return None
    start = at + 1
    ruled = start < len(lines) and is_rule(lines[start])
    start += ruled
    corner = ""
    if (
        lines[at][:1].isspace()
        and start < len(lines)
        and re.fullmatch(r"[A-Za-z_]\w*\s*", lines[start])
    ):
        corner = lines[start].strip()  # pandas puts the index's name on a line of its own
        start += 1
    spaced = lines[at][:1].isspace() and start + 1 < len(lines) and not lines[start].strip()
    start += spaced
    start += spaced and start < len(lines) and is_rule(lines[start])
    numeric = sum(map(_is_number, header))
    numeric += sum(bool(re.match(r"[-+−]?\d*\.\d", cell)) for cell in header[1:])
    if numeric and not (ruled or _sets(header)):
        return None
    rows: list[tuple[int, tuple[str, ...]]] = []
    names: tuple[str, ...] = ()
    end = start
    while end < len(lines):
        if spaced and rows and not lines[end].strip() and end + 1 < len(lines):
            end += 1
        fitted = None if is_rule(lines[end]) else _fit(lines[at], lines[end])
        if fitted is None and not (is_rule(lines[end]) and end + 1 < len(lines) and rows):
            break
        if fitted is not None:
            own, row = fitted
            if spaced and names and own[1:] == names[-len(own) + 1 :]:
                own, row = names, (row[0], *[""] * (len(names) - len(row)), *row[1:])
            if names and len(own) != len(names):
                break
            names = own
            rows.append((end, row))
        end += 1
    if corner and names and not names[0]:
        names = (corner, *names[1:])
    if not rows or (not ruled and len(header) < 2 and len(rows) < 2):
        return None
    return Table(names, tuple(rows), end)


def _sets(header: Sequence[str]) -> bool:
    """Whether a header's numbers look like what was set: a name, then rising short numbers."""
    numbers: list[Figure] = [f for cell in header[1:] if (f := next(figures(cell), None))]
    values = [figure.value for figure in numbers]
    rising = values == sorted(set(values)) and all(figure.digits <= 3 for figure in numbers)
    if any(figure.error is not None for figure in numbers):
        return False
    return (
        len(numbers) > 1
        and len(numbers) == len(header) - 1
        and rising
        and not _is_number(header[0])
    )


def _fit(header: str, line: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """A header's names and a row's cells, equally many, when the line is a row under the header."""
    wide, cells = _GAP.split(header.strip()), _GAP.split(line.strip())
    if not any(map(_is_number, cells[1:] or cells)) and not _measured(cells[1:] or [""]):
        return _by_words(header, line)
    mixed = any(len(c.split()) > 1 and any(map(_is_number, c.split()[1:])) for c in cells)
    if mixed and len(header.split()) > len(wide):
        return _by_words(header, line) or (
            (tuple(wide), tuple(cells)) if len(cells) == len(wide) else None
        )
    own = "  ".join(cells[1:])
    if re.search(r"[=:]\s?[-+]?\d", own) and not re.search(r"[=:]\s?[-+]?\d", header):
        return None
    if len(cells) == len(wide) and len(cells) > 1:
        return tuple(wide), tuple(cells)
    if len(cells) == len(wide) + 1 and len(wide) > 0 and not line[:1].isspace():
        return ("", *wide), tuple(cells)
    return _by_words(header, line)


def _by_words(header: str, line: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The same where columns are one blank apart: the numbers at a row's end have names of one word."""
    names, words = header.split(), line.split()
    if len(words) == len(names) + 1 and words[0].isdigit() and not _is_number(words[1]):
        words = words[1:]  # R numbers the rows of a data frame
    count = 0
    while count < len(words) and _is_number(words[-1 - count]):
        count += 1
    if any(map(_is_number, names[len(names) - count :])) or ":" in header:
        return None
    if len(words) == len(names) and count:
        return tuple(names), tuple(words)
    if not 1 <= count < len(words) or len(names) < count or any(map(_is_number, names[:1])):
        return None
    wide = _GAP.split(header.strip())
    if count == 1 and len(wide) < 2:
        return None
    columns = wide[-count:] if len(wide) in (count, count + 1) else names[-count:]
    if (
        len(names) - count > 3
        or (len(names) == count and count < 2)
        or header.rstrip().endswith((".", ":"))
    ):
        return None
    corner = (
        " ".join(names[:-count]) if len(wide) not in (count, count + 1) else " ".join(wide[:-count])
    )
    return (corner, *columns), (" ".join(words[:-count]), *words[-count:])
