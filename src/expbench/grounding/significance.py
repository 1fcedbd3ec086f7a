"""Statistical tests that a run printed: p-values, and intervals of a difference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from expbench.grounding.cells import Cell
from expbench.grounding.names import Token
from expbench.grounding.outputs import Outputs

LEVEL = 0.05
_P = re.compile(
    r"(?:^|[^a-z])p(?:[\s_-]?val(?:ue)?s?)?$|(?:^|[^a-z])pr?\s?\(?>[|\w]+\)?$|(?:^|[^a-z])p[\s_-]?(?:adj|corr|holm|two)\w*$",
    re.IGNORECASE,
)
_BELOW = re.compile(r"\bp(?:[\s_-]?values?)?\s*<\s*(\d*\.?\d+(?:[eE][-+]?\d+)?)")
_STARRED = re.compile(r"\s<?\s?(\d*\.?\d+(?:[eE]-?\d+)?)\s\*{1,3}\s*$")
"""A p-value as R marks it: *<2e-16 \\*\\*\\**."""
_INTERVAL = re.compile(
    r"(?:\bci\b|confidence interval|"
    r"interval)[^\[(]{0,40}[\[(]\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*[,;]\s*"
    r"([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*[\])]",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    r"\b(?:diff\w*|gain|gap|delta|minus|improvement|effect|advantage)\b|\s[-−]\s", re.IGNORECASE
)


@dataclass(frozen=True)
class Shown:
    """A test in the outputs: whether it is significant at the 5 % level, and the labels it stands under."""

    significant: bool
    place: str
    quote: str
    words: str
    tokens: frozenset[Token]
    cells: tuple[Cell, ...] = ()


def tests_shown(outputs: Outputs) -> list[Shown]:
    """All tests that the outputs of the first run show."""
    found = list(_p_values(outputs))
    for name, text in outputs.runs[0].texts.items() if outputs.runs else ():
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) < 2_000:
                found += _in_line(outputs, line, f"{name}:{number}", number - 1)
    return found


def _p_values(outputs: Outputs) -> Iterator[Shown]:
    for cell in outputs.cells:
        named = [label for role, label in cell.labels if role.startswith(("key", "column", "near"))]
        if 0 <= cell.value <= 1 and named and _P.search(named[-1].strip()):
            words = f"p = {cell.written or cell.value}"
            yield Shown(cell.value < LEVEL, cell.place, cell.quote, words, cell.tokens, (cell,))


def _in_line(outputs: Outputs, line: str, place: str, number: int) -> Iterator[Shown]:
    cells = tuple(_cells_of(outputs, place, number))
    tokens = frozenset[Token]().union(*(cell.tokens for cell in cells))
    for match in _BELOW.finditer(line):
        yield Shown(float(match[1]) <= LEVEL, place, line.strip()[:300], match[0], tokens, cells)
    for match in _STARRED.finditer(line):
        if float(match[1]) <= LEVEL:
            yield Shown(True, place, line.strip()[:300], f"p = {match[1]}", tokens, cells)
    for match in _INTERVAL.finditer(line):
        if _DIFFERENCE.search(line):
            low, high = float(match[1]), float(match[2])
            yield Shown(
                low > 0 or high < 0,
                place,
                line.strip()[:300],
                f"interval {match[1]} to {match[2]}",
                tokens,
                cells,
            )


def _cells_of(outputs: Outputs, place: str, number: int) -> list[Cell]:
    source = place.rpartition(":")[0]
    return [cell for cell in outputs.cells if cell.line == number and cell.source == source]
