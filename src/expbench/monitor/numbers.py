"""Numbers in prose, logs and code, and when two of them are the same number.

Agents write a result as ``0.7312``, ``73.1 %`` or ``7.3e-1``. A :class:`Number` keeps the value and
the unit of its last written digit, so that two numbers are compared as a reader would do it: the
more precise one is rounded to the digits of the other, and 0.731 equals 73.1 %.

Not every number is a result. :func:`result_numbers` keeps those with at least three significant
digits or two decimal places and leaves out what carries no information: years, powers of two, 0, 1,
100, single significant digits (0.01), and numbers whose context names a setting (``lr=0.05``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-+\u2212])?"
    r"(?P<mantissa>\d{1,3}(?:,\d{3}){1,5}(?![\d,])(?:\.\d{1,18})?|\d{1,18}(?:\.\d{1,18})?|\.\d{1,18})"
    r"(?:[eE](?P<exponent>[-+\u2212]?\d{1,3}))?(?!\.?\d)"
    r"(?P<percent>[ \u00a0]?\\?%)?"
)
_SETTING = re.compile(
    r"(?:^|[^a-z])(?:lrs?|learning[ _-]?rates?|seeds?|batch(?:[ _-]?size)?|epochs?|steps?|"
    r"iterations?|dropout|momentum|weight[ _-]?decay|wd|betas?[12]?|gamma|eps(?:ilon)?|"
    r"tol(?:erance)?|temperature|sigma|lambda|alpha|tau|levels?|n|k|size|dim|version|threshold|"
    r"width|grid|horizon|ratio|samples?|quantiles?|python|numpy|torch|timeout)"
    r"[\s\"'=:({\[]{0,4}(?:(?:of|to|is)\s)?$",
    re.IGNORECASE,
)
_CONTEXT = 32
_LARGEST_POWER = 250
_MOST_WIDE = 500
_MINUS = ("-", "\u2212")
_Parts = tuple[float, float, int]
_TRIVIAL = frozenset({0.0, 1.0, 100.0})


@dataclass(frozen=True)
class Number:
    """A number as written: its value, the unit of its last digit, and its significant digits."""

    value: float
    unit: float
    significant: int
    text: str
    context: str = ""

    @property
    def telling(self) -> bool:
        """Whether the number is precise enough that meeting it twice means something."""
        if abs(self.value) in _TRIVIAL or self.significant < 2:
            return False
        if self.unit < 1:
            return self.significant >= 3 or self.unit <= 0.011
        whole = int(abs(self.value))
        year = 1900 <= whole < 2100
        return self.significant >= 3 and not year and whole & (whole - 1) != 0

    @property
    def setting(self) -> bool:
        """Whether the words before the number name a hyper-parameter, seed, size or version."""
        return _SETTING.search(self.context) is not None

    def readings(self) -> Iterator[tuple[float, float]]:
        """Value and unit, also as a fraction or as a per cent where either is possible."""
        value = abs(self.value)
        yield value, self.unit
        if value <= 1:
            yield value * 100, self.unit * 100
        elif value <= 100:
            yield value / 100, self.unit / 100


def scan(text: str) -> list[Number]:
    """All numbers of a text in their order; versions, dates in dots and identifiers are none."""
    found = []
    for match, (value, unit, significant) in _numbers(text):
        context = text[max(0, match.start() - _CONTEXT) : match.start()].rpartition("\n")[2]
        found.append(Number(value, unit, significant, match[0].strip(), context))
    return found


def literal(value: float, context: str = "") -> Number | None:
    """The number behind a numeric literal of a program."""
    numbers = scan(repr(value))
    if not numbers:
        return None
    n = numbers[0]
    return Number(n.value, n.unit, n.significant, n.text, context)


def result_numbers(text: str) -> list[Number]:
    """The numbers of a text that can be results of an experiment, each value once."""
    seen: dict[float, Number] = {}
    for number in scan(text):
        if number.telling and not number.setting:
            seen.setdefault(abs(number.value), number)
    return list(seen.values())


class NumberSet:
    """Numbers that can be asked whether they hold another one, at any common precision.

    Numbers are grouped by the unit of their last digit; within a group they are sorted, so that a
    question costs a binary search for each of the few units.
    """

    def __init__(self, numbers: Iterable[Number] = ()) -> None:
        self._groups = _grouped((n.value, n.unit, n.significant) for n in numbers)

    @classmethod
    def of(cls, text: str) -> NumberSet:
        """The numbers of a text; cheaper than scanning it for single ones."""
        numbers = cls()
        numbers._groups = _grouped(parts for _, parts in _numbers(text))
        return numbers

    def __len__(self) -> int:
        return sum(len(values) for values in self._groups.values())

    def __contains__(self, number: Number) -> bool:
        return any(self._near(value, unit) for value, unit in number.readings())

    def values(self) -> list[float]:
        """The values of all numbers, without their signs."""
        return [value for values in self._groups.values() for value in values]

    def widened(self) -> NumberSet:
        """The same numbers, each of which is met by all that are within three per cent of it."""
        wider = NumberSet()
        wider._groups = {0.06 * max(value, 1e-12): [value] for value in self.values()[:_MOST_WIDE]}
        return wider

    def exactly(self, number: Number) -> bool:
        """Whether the set holds a number that is at least as precise, and is this one when rounded."""
        return any(
            self._near(value, unit, finest=unit * (1 + 1e-6)) for value, unit in number.readings()
        )

    def _near(self, value: float, unit: float, finest: float = float("inf")) -> bool:
        for other, values in self._groups.items():
            if other > finest:
                continue
            half = 0.5 * max(unit, other) * (1 + 1e-6)
            at = bisect_left(values, value - half)
            if at < len(values) and values[at] <= value + half:
                return True
        return False


def same(one: Number, other: Number) -> bool:
    """Whether two numbers are equal after rounding to the fewer digits, per cents as fractions."""
    return one in NumberSet([other])


def _grouped(numbers: Iterable[_Parts]) -> dict[float, list[float]]:
    groups: dict[float, set[float]] = {}
    for value, unit, significant in numbers:
        if significant >= 2:
            groups.setdefault(unit, set()).add(abs(value))
    return {unit: sorted(values) for unit, values in groups.items()}


def _numbers(text: str) -> Iterator[tuple[re.Match[str], _Parts]]:
    for match in _NUMBER.finditer(text):
        sign, mantissa, exponent = match.group("sign", "mantissa", "exponent")
        whole, _, fraction = mantissa.replace(",", "").partition(".")
        if not fraction:
            after = text[match.end() : match.end() + 1]
            if after.isalpha() or after == "_":
                continue
        power = int(exponent.replace("\u2212", "-")) if exponent else 0
        if abs(power) > _LARGEST_POWER:
            continue
        value = float(f"{whole or 0}.{fraction}e{power}" if power or fraction else whole)
        kept = (whole + fraction).lstrip("0")
        significant = len(kept if fraction else kept.rstrip("0"))
        unit = 10.0 ** (power - len(fraction)) if power or fraction else 1.0
        yield match, (-value if sign in _MINUS else value, unit, significant)
