"""Numbers as values: digits, powers, percentages, and what is spelled out.

``1e-3``, ``5 × 10^-4``, ``2^-6``, ``10,000``, ``12 %``, ``20k`` and ``0.4 million`` are read from digits;
"one hundred and twenty-eight", "three fifths", "half" and "one in ten" from words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
POWER = r"(?:(?:10|2)(?:\^[{(]?[-−+]?\d{1,4}[)}]?|\*\*\(?-?\d{1,4}\)?)|10[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})"
PLAIN = (
    r"[1-9]\d{0,2}(?:,\d{3})+(?![,.]?\d)|\d+(?:_\d{3})+"
    r"|(?:\d+\.\d+|(?<![.\d])\.\d+|\d+\.?(?!\w))(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?"
)
_TIMES = {"k": 1e3, "K": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9}
_LARGEST_EXPONENT = 60
_LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class Number:
    """A value as written: what it may mean, and how many decimals it has."""

    values: tuple[float, ...]
    decimals: int
    written: str
    parts: tuple[float, ...] = ()
    """What it would mean if its commas did not group digits but separated a list."""
    percent: bool = False
    """Whether it was written with a per cent sign; then its hundredth is among its values."""
    exponent: int | None = None
    """Of what was written as a power."""

    @property
    def whole(self) -> bool:
        """Whether it is a bare whole number, such as a count or a setting."""
        return self.decimals == 0 and not self.percent and self.values[0].is_integer()


def from_digits(digits: str, unit: str, negative: bool) -> Number:
    """The number that ``digits`` with the unit behind them (``%``, ``k`` or nothing) means."""
    parts = tuple(map(float, digits.split(","))) if "," in digits else ()
    written = re.sub(r"[,_]", "", digits).rstrip(".")
    value = min(float(written), _LARGEST)
    if negative:
        value = -value
    values: tuple[float, ...] = (value,)
    if unit in _TIMES:
        values = (value * _TIMES[unit],)
    elif unit:
        values = (value, value / 100)
    mantissa = written.lower().partition("e")[0]
    decimals = len(mantissa.partition(".")[2])
    return Number(values, decimals, written, parts, percent=len(values) > 1)


def from_power(written: str, mantissa: str) -> Number:
    """The number that a power such as ``10^-4`` means, times ``mantissa``."""
    plain = written.translate(_SUPERSCRIPTS)
    base, exponent = _base_and_exponent(plain)
    exponent = max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, exponent))
    if base == 10:
        value = float(f"{mantissa or 1}e{exponent}")
    else:
        value = float(mantissa or 1) * float(base) ** exponent
    value = min(value, _LARGEST)
    return Number((value,), len(mantissa.partition(".")[2]), plain, exponent=exponent)


def _base_and_exponent(plain: str) -> tuple[int, int]:
    found = re.fullmatch(r"(10|2)(?:\^|\*\*)?[({]*([-+]?\d+)[)}]*", plain)
    return (int(found[1]), int(found[2])) if found else (10, 0)


# --- spelled out ---------------------------------------------------------------------------------

_UNIT_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNIT_WORDS.split())} | {
    word: 10 * value for value, word in enumerate(_TEN_WORDS.split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "eighth": 8, "tenth": 10,
}  # fmt: skip
_PARTS |= {f"{word}s": value for word, value in _PARTS.items() if not word.endswith("s")}
_ARTICLES = ("a", "an", "one")
STARTS = frozenset((*_SMALL, *_SCALES, *_ARTICLES, "half"))
"""The words with which a number may begin."""
_LONGEST = 9
_TEN, _TWENTY, _HUNDRED = 10, 20, 100
_BEFORE_IN = 4


def spelled_number(words: Sequence[str], at: int) -> tuple[Number, int] | None:
    """The number that is spelled out from ``words[at]`` on and how many words it takes, if one is.

    ``words`` are in lower case. A lone "one" is none, nor is a lone ordinal.
    """
    value, taken = _whole(words[at : at + _LONGEST])
    if words[at] == "half":
        return Number((0.5,), 1, "0.5"), 1
    following = words[at + max(taken, 1)] if at + max(taken, 1) < len(words) else ""
    article = words[at] in _ARTICLES
    if following in _PARTS and (taken or article) and (taken <= 1 or following.endswith("s")):
        share = (value if taken else 1) / _PARTS[following]
        return Number((share,), 2, f"{share:.4g}"), max(taken, 1) + 1
    if not taken or (taken == 1 and words[at] == "one"):
        return None
    values: tuple[float, ...] = (float(value),)
    if value and at and words[at - 1] == "in" and "one" in words[max(at - _BEFORE_IN, 0) : at]:
        values = (float(value), 1 / value)
    return Number(values, 0, str(value)), taken


def _whole(words: Sequence[str]) -> tuple[int, int]:
    """The whole number at the start of ``words`` and its length; 0 words when there is none."""
    total = current = last = 0
    at = 1 if words[0] == "a" and len(words) > 1 and words[1] in _SCALES else 0
    taken = 0
    while at < len(words):
        word = words[at]
        if word in _SMALL and _may_follow(last, _SMALL[word]):
            current += _SMALL[word]
            last = max(_SMALL[word], 1)
        elif word in _SCALES:
            last = _SCALES[word]
            if last == _HUNDRED:
                current = max(current, 1) * last
            else:
                total, current = total + max(current, 1) * last, 0
        elif word == "and" and last >= _HUNDRED and words[at + 1 : at + 2] != []:
            if words[at + 1] not in _SMALL:
                break
            at += 1
            continue
        else:
            break
        at += 1
        taken = at
    return total + current, taken


def _may_follow(last: int, value: int) -> bool:
    """Whether a number word can go on after one of value ``last``, 0 where none was."""
    return not last or last >= _HUNDRED or (last >= _TWENTY and value < _TEN)
