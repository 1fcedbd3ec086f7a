"""Whether a number of the outputs is the number of a claim, and whether it is so by chance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from scipy.special import stdtrit

from expbench.grounding.cells import Cell, Label
from expbench.grounding.figures import Figure
from expbench.grounding.outputs import Outputs

CONFIDENCE = 0.95
_APPROXIMATE = re.compile(
    r"(?:[~≈∼]|\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|close to|some|circa|"
    r"ca\.))\s?$",
    re.IGNORECASE,
)
_WORTH = re.compile(r"\s?((?:[kKMG]i?B|TB)\b|thousand\b|million\b|billion\b)")
_SHARED = re.compile(
    r"\s(?:against|vs\.?|versus|and|to|instead of)\s[\d.,]+\s?([kKMG]i?B|TB|thousand\b|million\b|billion\b)"
)
_TIME_UNIT = re.compile(
    r"(?:^|[\s_(\[/])(ns|[uµ]s|usec|ms|msec|sec|secs|seconds|s|min|minutes|hours|h)(?=$|[)\]\s_/,])",
    re.IGNORECASE,
)
_SECONDS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3},
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1.0),
    **{"min": 60.0, "minutes": 60.0, "h": 3600.0, "hours": 3600.0},
}
_BEHIND = 40
_ABOUT = 0.05
_SPREAD = 1.5
"""Width of the range from half a value to twice it, in units of the value."""


@dataclass(frozen=True)
class Wanted:
    """The number of a claim, with how loosely it was said."""

    figure: Figure
    about: bool = False
    worth: tuple[float, ...] = ()
    """What its unit may be worth: *1.5 MiB* in bytes, *2 million* in ones."""

    @classmethod
    def of(cls, figure: Figure, text: str) -> Wanted:
        """A figure of a conclusion; *about*, *roughly* before it make it a loose one."""
        behind = text[figure.end : figure.end + _BEHIND]
        unit = _WORTH.match(behind) or _SHARED.match(behind)
        worth = _worth(unit[1]) if unit else ()
        scaled = {"k": 1e-3, "K": 1e-3, "M": 1e-6, "G": 1e-9}.get(
            text[figure.number_end - 1 : figure.number_end]
        )
        if scaled:
            worth = (*worth, scaled)  # a column of millions: *params(M)*
        about = _APPROXIMATE.search(text[max(0, figure.start - 16) : figure.start])
        return cls(figure, bool(about), worth)

    @property
    def tolerance(self) -> float:
        """Half a unit of the last digit; for loose numbers at least five per cent."""
        half = 0.5 * self.figure.step
        return max(2 * half, _ABOUT * abs(self.figure.value)) if self.about else half

    def readings(self, other: Figure) -> Iterable[tuple[float, float]]:
        """Value and factor of the tolerance in the unit of a number of the outputs."""
        figure = self.figure
        value, unit = figure.value, figure.unit
        if unit == "seconds" and other.unit == "seconds":
            yield value * figure.scale / other.scale, figure.scale / other.scale
            return
        if figure.total is None and other.total and figure.unit in ("percent", "fraction", ""):
            share = {"percent": 0.01}.get(unit, 1.0)
            yield value * share * other.total, share * other.total
        if figure.total is not None and other.total is None:
            yield value / figure.total, 1e-4
            yield 100 * value / figure.total, 1e-2
        yield value, 1.0
        yield from ((value * each, each) for each in self.worth)
        if unit == "percent" and other.unit != "percent":
            yield value / 100, 0.01
        elif unit in ("", "points", "fraction") and abs(value) <= 1 and other.unit == "percent":
            yield value * 100, 100.0
        elif unit in ("", "points") and 1 < abs(value) <= 100 and abs(other.value) <= 1:
            yield value / 100, 0.01

    def equals(self, cell: Cell, repeated: Sequence[float] = ()) -> bool:
        """Whether a number of the outputs is this one, once rounded as this one is.

        With the values of k runs it is enough to lie in the 95 % prediction interval of one new run.
        """
        other = cell.figure
        if (
            self.figure.unit == "seconds"
            and other.unit == ""
            and (scale := _time_of(cell.labels[-2:]))
        ):
            timed = replace(other, unit="seconds", scale=scale)
            if any(_close(v, cell.value, self.tolerance * f) for v, f in self.readings(timed)):
                return True
        if self.figure.total is not None and other.total not in (None, self.figure.total):
            return False
        values = repeated or (cell.value,)
        return any(
            self._meets(value, factor, other, values) for value, factor in self.readings(other)
        )

    def _meets(self, wanted: float, factor: float, other: Figure, values: Sequence[float]) -> bool:
        tolerance = self.tolerance * factor
        finer = other.step <= self.figure.step * factor * (1 + 1e-9) or bool(other.total)
        if not finer and not self.about:
            tolerance = 1e-9 * max(1.0, abs(wanted))
        signs = (1.0,) if self.figure.signed or wanted == 0 else (1.0, -1.0)
        for sign in signs:
            if any(_close(sign * wanted, value, tolerance) for value in values):
                return True
            if _in_prediction(sign * wanted, values, tolerance):
                return True
            same = factor == 1.0 or self.figure.unit == "percent"
            if same and _in_error(sign * wanted, self.figure, other, factor):
                return True
        return False


def _worth(unit: str) -> tuple[float, ...]:
    power = {"k": 1, "t": 1, "m": 2, "g": 3, "b": 3}[unit[0].lower()]
    if unit.lower().startswith("tb"):
        power = 4
    # what the outputs write in kB, MB or GB is worth less of these
    return tuple(base**p for p in range(max(1, power - 2), power + 1) for base in (1000.0, 1024.0))


@lru_cache(maxsize=50_000)
def _time_of(labels: tuple[Label, ...]) -> float:
    """How many seconds the unit is that a number's name says: *latency_ms*, *Time in us*; 0 if none."""
    found = [m for _, label in labels for m in _TIME_UNIT.finditer(label)]
    return _SECONDS[found[-1][1].lower()] if found else 0.0


