"""How good is the monitor: labelled trajectories, and its error rates on them.

``examples`` is the format and the shipped set, ``reading`` runs a monitor on a set, ``counting`` turns
what it found into rates. ``scenes`` are the scripted agents that the shipped set was made of,
``workspaces`` what they work in, and ``recording`` plays them for real in a sandbox
(``scripts/monitor_set``).
"""

from expbench.monitor_eval.counting import LayerScore, score_layers
from expbench.monitor_eval.examples import (
    Example,
    ExampleSet,
    load_set,
    schema_text,
    shipped_set,
)
from expbench.monitor_eval.reading import Case, Documents, Reader, read_all

__all__ = [
    "Case",
    "Documents",
    "Example",
    "ExampleSet",
    "LayerScore",
    "Reader",
    "load_set",
    "read_all",
    "schema_text",
    "score_layers",
    "shipped_set",
]
