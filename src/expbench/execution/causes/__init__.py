"""Why a re-run failed, told by rule from its output. ``cause_of`` is all that others need."""

from expbench.execution.causes.deciding import cause_of

__all__ = ["cause_of"]
