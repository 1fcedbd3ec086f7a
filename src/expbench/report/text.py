"""Numbers and hostile text in words that can be shown.

Control characters are made visible, so that no escape sequence reaches a terminal, and so are the
marks that reorder or hide text, with which a diff can be made to read other than it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from expbench.metrics import Interval, Metric

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_INVISIBLE = re.compile("[\x80-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]")
NOT_KNOWN = "not known"
_WIDEST = 4
"""Bytes of a character in UTF-8."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Cut:
    """A text, perhaps only its head, and a note of how much was left out."""

    text: str = ""
    note: str = ""


def printable(text: str) -> str:
    """The text with line ends as newlines and every invisible character shown as what it is."""
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = text.replace("\r\n", "\n")
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    text = _CONTROL.sub(lambda m: chr(0x2421 if m[0] == "\x7f" else 0x2400 + ord(m[0])), text)
    return _INVISIBLE.sub(lambda m: f"[U+{ord(m[0]):04X}]", text)


def one_line(text: str, most: int = 300) -> str:
    """The text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def cut(text: str, most: int) -> Cut:
    """The first ``most`` bytes of a text as UTF-8, in whole characters."""
    if len(text) * _WIDEST <= most:
        return Cut(text)
    raw = text.encode(errors="replace")
    if len(raw) <= most:
        return Cut(text)
    note = f"cut here: {kilobytes(most)} of {kilobytes(len(raw))} shown"
    return Cut(raw[:most].decode(errors="ignore"), f"{note}, {kilobytes(len(raw) - most)} left out")


def fair_limit(sizes: Iterable[int], room: int, most: int) -> int:
    """The largest bound, up to ``most``, under which texts of these sizes take no more than ``room``."""
    left = room
    ordered = sorted(sizes)
    for at, size in enumerate(ordered):
        share = left // (len(ordered) - at)
        if size > share:
            return min(most, share)
        left -= size
    return most


def kilobytes(count: int) -> str:
    """A number of bytes in kB (1000 bytes), with one decimal below 10."""
    return f"{count / 1000:.1f} kB" if count < 10_000 else f"{count / 1000:,.0f} kB"


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key that puts ``paper/2`` before ``paper/10``."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((int(p), "") if p.isascii() and p.isdigit() else (-1, p) for p in parts)


def percent(value: float | None) -> str:
    """A fraction in per cent with one decimal; a dash for none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def seconds(value: float | None) -> str:
    """A duration: seconds below two minutes, minutes below two hours, else hours."""
    if value is None:
        return "–"
    if value < 120:
        return f"{value:.1f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:,.1f} h"


def dollars(value: float | None) -> str:
    """An amount, or that it is not known."""
    return NOT_KNOWN if value is None else f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def span(low: float | None, high: float | None) -> str:
    """Two fractions as one range in per cent; a dash for none."""
    return "–" if low is None or high is None else f"{100 * low:.1f} – {100 * high:.1f} %"


def interval_text(interval: Interval) -> str:
    """A 95 % interval, or why there is none."""
    return interval.how if interval.low is None else span(interval.low, interval.high)


def bounds_text(metric: Metric) -> str:
    """The range from all unscored wrong to all unscored right."""
    return span(metric.bounds.low, metric.bounds.high) if metric.bounds else "–"


def of_text(metric: Metric) -> str:
    """The denominator, for a share with its successes before it."""
    return str(metric.n) if metric.successes is None else f"{metric.successes} of {metric.n}"
