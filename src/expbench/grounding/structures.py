"""Numbers in JSON, JSON lines, Python literals, CSV files and indented ``name: value`` texts."""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from expbench.grounding.cells import SETTING, Cell, Label
from expbench.grounding.figures import Figure, figures
from expbench.syntax import literal

_WRAPPED = re.compile(
    r"\b(?:np\.|numpy\.|torch\.)?(?:float(?:16|32|64)?|int(?:8|16|32|64)?|tensor|array|bool_?|str_?)"
    r"\(([^()]*?)(?:,\s*(?:dtype|device)=[^()]*)?\)"
)
_NO_NUMBER = {"nan": "None", "inf": "None", "NaN": "None", "Infinity": "None", "null": "None",
              "true": "True", "false": "False"}  # fmt: skip
_OPENS = re.compile(r"(?:^|[\s:=])(?=[{\[])")
_LONGEST = 2_000_000
_MOST_LOOKED_AT = 6_000_000
_MOST_TRIES = 3
_DEEP_IN = 400
_BRACKET = re.compile(r"\\.|[\"'{}\[\]()]")
_DEEPEST = 12
_FEWEST_RECORDS = 4
_SHORT = 2


@dataclass(frozen=True)
class Found:
    """A structure in a text: what it is, the words before it, and the first line that is not its own."""

    value: object
    before: str
    end: int


class Structures:
    """Finds structures in the lines of one text, with a bound on what is looked at for it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._left = _MOST_LOOKED_AT

    @cached_property
    def sets(self) -> frozenset[str]:
        """Names of numbers that JSON lines set: short ones that come again in several of them."""
        alike: dict[tuple[str, ...], list[dict[object, object]]] = defaultdict(list)
        left = _MOST_LOOKED_AT
        for line in self._lines:
            left -= len(line)
            if left > 0 and line.startswith("{") and line.rstrip().endswith("}"):
                value = parsed(line)
                if isinstance(value, dict):
                    alike[tuple(map(str, value))].append(value)
        return frozenset(name for records in alike.values() for name in set_names(records))

    def at(self, number: int) -> Found | None:
        """The JSON or Python literal that begins in a line and ends with a line, if one does."""
        line = self._lines[number]
        for match, _ in zip(_OPENS.finditer(line[:_DEEP_IN]), range(_MOST_TRIES), strict=False):
            end = self._closing(number, match.end()) if self._left > 0 else None
            if end is None:
                continue
            value = parsed("\n".join([line[match.end() :], *self._lines[number + 1 : end]]))
            if isinstance(value, dict | list) and value and _structured(value):
                return Found(value, line[: match.end()].strip(" :="), end)
        return None

    def _closing(self, at: int, start: int) -> int | None:
        """The line behind the one in which the bracket that opens at ``start`` is closed at its end."""
        depth, quote = 0, ""
        for number in range(at, len(self._lines)):
            text = self._lines[number][start if number == at else 0 :]
            self._left -= len(text) + 1
            if self._left < 0:
                return None
            for part in _BRACKET.finditer(text):
                char = part[0]
                if len(char) > 1:
                    continue
                if quote or char in "\"'":
                    quote = "" if char == quote else quote or char
                elif char in "{[(":
                    depth += 1
                elif depth := depth - 1:
                    continue
                else:
                    return number + 1 if not text[part.end() :].strip(" ,;.") else None
            quote = ""
        return None


def parsed(text: str) -> object:
    """The value of a JSON or Python text; ``None`` when it is neither."""
    if len(text) > _LONGEST:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    plain = re.sub(r"(?<![\w\"'.])-?(?:nan|inf|NaN|Infinity|null|true|false)(?![\w\"'.])",
                   lambda m: _NO_NUMBER[m[0].lstrip("-")], text)  # fmt: skip
    for _ in range(3):
        plain = _WRAPPED.sub(r"\1", plain)
    try:
        with (
            warnings.catch_warnings()
        ):  # about what a text would mean as a program, which it is not
            warnings.simplefilter("ignore")
            return literal(plain.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def cells_of(
    value: object,
    source: str,
    line: int,
    titles: Sequence[Label],
    tag: str = "",
    sets: frozenset[str] = frozenset(),
) -> Iterator[Cell]:
    """The numbers of a structure, each under its path and the texts beside it.

    ``sets`` are names of numbers that are settings, besides those that are told by their names.
    """
    walker = _Walker(source, line, tuple(titles), tag, sets)
    yield from walker.walk(value, (), "", (), 0)


@dataclass(frozen=True)
class _Walker:
    source: str
    line: int
    titles: tuple[Label, ...]
    tag: str
    sets: frozenset[str]

    def walk(
        self,
        value: object,
        path: tuple[str, ...],
        address: str,
        beside: tuple[Label, ...],
        depth: int,
    ) -> Iterator[Cell]:
        if depth > _DEEPEST:
            return
        if isinstance(value, dict):
            own = (*beside, *_beside(value, self.sets))
            axis = _axis(value)
            for name, each in value.items():
                joined = f"{address}.{name}" if address else str(name)
                below = (*path, str(name))
                if (
                    axis
                    and isinstance(each, list)
                    and len(each) == len(axis[1])
                    and name != axis[0]
                ):
                    for at, one in enumerate(each):
                        label = (f"row:{axis[0]}", f"{axis[0]} {axis[1][at]}")
                        yield from self.walk(
                            one, below, f"{joined}[{at}]", (*own, label), depth + 2
                        )
                else:
                    yield from self.walk(each, below, joined, own, depth + 1)
        elif isinstance(value, list | tuple):
            records = [each for each in value if isinstance(each, dict)]
            walker = replace(self, sets=self.sets | set_names(records)) if records else self
            for at, each in enumerate(value):
                yield from walker.walk(each, path, f"{address}[{at}]", beside, depth + 1)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if not any(f"row:{path[-1]}" == role for role, _ in beside if path):
                yield from self._cell(figure_of(value), repr(value), path, address, beside)
        elif isinstance(value, str) and len(value) < 60 and re.match(r"\s*[-+~]?\.?\d", value):
            for figure in figures(value):
                yield from self._cell(figure, value, path, address, beside)
                break

    def _cell(
        self,
        figure: Figure | None,
        written: str,
        path: tuple[str, ...],
        address: str,
        beside: tuple[Label, ...],
    ) -> Iterator[Cell]:
        if figure is None:
            return
        labels: list[Label] = [*self.titles, *beside]
        labels += [(f"key{depth}", name) for depth, name in enumerate(path)]
        line = max(self.line, 0)
        quote = f"{path[-1] if path else self.tag}: {written}"
        group = f"{self.tag}|{len(path)}|{path[-1] if beside and path else ''}"
        place = (
            f"{self.source}#{address}"
            if self.line < 0
            else f"{self.source}:{self.line + 1}#{address}"
        )
        yield Cell(
            figure, self.source, line, place, quote[:300], tuple(labels), group, written=written
        )


def _axis(value: dict[object, object]) -> tuple[str, list[object]] | None:
    """The list of a setting's values that other lists of an object go along: *sizes* beside *errors*."""
    lists = {
        str(name): each
        for name, each in value.items()
        if isinstance(each, list) and len(each) > 1 and all(map(_is_plain, each))
    }
    for name, each in lists.items():
        along = [other for key, other in lists.items() if key != name and len(other) == len(each)]
        numbers = [v for v in each if isinstance(v, int | float)]
        rising = (
            len(numbers) == len(each)
            and numbers == sorted(set(numbers))
            and all(map(_short, numbers))
        )
        words = len(set(map(str, each))) == len(each) and not numbers
        first = name == next(iter(lists)) or SETTING.fullmatch(name) is not None
        if along and first and (words or rising):
            return name, each
    return None


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def set_names(records: Sequence[dict[object, object]]) -> frozenset[str]:
    """Names of which the records have few values, all short: what was varied, not measured."""
    found = set()
    for name in records[0] if len(records) >= _FEWEST_RECORDS else ():
        values = [record.get(name) for record in records]
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        several = 1 < len(set(numbers)) <= len(numbers) / 2
        if len(numbers) == len(records) and several and all(map(_short, numbers)):
            found.add(str(name))
    measured = {str(name) for name in records[0]} - found if records else set()
    return frozenset(found) if measured else frozenset()


