"""Two runs side by side: whether they may be compared, and what differs.

::

    two Runs --conditions.differing--> what they were not alike in (R32)
             --comparison.compare----> Comparison: per metric the paired difference, per task what changed

The runs' common tasks are compared, each with its epochs averaged first. Nothing is read or written here.
"""

from expbench.contrast.comparison import (
    Change,
    Comparison,
    MetricChange,
    ScoreChange,
    Side,
    compare,
    metric_changes,
)
from expbench.contrast.conditions import Condition, differing, notes

__all__ = [
    "Change",
    "Comparison",
    "Condition",
    "MetricChange",
    "ScoreChange",
    "Side",
    "compare",
    "differing",
    "metric_changes",
    "notes",
]
