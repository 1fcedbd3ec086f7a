"""Numbers as people and programs write them: value, precision, unit, error, count of a total.

``73.1 %``, ``1.66e-4``, ``3.1 × 10^-5``, ``1,234``, ``85.4 ± 0.3``, ``1.8x``, ``98/98``, ``3 of 5``. Parts
of names (``UCB1``, ``ResNet-50``, ``v1.2.3``), powers (``2^-6``), formulas (``1/L``, ``2n``), dates, clock
times and modifiers (``48-month``) are no figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Unit = Literal["", "percent", "fraction", "seconds", "times", "points", "count"]

_EXPONENTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_DIGITS = (
    r"(?:[1-9]\d{0,2}(?:,\d{3}){1,5}(?!,?\d)(?:\.\d{1,18})?"
    r"|[1-9]\d{0,2}(?:[\u00a0\u202f\u2009_']\d{3}){1,5}(?!\d)(?:\.\d{1,18})?"
    r"|\d{1,18}\.(?=[eE][-+]?\d)|\d{1,18}(?:\.\d{1,18})?|\.\d{1,18})"
)
_POWER = (
    r"(?:[eE](?P<exponent>[-+−]?\d{1,3})"
    r"|\s?(?:×|x|\*|\\times|\\cdot|·)\s?10\s?(?:(?:\^|\*\*)\s?[{(]?(?P<power>[-+−]?\d{1,3})[})]?"
    r"|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})))"
)
_NUMBER = re.compile(
    rf"(?<![\w.^@])(?P<sign>[-+−])?(?P<digits>{_DIGITS}){_POWER}?(?!\d|\.\d)(?P<scale>[kKMG](?![\w/]))?"
)
_UNIT = re.compile(
    r"[ \u00a0\u202f~]?\\?%(?:[ -](?P<points>points?\b|pts?\b))?"
    r"|[ \u00a0-]?(?P<word>(?:[A-Z][\w-]*|accuracy) points?\b|percentage[ -]points?|per[ -]?cent|percent|"
    r"pct|p\.?p\.?(?![\w])|points?|pts?"
    r"|-?fold|times|ms|msec|milliseconds?|[uµμ]s|microseconds?|ns|nanoseconds?|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?)(?![\w=(])"
    r"|(?P<cross>(?:[ \u00a0](?=[x×](?!\s?\d)))?[x×](?![\w(]))"
)
_ERROR = re.compile(
    rf"\*{{0,2}}\s?\(?\s?(?:±|\+/[-−]|\+[-−]|\\pm|\$\\pm\$)\s{{0,4}}(?P<digits>{_DIGITS}){_POWER}?(?P<percent>\s?%)?\)?"
)
_OF = re.compile(
    r"(?:\s(?:out\s)?of\s(?:the\s|all\s)?(?P<total>\d{1,9})|/(?P<slash>\d{1,9}))(?!\d|[\w.,/]\w)"
    r"|\s/\s(?P<spaced>\d{1,9})(?=\s[a-z]|\s?[()]|$|\n)"
)
_ROW = re.compile(r"\d\s?/\s?$")
"""Before a number of a row, which is no count of the next one: *400 / 100 / 400*."""
_SECONDS = (
    *(("ms", 1e-3), ("milli", 1e-3), ("micro", 1e-6), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6)),
    *(("ns", 1e-9), ("nano", 1e-9), ("min", 60.0), ("s", 1.0), ("h", 3600.0)),
)
_FORMULA = re.compile(r"\s?(?:\^|\*\*\s?\d)|/\(?\d*[A-Za-z](?!\s?=)|[A-Za-z_\[]|-[A-Za-z]")
_MEASURE = re.compile(
    r"(?:[kKMGT]i?B|[kMGT]?bps|[kMG]?Hz|dB|[mk]?Wh?|[mk]J|px|[mck]m|kg|fps|FPS|(?:it|tok|img|samples?|steps?)/s|"
    r"[KMGT]?FLOPS?|[GM]MACs)(?:/s)?(?![\w^])"
)
"""Units that are written right behind a number, so that it is no formula: *6.12GB*, *1.07it/s*."""
_NO_NUMBER = re.compile(
    r"(?<!\d)(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}:\d\d(?::\d\d)?|\d+(?:\.\d+){2,})(?!\d)|(?<=@)\d[\d./]*(?=\D|$)"
)
"""Dates, clock times and versions."""
_RAISED = re.compile(r"(?:\^|[\w)\]]\s?\*\*)[-−{(]{0,2}$")
_IN_NAME = re.compile(r"[^\W\d][-−]$")
_MOST_POWER = 200


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as written; ``step`` is what one unit of its last digit is worth.

    ``scale`` is how many seconds its unit of time is. ``start`` and ``end`` are its place with sign, unit
    and error; ``number_end`` is where its digits end.
    """

    value: float
    step: float
    digits: int
    start: int
    end: int
    number_end: int
    unit: Unit = ""
    error: float | None = None
    total: float | None = None
    scale: float = 1.0
    signed: bool = False

    @property
    def whole(self) -> bool:
        """Whether it was written without a decimal point or exponent."""
        return self.step >= 1

    def shifted(self, by: int) -> Figure:
        """The same figure in a text that begins ``by`` characters earlier."""
        return replace(
            self, start=self.start + by, end=self.end + by, number_end=self.number_end + by
        )


