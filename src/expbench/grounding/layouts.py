"""Tables of LaTeX, and of pandas with several levels of names, written as plain tables with bars.

Lines keep their numbers, so that a place found in the rewritten text is one of the original.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expbench.grounding.printouts import as_tables

_LATEX_RULE = re.compile(
    r"\s*\\(?:hline|toprule|midrule|bottomrule|(?:cmidrule|cline)(?:\([lr]+\))?\{[^}]*\})"
)
_LATEX_FRAME = re.compile(
    r"\s*\\(?:begin|end)\{(?:tabular[x*]?|table\*?|center|threeparttable|array)\}.*$"
)
_LATEX_END = re.compile(r"\\\\(?:\[[^\]]*\])?\s*(?:\\hline\s*)*$")
_MULTICOLUMN = re.compile(r"\\multicolumn\{(\d)\}\{[^}]*\}\{([^{}]*)\}")
_STYLED = re.compile(
    r"\\(?:textbf|textit|emph|underline|mathbf|text|texttt|textsc|bf)\s*\{([^{}]*)\}"
)
_SPOKEN = {
    **{r"\%": "%", r"\_": "_", r"\&": " and ", r"\pm": "±", r"\times": "×", r"\,": " ", r"\ ": " "},
    **{r"\uparrow": "", r"\downarrow": "", "~": " ", "$": "", "{": "", "}": ""},
}
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?|nan|NaN|inf|-inf")
_WORD = re.compile(r"\S+")
_TABLE_ROW = re.compile(r"(?:<t(?:head|body)>)?<tr[^<>]*>.*</tr>(?:</t(?:head|body)>)?")
_TABLE_CELL = re.compile(r"<t[hd][^<>]*>([^<]*(?:<(?!/?t[hd])[^<]*)*)</t[hd]>")
_TABLE_FRAME = re.compile(r"(?:</?(?:table|thead|tbody)[^<>]*>)+")
_ANY_TAG = re.compile(r"<[^<>]*>")
_LONGEST = 20_000
_FEWEST = 2


def plain(rows: Sequence[str]) -> list[str]:
    """The rows of a text with such tables rewritten."""
    found = as_tables(_without_latex([_without_tags(row) for row in rows]))
    at = 0
    while at + 1 < len(found):
        levelled = _grouped(found, at) or _levelled(found, at)
        if levelled is None:
            at += 1
            continue
        found[at : at + len(levelled)] = levelled
        at += len(levelled)
    return found


def _without_tags(row: str) -> str:
    """A table's row of HTML with bars, and the tags around such rows as nothing."""
    bare = row.strip()
    if not bare.startswith("<") or len(bare) > _LONGEST:
        return row
    if _TABLE_ROW.fullmatch(bare):
        return f"| {' | '.join(_ANY_TAG.sub('', cell).strip() for cell in _TABLE_CELL.findall(bare))} |"
    return "" if _TABLE_FRAME.fullmatch(bare) else row


def _without_latex(rows: Sequence[str]) -> list[str]:
    lines = [row for row in rows if "&" in row and _LATEX_END.search(row)]
    if len(lines) < _FEWEST:
        return list(rows)
    found = []
    for row in rows:
        ruled = _LATEX_RULE.sub("", row)
        if "&" in row and _LATEX_END.search(row):
            found.append(_bars(ruled))
        elif _LATEX_FRAME.match(row):
            found.append("")
        else:
            found.append("|---|" if ruled != row and not ruled.strip() else row)
    return found


def _bars(row: str) -> str:
    row = _LATEX_END.sub("", row)
    row = _MULTICOLUMN.sub(lambda m: " & ".join([m[2]] * int(m[1])), row)
    for _ in range(_FEWEST):
        row = _STYLED.sub(r"\1", row)
    cells = re.split(r"(?<!\\)&", row)
    return f"| {' | '.join(map(_spoken, cells))} |"


def _spoken(cell: str) -> str:
    for mark, word in _SPOKEN.items():
        cell = cell.replace(mark, word)
    return cell.replace("|", " ").strip()


@dataclass(frozen=True)
class _Columns:
    """The numeric columns of a levelled table by where they end, and the starts of its index's names."""

    ends: tuple[int, ...]
    starts: tuple[int, ...]

    def index(self, row: str) -> list[str]:
        """The names of a row, by where the index's names begin."""
        numbers = _numbers(row)
        last = row.rfind(" ", 0, numbers[0].start()) if numbers else len(row)
        stops = [*self.starts[1:], max(last, 0)]
        return [row[start:stop].strip() for start, stop in zip(self.starts, stops, strict=True)]


