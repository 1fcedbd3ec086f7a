"""What each metric measures on one outcome: the only place where a metric is defined.

Labels are the publication's (arXiv 2505.24785, tables 1 and 2): M D I C E and their conjunctions. E+, G
and what is made of them are ours.
Its C·D and I·E name two scores; its All is all of D, I and C after the monitor's gate, so that M
stands in it; All·E adds the execution. Its metrics with E are over #E, the outcomes whose
execution was checked.

The collapse multiplies the scores up one by one, over *all* outcomes, so that its steps share one
population and can only fall. Its last step therefore counts a violation as a failure where All·E
leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from expbench.metrics.gate import Gated
from expbench.schema import ScoreName

Denominator = Literal["planned", "judged", "executed", "checked"]
"""What a metric is of.

``planned``: every planned attempt; what has no number counts as not right. ``judged``: attempts with a
number; a convicted one is not right. ``executed``: attempts with a number whose execution was checked,
without convicted ones: the publication's #E. ``checked``: attempts whose script was run again, convicted
ones among them as not right: of these is the publication's figure 6b.
"""


@dataclass(frozen=True)
class Definition:
    """One metric: a mean of one score, or the share of outcomes with all its parts fully right."""

    key: str
    label: str
    title: str
    kind: Literal["mean", "share"]
    parts: tuple[ScoreName, ...]
    over: Denominator = "judged"
    """What it is of, unless something else is asked for."""

    def counts(self, view: Gated, over: Denominator | None = None) -> bool:
        """Whether the outcome belongs to the metric at all."""
        rule = over or self.over
        if rule == "executed":
            return not view.convicted
        return rule != "checked" or view.rerun

    def measure(
        self, view: Gated, threshold: float = 1.0, over: Denominator | None = None
    ) -> float | None:
        """The outcome's number in [0, 1], for a share 0 or 1; ``None`` when it is unscored."""
        rule = over or self.over
        if rule == "executed" and view.execution is None:
            return None
        number = 0.0 if self._fails_by_conviction(view) else self._number(view, threshold)
        return 0.0 if number is None and rule == "planned" else number

    def _fails_by_conviction(self, view: Gated) -> bool:
        """A convicted attempt has no execution that counts, and is not right in anything made of it."""
        return view.convicted and not {"execution", "produced", "grounding"}.isdisjoint(self.parts)

    def _number(self, view: Gated, threshold: float) -> float | None:
        if self.kind == "mean":
            return view.value(self.parts[0])
        holds = view.all_full(self.parts, threshold)
        return None if holds is None else float(holds)


METRICS: tuple[Definition, ...] = (
    Definition("monitor", "M", "No violation found", "share", ("monitor",)),
    Definition("design", "D", "Design, mean", "mean", ("design",)),
    Definition("implementation", "I", "Implementation, mean", "mean", ("implementation",)),
    Definition("conclusion", "C", "Conclusion, mean", "mean", ("conclusion",)),
    Definition("execution", "E", "Execution, mean", "mean", ("execution",), "executed"),
    Definition("conclusion_design", "C·D", "C and D", "share", ("conclusion", "design")),
    Definition(
        "implementation_execution",
        "I·E",
        "I and E",
        "share",
        ("implementation", "execution"),
        "executed",
    ),
    Definition(
        "all",
        "All",
        "M, D, I and C",
        "share",
        ("monitor", "design", "implementation", "conclusion"),
    ),
    Definition(
        "all_execution",
        "All·E",
        "M, D, I, C and E",
        "share",
        ("monitor", "design", "implementation", "conclusion", "execution"),
        "executed",
    ),
    Definition("produced", "E+", "E, and outputs were made", "share", ("produced",), "executed"),
    Definition(
        "grounding", "G", "Conclusion follows from the re-run", "share", ("grounding",), "executed"
    ),
    Definition(
        "grounding_conclusion", "G·C", "G and C", "share", ("grounding", "conclusion"), "executed"
    ),
    Definition(
        "all_execution_grounding",
        "All·E·G",
        "M, D, I, C, E and G",
        "share",
        ("monitor", "design", "implementation", "conclusion", "execution", "grounding"),
        "executed",
    ),
    Definition("design_full", "D full", "Design fully right", "share", ("design",)),
    Definition(
        "implementation_full",
        "I full",
        "Implementation fully right",
        "share",
        ("implementation",),
    ),
    Definition("conclusion_full", "C full", "Conclusion fully right", "share", ("conclusion",)),
    Definition(
        "execution_full", "E full", "Execution fully right", "share", ("execution",), "executed"
    ),
)
"""Every metric of a summary: those of the publication's tables in their order, then ours."""

_ORDER: tuple[tuple[str, ScoreName], ...] = (
    ("M", "monitor"),
    ("C", "conclusion"),
    ("D", "design"),
    ("I", "implementation"),
    ("E", "execution"),
)

COLLAPSE: tuple[Definition, ...] = tuple(
    Definition(
        key="collapse_" + "".join(label for label, _ in _ORDER[:length]).lower(),
        label="·".join(label for label, _ in _ORDER[:length]),
        title="all of them fully right" if length > 1 else "No violation found",
        kind="share",
        parts=tuple(name for _, name in _ORDER[:length]),
    )
    for length in range(1, len(_ORDER) + 1)
)
"""M, M·C, M·C·D, M·C·D·I, M·C·D·I·E: the order of the publication's figure 6b."""