def _short(value: float) -> bool:
    figure = next(figures(f"{value:g}"), None)
    return figure is not None and figure.digits <= _SHORT


def _beside(value: dict[object, object], sets: frozenset[str]) -> tuple[Label, ...]:
    """The texts of an object, and its numbers that were set: what its other numbers belong to."""
    found: list[Label] = []
    nested = any(isinstance(each, dict | list) for each in value.values())
    for name, each in value.items():
        if isinstance(each, str) and 0 < len(each) <= 60 and not _is_numeric(each):
            found.append((f"row:{name}", each))
        elif (
            isinstance(each, int | float)
            and not isinstance(each, bool)
            and (str(name) in sets or _set(str(name), each) or (nested and isinstance(each, int)))
        ):
            found.append((f"row:{name}", f"{name} {each}"))
    return tuple(found)


def _is_numeric(text: str) -> bool:
    """Whether a text is a number, perhaps with a unit, and no name such as *7b*."""
    named = re.fullmatch(r"\s*\d+(?:\.\d+)?[A-Za-z]\w{0,12}\s*", text) and not list(figures(text))
    return not named and re.match(r"\s*[-+~]?\.?\d", text) is not None


def _set(name: str, value: float) -> bool:
    """Whether a number beside others was set: by its name, and as a short number."""
    figure = figure_of(value)
    return (
        SETTING.fullmatch(name) is not None
        and figure is not None
        and (isinstance(value, int) or figure.digits <= 2)
    )


def figure_of(value: float) -> Figure | None:
    """The figure that a number of a structure is, with its full precision."""
    return next(figures(repr(value)), None)


def _structured(value: dict[object, object] | list[object]) -> bool:
    """Whether there is a name in it: a bare list of numbers is read as a line."""
    if isinstance(value, dict):
        return True
    return any(isinstance(each, dict) for each in value[:50])
