"""Whether the numbers of an item stand in a text.

A setting has to be the same number. A measured result may differ by its rounding, or by five per
cent, since an honest re-run gives slightly other figures; small whole numbers in a finding are
conditions (a lead time, a size) and have to be the same. ``12 %`` and ``0.12`` are one number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import log

from expbench.judges.numbers import Number
from expbench.judges.words import Token

RELATIVE_TOLERANCE = 0.05
_LARGEST_CONDITION = 5_000
_EXACT = 1e-9
_NEARLY = 1e-6
_LONGEST_LIST = 64
_GOES_ON = re.compile(r"\s*,\s*(?:\.\.\.|…)")
_OPTIONAL = re.compile(
    r"\((?:e\.g\.|i\.e\.|for example|such as|expected)[^()]*\)"
    r"|\b(?:e\.g\.|for example|expected to|near chance)[^;.()]*",
    re.IGNORECASE,
)


def mandatory(wanted: Sequence[Token], text: str, modifiers: bool = True) -> list[Token]:
    """The numbers of an item that have to be found again.

    Left out are numbers written as words, those in examples and expectations, and, unless
    ``modifiers``, those that are part of a name, such as in "15-bin" and "F1".
    """
    optional = [match.span() for match in _OPTIONAL.finditer(text)]
    return [
        token
        for token in wanted
        if token.number
        and not token.spelled
        and not any(start <= token.start < end for start, end in optional)
        and (modifiers or not _is_modifier(token, text))
    ]


def same(wanted: Number, found: Number, exact: bool) -> bool:
    """Whether ``found`` is the number that is ``wanted``."""
    options = (*found.values, *found.parts)
    if not exact and wanted.percent and found.percent:
        return _close(abs(wanted.values[0]), abs(found.values[0]), RELATIVE_TOLERANCE)
    if exact or (wanted.whole and abs(wanted.values[0]) <= _LARGEST_CONDITION):
        return any(_close(a, b, _EXACT) for a in wanted.values for b in options)
    return any(
        _close(a, b, RELATIVE_TOLERANCE) or _rounds_to(a, b, wanted.decimals)
        for a in wanted.values
        for b in options
    )


def missing(wanted: Iterable[Token], window: Iterable[Token], exact: bool) -> list[Token]:
    """The numbers of ``wanted`` that no number of ``window`` matches."""
    present = [token.number for token in window if token.number]
    return [t for t in wanted if t.number and not any(same(t.number, p, exact) for p in present)]


def with_steps(found: Sequence[Token], text: str) -> list[Token]:
    """The tokens of ``text`` with the numbers that "0.2, 0.4, ..., 1" implies: its step and what the
    dots stand for."""
    result: list[Token] = []
    for at, token in enumerate(found):
        result.append(token)
        before = found[at - 1] if at else None
        if before and before.number and token.number and _GOES_ON.match(text, token.end):
            last = found[at + 1].number if at + 1 < len(found) else None
            implied = _progression(before.number.values[0], token.number.values[0], last)
            result.extend(_implied(value, token) for value in implied)
    return result


def _progression(first: float, second: float, last: Number | None) -> list[float]:
    """The values after the second, up to the last: by equal steps, else by equal factors."""
    step = second - first
    if last is None:
        return [abs(step)]
    end = last.values[0]
    count = (end - second) / step if step else 0.0
    if 1 <= count <= _LONGEST_LIST and abs(count - round(count)) < _NEARLY:
        return [*(second + step * k for k in range(1, round(count))), abs(step)]
    if first > 0 and second > 0 and end > 0 and log(first) != log(second):
        factors = (log(end) - log(second)) / (log(second) - log(first))
        if 1 <= factors <= _LONGEST_LIST and abs(factors - round(factors)) < _NEARLY:
            return [second * (second / first) ** k for k in range(1, round(factors))]
    return [abs(step)]


def _implied(value: float, at: Token) -> Token:
    number = Number((value,), 0, f"{value:g}")
    return Token(number.written, at.start, at.end, number)


def _is_modifier(token: Token, text: str) -> bool:
    joined = re.match(r"-[A-Za-z]", text[token.end : token.end + 2])
    return bool(joined) or bool(
        re.search(r"[A-Za-z]\^?$", text[max(0, token.start - 3) : token.start])
    )


def _close(a: float, b: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _rounds_to(wanted: float, found: float, decimals: int) -> bool:
    return decimals > 0 and wanted != 0 and abs(wanted - found) <= 0.5 * 10.0**-decimals + _EXACT
