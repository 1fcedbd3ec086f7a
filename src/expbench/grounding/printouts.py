"""Forms that some programs print, as plain tables: lists in lines, Stata's bar, R's names, block heads.

Lines keep their numbers, so that a place found in the rewritten text is one of the original.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

_NUMBER = r"[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?"
_ARRAY = re.compile(
    r"\s*([A-Za-z][\w .()/-]{0,40}?)\s*[=:]\s*(?:np\.)?(?:array\()?\[\s*"
    rf"({_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER}){{1,200}})[\s,]*\]\)?\s*"
)
_STARS = re.compile(r"(?<=\d)\s(?:\*{1,3}|\.)\s*$")
"""Stars of significance at the end of R's rows."""
_TAIL = re.compile(r"(Pr?)\(?>\|([a-z])\|\)?")
"""A column of p-values, whose name has bars: ``P>|t|``, ``Pr(>|t|)``."""
_INTERVAL = re.compile(r"\[\d\d% [Cc]onf\. [Ii]nterval\]")
_NUMBERED = re.compile(r"\s*(?:Row|\d+|)\s*│")
_TYPE = re.compile(r"(?:String|U?Int|Float|Bool|Any|Symbol|Date)\d*\??")
"""What Julia prints beside a data frame: the rows' numbers and the columns' types."""
_GAP = re.compile(r"\s{2,}|\t")
_HEAD = re.compile(r"\s{0,20}([A-Za-z][\w -]{0,40}?)\s?[=:]?\s?(-?\d[\d.]{0,15}%?)\s?:\s+\S")
_FEWEST = 2
_COLUMNS = 3


def as_tables(rows: Sequence[str]) -> list[str]:
    """The rows of a text with these forms rewritten."""
    return _repeated(_arrays([_unbarred(row) for row in rows]))


def heads(rows: Sequence[str]) -> dict[int, str]:
    """For lines behind a head such as *threshold 0.5: …*, which comes again at equal distances, the head."""
    begun: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for at, row in enumerate(rows):
        if match := _HEAD.match(row):
            begun[match[1].lower()].append((at, f"{match[1]} {match[2]}"))
    found: dict[int, str] = {}
    for places in begun.values():
        gaps = {other - one for (one, _), (other, _) in pairwise(places)}
        size = gaps.pop() if len(gaps) == 1 else 0
        for at, head in places if size >= _FEWEST else ():
            for below in range(at + 1, min(at + size, len(rows))):
                if not rows[below].strip() or _HEAD.match(rows[below]):
                    break
                found[below] = head
    return found


def _unbarred(row: str) -> str:
    """A row without the bars in names of p-values, and without the one bar that Stata draws."""
    if row.count("│") == 1 and (numbered := _NUMBERED.match(row)):
        row = " " * numbered.end() + row[numbered.end() :]
        words = row.split()
        row = "" if words and all(map(_TYPE.fullmatch, words)) else row
    row = _STARS.sub("", row)
    row = _INTERVAL.sub(lambda match: "ci_low  ci_high".rjust(len(match[0])), row)
    row = _TAIL.sub(lambda match: "p-val".ljust(len(match[0])), row)
    before, bar, behind = row.partition("|")
    columns = len(_GAP.split(behind.strip()))
    single = bar and "|" not in behind and columns >= _COLUMNS and before.strip()
    return f"{before} {behind}" if single and not re.search(r"[=:]\s", behind) else row


def _arrays(rows: list[str]) -> list[str]:
    """Lists of equal length in lines that follow one another, the first of what was set, as a table."""
    found = list(rows)
    at = 0
    while at < len(found):
        lists: list[tuple[str, list[str]]] = []
        while at + len(lists) < len(found) and (m := _ARRAY.fullmatch(found[at + len(lists)])):
            lists.append((m[1].strip(), m[2].replace(",", " ").split()))
        sizes = {len(values) for _, values in lists}
        name, axis = lists[0] if lists else ("", [])
        if len(lists) > 1 and sizes == {len(axis)} and len(axis) > 1 and _rises(axis):
            single = re.sub(r"s$", "", name)
            found[at] = f"| {name} | {' | '.join(f'{single} {value}' for value in axis)} |"
            for below, (own, values) in enumerate(lists[1:], at + 1):
                found[below] = f"| {own} | {' | '.join(values)} |"
        at += max(1, len(lists))
    return found


def _rises(values: Sequence[str]) -> bool:
    numbers = [float(value) for value in values]
    return all(one < other for one, other in pairwise(numbers))


def _repeated(rows: list[str]) -> list[str]:
    """R's estimates of groups: a line of names that begin alike, *mean in group 1 mean in group 2*."""
    found = list(rows)
    for at, (names, numbers) in enumerate(pairwise(rows)):
        words, values = names.split(), numbers.split()
        count = len(values)
        if count < _FEWEST or len(words) <= count or len(words) % count:
            continue
        size = len(words) // count
        parts = [words[i : i + size] for i in range(0, len(words), size)]
        alike = len({part[0] for part in parts}) == 1 and not re.search(r"[=:]", names)
        if alike and all(re.fullmatch(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?", v) for v in values):
            found[at] = f"| {' | '.join(['', *(' '.join(part) for part in parts)])} |"
            found[at + 1] = f"| estimate | {' | '.join(values)} |"
    return found
