"""What of an outcome is measured, and so differs between two equal runs: times, memory, and what was asked.

Two runs of the same agent, or a run and its resumption after a kill, have the same outcomes byte for byte
when this is taken out (R43). What a script prints of its own times stays: it is what it printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from expbench.schema import (
    Execution,
    Judgement,
    MadeFile,
    Outcome,
    Record,
    Refusal,
    Score,
    Suspicion,
    Trace,
    Usage,
    UsedProcess,
)

MEASURED: Mapping[type[Record], Mapping[str, object]] = {
    Outcome: {"agent_seconds": 0.0},
    Execution: {"seconds": None, "cpu_seconds": None, "peak_memory_mib": None},
    Trace: {"overhead": None},
    MadeFile: {"written": None},
    UsedProcess: {"cpu_seconds": None, "started": None, "ended": None},
    Refusal: {"seconds": 0.0},
    Judgement: {"usage": Usage(), "cached": 0},
}
"""The measured fields, with what stands in their place. How much a judge was asked depends on which
verdicts the cache had."""

SAID: Mapping[type[Record], tuple[str, ...]] = {
    Suspicion: ("explanation",),
    Execution: ("cause",),
    Score: ("reason",),
}
"""Sentences of ours in which a measured time may stand, as ``0.02 s``."""

_TIME = re.compile(r"\b\d+(?:\.\d+)? s\b")
_Kept = TypeVar("_Kept")


def without_measurements(value: _Kept) -> _Kept:
    """A record, or what a record holds, with everything measured taken out."""
    return _without(value)  # type: ignore[no-any-return]


def _without(value: Any) -> Any:
    if isinstance(value, Record):
        kept = {name: _without(part) for name, part in value}
        for name in SAID.get(type(value), ()):
            kept[name] = _TIME.sub("… s", kept[name])
        return value.model_copy(update={**kept, **MEASURED.get(type(value), {})})
    if isinstance(value, tuple):
        return tuple(map(_without, value))
    if isinstance(value, Mapping):
        return {name: _without(part) for name, part in value.items()}
    return value
