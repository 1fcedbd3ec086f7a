"""Summaries of traces."""

from __future__ import annotations

import numpy as np

from banditlab.runner import Trace


def cumulative_regret(trace: Trace, upto: int | None = None) -> np.ndarray:
    """Total pseudo-regret of every run over the first ``upto`` rounds (default: all)."""
    return trace.regret[:upto].sum(axis=0)


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean over runs and its standard error."""
    values = np.asarray(values, dtype=float)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def optimal_share(trace: Trace, start: int = 0, stop: int | None = None) -> float:
    """Share of rounds in [start, stop) in which the best arm was pulled."""
    return float(trace.optimal[start:stop].mean())


def phase_share(trace: Trace, segment: int, first: int, last: int) -> float:
    """Best-arm share in rounds first..last-1 of a segment, averaged over all segments.

    The trace is cut into blocks of ``segment`` rounds; an incomplete last block is dropped.
    """
    whole = trace.optimal.shape[0] // segment
    blocks = trace.optimal[: whole * segment].reshape(whole, segment, -1)
    return float(blocks[:, first:last].mean())
