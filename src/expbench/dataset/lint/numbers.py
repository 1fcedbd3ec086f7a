"""Result numbers: finding them in a text, and telling one number from another.

A text states a result when the two are equal once the longer is rounded to the digits of the shorter,
whatever the notation: ``0.000166``, ``1.66e-4`` and ``0.00016597`` are one number, and so are
``83.2 %`` and ``0.832``. Agreement of only three digits after rounding is often chance (1.6449 is a
quantile, not the result 1.64), so it counts where the same text states a second result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Context, Decimal

from expbench.schema import ResearchTask

MIN_DIGITS = 3
"""Significant digits from which a number says enough to be a result."""

NUMBER = re.compile(
    r"(?<![\w.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:[eE]([-+]?\d{1,3})|\s*(?:×|\\times|\*)\s*10\s*(?:\^|\*\*)\s*\{?([-+−]?\d{1,3}))?"
    r"(?!\d|\.\d)\s*(%?)"
)


def numbers_in(text: str) -> Iterator[tuple[Decimal, str]]:
    """Every number of a text as a positive value that keeps its significant digits, and as written.

    A percentage comes twice, also as a fraction.
    """
    for value, match in located_numbers(text):
        yield value, match.group().strip()
        if match.group(4):
            yield value.scaleb(-2), match.group().strip()


def located_numbers(text: str) -> Iterator[tuple[Decimal, re.Match[str]]]:
    """Every number of a text with its match."""
    for match in NUMBER.finditer(text):
        digits, exponent, power, _ = match.groups()
        value = Decimal(digits.replace(",", ""))
        if "." not in digits:
            value = value.normalize()
        yield value.scaleb(int((exponent or power or "0").replace("−", "-"))), match


def significant_digits(value: Decimal) -> int:
    """How many digits a number was given with; zeros before the first other digit do not count."""
    return len(str(int("".join(map(str, value.as_tuple().digits))))) if value else 0


class ResultNumbers:
    """Result numbers, ready to be looked for in many texts."""

    def __init__(self, results: Iterable[Decimal]) -> None:
        self._full: dict[tuple[int, Decimal], Decimal] = {}
        self._short: dict[tuple[int, Decimal], Decimal] = {}
        for result in results:
            digits = significant_digits(result)
            self._full[digits, result] = result
            for fewer in range(MIN_DIGITS, digits):
                self._short[fewer, rounded(result, fewer)] = result
        self._lengths = sorted({digits for digits, _ in self._full})

    def __len__(self) -> int:
        return len(self._full)

    def stated_in(self, text: str) -> Iterator[tuple[Decimal, str]]:
        """The results that a text states, each once, and as what."""
        return self.stated_by(numbers_in(text) if self._full else ())

    def stated_by(self, numbers: Iterable[tuple[Decimal, str]]) -> Iterator[tuple[Decimal, str]]:
        """As :meth:`stated_in`, of a text whose numbers are at hand (:func:`numbers_in`)."""
        sure: dict[Decimal, str] = {}
        weak: dict[Decimal, str] = {}
        for value, written in numbers:
            result = self.match(value)
            if result is not None:
                chance = value != result and MIN_DIGITS in map(significant_digits, (value, result))
                (weak if chance else sure).setdefault(result, written)
        yield from sure.items()
        if len({result.as_tuple().digits for result in (*sure, *weak)}) > 1:
            yield from ((result, weak[result]) for result in weak if result not in sure)

    def match(self, value: Decimal) -> Decimal | None:
        """The result that a number states, if it does."""
        digits = significant_digits(value)
        if digits < MIN_DIGITS:
            return None
        for length in self._lengths:
            key = (length, rounded(value, length))
            if length <= digits and key in self._full:
                return self._full[key]
        return self._short.get((digits, value))


def results_of(task: ResearchTask) -> set[Decimal]:
    """The numbers of a task's claims, or of its conclusion, that say enough to be results."""
    reference = task.reference
    texts = [claim.text for claim in reference.claims] or [reference.conclusion]
    return {
        value
        for text in texts
        for value, _ in numbers_in(text)
        if significant_digits(value) >= MIN_DIGITS
    }


def stated(texts: Iterable[str], results: set[Decimal]) -> set[Decimal]:
    """The results that any of the texts states."""
    numbers = ResultNumbers(results)
    return {result for text in texts for result, _ in numbers.stated_in(text)}


def settings_of(task: ResearchTask) -> list[str]:
    """The texts of the design's settings: what a prompt may say."""
    return [item.text for item in task.reference.design if item.kind != "dependent"]


def rounded(value: Decimal, digits: int) -> Decimal:
    """A number with so many significant digits."""
    return Context(prec=digits).create_decimal(value)