def figures(text: str) -> Iterator[Figure]:
    """Every figure of a text, in order."""
    at = 0
    others = {at: match.end() for match in _NO_NUMBER.finditer(text) for at in range(*match.span())}
    while match := _NUMBER.search(text, at):
        if match.start("digits") in others:
            at = others[match.start("digits")]
            continue
        found = _figure(text, match)
        at = match.end()
        if found is not None:
            yield found
            at = max(at, found.end)


def _figure(text: str, match: re.Match[str]) -> Figure | None:
    parts = _parts(match)
    if parts is None:
        return None
    value, step, digits = parts
    start, end = match.span()
    sign = match["sign"]
    if _RAISED.search(text[max(0, start - 6) : start]) or _IN_NAME.search(
        text[max(0, start - 2) : start]
    ):
        return None
    if sign and start and (text[start - 1].isalnum() or text[start - 1] in ")]%"):
        if sign != "-" or text[start - 1] in ")]%" or not text[start - 1].isdigit():
            return None
        sign, start = None, start + 1
    if sign in ("-", "−"):
        value = -value
    figure = Figure(value, step, digits, start, end, end, signed=bool(sign))
    error = _ERROR.match(text, end)
    figure, measured = _with_unit(text, figure if error is None else _with_error(figure, error))
    later = _ERROR.match(text, figure.end) if measured and error is None else None
    if later is not None and figure.unit == "seconds":
        return replace(_with_error(figure, later), unit=figure.unit)
    if not measured and error is None:
        total = _OF.match(text, end)
        in_row = _ROW.search(text[max(0, start - 4) : start]) is not None
        if total and not in_row and not re.match(r"\s[-−]?\d", text[total.end() : total.end() + 3]):
            return _of_total(figure, total)
        if _FORMULA.match(text, end) and not _MEASURE.match(text, end):
            return None
    return figure


def _parts(match: re.Match[str]) -> tuple[float, float, int] | None:
    """Value, step and significant digits."""
    plain = re.sub(r"[,\u00a0\u202f\u2009_']", "", match["digits"])
    whole, _, fraction = plain.partition(".")
    written = match["exponent"] or match["power"] or match["raised"] or "0"
    power = int(written.translate(_EXPONENTS))
    scale = match.groupdict().get("scale")
    power += {"k": 3, "K": 3, "M": 6, "G": 9}.get(scale or "", 0)
    if abs(power) > _MOST_POWER:
        return None
    kept = (whole + fraction).lstrip("0")
    if not fraction and not scale and written == "0" and "," not in match["digits"]:
        kept = kept.rstrip("0") or kept
    step = 10.0 ** (power - len(fraction))
    return float(f"{whole or 0}.{fraction or 0}e{power}"), step, max(1, len(kept))


def _with_error(figure: Figure, match: re.Match[str]) -> Figure:
    parts = _parts(match)
    if parts is None:
        return figure
    unit: Unit = "percent" if match["percent"] else ""
    return replace(figure, error=parts[0], end=match.end(), unit=unit)


def _with_unit(text: str, figure: Figure) -> tuple[Figure, bool]:
    match = _UNIT.match(text, figure.end)
    if match is None:
        return figure, False
    word = (match["word"] or "").lower()
    unit: Unit = "percent"
    scale = 1.0
    if (
        match["points"]
        or word.endswith(("point", "points"))
        or word.startswith(("pp", "p.p", "pt"))
    ):
        unit = "points"
    elif match["cross"] or "fold" in word or word == "times":
        unit = "times"
    elif word and not word.startswith(("per", "pct")):
        unit = "seconds"
        scale = next(worth for name, worth in _SECONDS if word.startswith(name))
    return replace(figure, unit=unit, scale=scale, end=match.end()), True


def _of_total(figure: Figure, match: re.Match[str]) -> Figure:
    total = float(match["total"] or match["slash"] or match["spaced"])
    if not figure.whole or figure.signed or figure.value > total or total < 1:
        return figure
    return replace(figure, total=total, unit="count", end=match.end())
