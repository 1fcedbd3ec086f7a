"""Scores of a run from the outcomes of its tasks.

Pure functions: records in, records out, nothing read or written. The way through the modules::

    Outcome --gate.gated--> Gated --definitions.Definition.measure--> number or None
                                          \\--summary.summarise--> Summary (Metric, Counts)
                                                     intervals: 95 % intervals over papers

Three rules hold everywhere. A failed instrument is never a zero: what could not be scored leaves
the denominator, is counted, and moves the bounds. A violation that the monitor found is a zero.
And every planned attempt is accounted for, or there is no summary at all.
"""

from expbench.metrics.definitions import COLLAPSE, METRICS, Definition
from expbench.metrics.gate import Gated, conjunction, gated
from expbench.metrics.summary import Bounds, Counts, Metric, Summary, summarise
from expbench.statistics.intervals import Interval, clopper_pearson, mean_interval, share_interval

__all__ = [
    "COLLAPSE",
    "METRICS",
    "Bounds",
    "Counts",
    "Definition",
    "Gated",
    "Interval",
    "Metric",
    "Summary",
    "clopper_pearson",
    "conjunction",
    "gated",
    "mean_interval",
    "share_interval",
    "summarise",
]