def _levelled(rows: Sequence[str], at: int) -> list[str] | None:
    """The rewritten lines of a table with two levels of columns, or of index, that begins at a line."""
    for levels in (2, 1):
        head = rows[at : at + levels]
        if len(head) < levels or not all(_is_head(line) for line in head):
            continue
        begin = at + levels
        names = rows[begin] if begin < len(rows) else ""
        named = _is_names(names, head[-1])
        begin += named
        columns = _columns(head[-1], rows[begin : begin + 1], names if named else "")
        if columns is None or (levels == 1 and len(columns.starts) < _FEWEST):
            continue
        if levels > 1 and len(head[0].split()) >= len(head[1].split()):
            continue
        return _rewritten(head, names if named else "", rows[begin:], columns)
    return None


def _grouped(rows: Sequence[str], at: int) -> list[str] | None:
    """The rewritten lines of a table whose columns are settings that come again under each of some names.

    ``horizon  96  192  96  192`` below ``mse  mae``.
    """
    groups, names = rows[at].split(), rows[at + 1].split()
    size = (len(names) - 1) // max(1, len(groups))
    settings = names[1 : size + 1]
    repeated = size >= _FEWEST and names[1:] == settings * len(groups)
    if len(groups) < _FEWEST or not repeated or not _is_head(rows[at]) or _is_number(names[0]):
        return None
    if not all(map(_is_number, settings)) or len(set(settings)) < size:
        return None
    columns = [f"{group} {names[0]} {each}" for group in groups for each in settings]
    found = ["", f"| {names[0]} | {' | '.join(columns)} |"]
    for row in rows[at + 2 :]:
        values = [match[0] for match in _numbers(row)]
        if len(values) != len(columns) or len(row.split()) == len(values):
            break
        name = row[: _numbers(row)[0].start()].strip()
        found.append(f"| {name} | {' | '.join(values)} |")
    return found if len(found) > _FEWEST else None


def _is_head(line: str) -> bool:
    return line[:1].isspace() and bool(line.strip()) and not any(map(_is_number, line.split()))


def _is_names(line: str, head: str) -> bool:
    """Whether a line has the names of an index: words on the left, under no column's name."""
    first = len(head) - len(head.lstrip())
    return bool(line.strip()) and not line[:1].isspace() and len(line.rstrip()) <= first + 1


def _columns(head: str, first: Sequence[str], names: str) -> _Columns | None:
    numbers = _numbers(first[0]) if first else []
    ends = tuple(match.end() for match in numbers)
    headed = tuple(match.end() for match in _WORD.finditer(head))
    if len(ends) < _FEWEST or ends != headed:
        return None
    starts = tuple(match.start() for match in _WORD.finditer(names)) or (0,)
    return _Columns(ends, starts)


def _rewritten(
    head: Sequence[str], names: str, body: Sequence[str], columns: _Columns
) -> list[str] | None:
    top = [(m.start(), m[0]) for m in _WORD.finditer(head[0])] if len(head) > 1 else []
    labels = []
    for word in _WORD.finditer(head[-1]):
        above = [name for start, name in top if start < word.end()]
        labels.append(f"{above[-1]} {word[0]}" if above else word[0])
    index = names.split() or [""]
    found = [*[""] * (len(head) - 1), f"| {' | '.join([*index, *labels])} |"]
    found += ["|---|"] if names else []
    before = [""] * len(columns.starts)
    for row in body:
        numbers = _numbers(row)
        if tuple(match.end() for match in numbers) != columns.ends:
            break
        own = columns.index(row)
        for at, name in enumerate(own):
            if name:
                break
            own[at] = before[at]
        before = own
        found.append(f"| {' | '.join([*own, *(match[0] for match in numbers)])} |")
    return found if found[-1] != "|---|" and len(found) > len(head) + bool(names) else None


def _numbers(row: str) -> list[re.Match[str]]:
    """The numbers at a row's end."""
    words = list(_WORD.finditer(row))
    count = 0
    while count < len(words) and _is_number(words[-1 - count][0]):
        count += 1
    return words[len(words) - count :]


def _is_number(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None