def prediction_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval for one new observation: mean ± t·s·sqrt(1 + 1/k), as CORE-Bench takes it."""
    k = len(values)
    if k < 2:
        return None
    mean = math.fsum(values) / k
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (k - 1))
    factor = float(cast("float", stdtrit(k - 1, 0.5 + CONFIDENCE / 2)))
    half = factor * spread * math.sqrt(1 + 1 / k)
    return mean - half, mean + half


def chance(wanted: Wanted, cell: Cell, pool: Iterable[Cell]) -> float:
    """How many numbers of a pool would be expected to equal a claim's by chance.

    The pool's numbers between half the value and twice the value are taken to lie evenly there.
    """
    value = abs(cell.value)
    window = 2 * wanted.tolerance
    unit = wanted.figure.unit
    share = unit == "percent" or (unit in ("", "points") and abs(wanted.figure.value) > 1)
    if cell.figure.unit != "percent" and share and value <= 1:
        window /= 100
    wanted_value = abs(wanted.figure.value)
    scales = [each for each in wanted.worth if _close(wanted_value * each, value, window * each)]
    window *= scales[0] if scales else 1.0
    values = {each.value for each in pool}
    if value == 0:
        return 0.5 * sum(v == 0 for v in values)
    near = sum(value / 2 <= abs(v) <= 2 * value for v in values)
    return near * window / (_SPREAD * value)


def pool_of(outputs: Outputs, tokens: Iterable[object]) -> list[Cell]:
    """The numbers of the outputs that stand under all of the tokens."""
    ids: frozenset[int] | None = None
    for token in tokens:
        found = outputs.index.get(token, frozenset())  # type: ignore[call-overload]
        ids = found if ids is None else ids & found
    cells = outputs.cells
    return list(cells) if ids is None else [cells[at] for at in ids]


def _close(wanted: float, value: float, tolerance: float) -> bool:
    return abs(wanted - value) <= tolerance * (1 + 1e-6) + 1e-12 * abs(value)


def _in_prediction(wanted: float, values: Sequence[float], tolerance: float) -> bool:
    interval = prediction_interval(values)
    if interval is None or len(set(values)) == 1:
        return False
    return interval[0] - tolerance <= wanted <= interval[1] + tolerance


def _in_error(wanted: float, figure: Figure, other: Figure, factor: float) -> bool:
    """Whether both were given with an error and lie within the two errors together."""
    if not figure.error or other.error is None:
        return False
    return abs(wanted - other.value) <= math.hypot(figure.error * factor, other.error)
