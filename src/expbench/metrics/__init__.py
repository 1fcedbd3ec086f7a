"""Scores of a run from the outcomes of its tasks.

Pure functions, records in, records out. The way through the modules::

    Outcome --gate.gated--> Gated --definitions.Definition.measure--> number or None
                              \\--measuring.measure--> Metric --summary.summarise--> Summary
                              \\--details.details--> Details: other denominators, curves, pass@k

Intervals and all that is no metric are in :mod:`expbench.statistics`.

Three rules hold everywhere. A failed instrument is never a zero: what could not be scored leaves
the denominator, is counted, and moves the bounds. A violation that the monitor found is a zero.
And every planned attempt is accounted for, or there is no summary at all.
"""

from expbench.metrics.definitions import COLLAPSE, METRICS, Definition, Denominator
from expbench.metrics.details import Curve, Details, Repeat, curve, details, repeats
from expbench.metrics.gate import Gated, conjunction, gated
from expbench.metrics.measuring import Attempts, Bounds, Metric, measure, numbers, parts, seen
from expbench.metrics.scored import Scored
from expbench.metrics.summary import Counts, Summary, summarise
from expbench.statistics.intervals import Interval, clopper_pearson, mean_interval, share_interval

__all__ = [
    "COLLAPSE",
    "METRICS",
    "Attempts",
    "Bounds",
    "Counts",
    "Curve",
    "Definition",
    "Denominator",
    "Details",
    "Gated",
    "Interval",
    "Metric",
    "Repeat",
    "Scored",
    "Summary",
    "clopper_pearson",
    "conjunction",
    "curve",
    "details",
    "gated",
    "mean_interval",
    "measure",
    "numbers",
    "parts",
    "repeats",
    "seen",
    "share_interval",
    "summarise",
]
