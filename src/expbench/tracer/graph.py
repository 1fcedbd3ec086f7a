"""The trace of a script chain: steps with exact lines and literal values, and what leads to what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from expbench.schema import Record

StepKind = Literal[
    "command",
    "options",
    "config",
    "data",
    "model",
    "optimizer",
    "schedule",
    "loop",
    "train",
    "evaluate",
    "metric",
    "output",
    "function",
    "other",
]


class Span(Record):
    """Lines of a file of the repository, from 1, the last one included; ``path`` is relative to its root."""

    path: str
    start: int
    end: int


class Step(Record):
    """One thing that the chain does.

    ``label`` says it in a few words of the code's own names; ``values`` are the literals that it fixes
    (option or keyword to value as written); ``relevance`` in [0, 1] is to the question and to the
    chain's purpose; ``order`` is the place in the order of running, as far as the source tells.
    """

    id: str
    kind: StepKind
    span: Span
    label: str
    order: int
    values: Mapping[str, str] = Field(default_factory=dict)
    relevance: float = 0.0
    ran: bool | None = None
    """Whether a traced run executed it; ``None`` where nothing was run."""


class Edge(Record):
    """From a step to one that it leads to: it runs, imports, calls or configures it."""

    source: str
    target: str
    kind: Literal["runs", "imports", "calls", "configures", "dispatches"]


class Reached(Record):
    """A file that the chain comes to; ``distance`` counts the steps from its start."""

    path: str
    distance: int
    relevance: float
    why: str
    """How it is reached, in words."""


class Trace(Record):
    """The whole chain.

    ``steps`` are in the order of running; ``files`` are by relevance, the highest first; ``mask`` are the
    files that give the answer away, the surest first; ``notes`` say what could not be followed or read.
    """

    source: tuple[str, ...]
    usage: str = ""
    steps: tuple[Step, ...]
    edges: tuple[Edge, ...] = ()
    files: tuple[Reached, ...] = ()
    mask: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
