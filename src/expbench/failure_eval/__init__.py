"""How right is a coder of failures: labelled errors, coded by rules or models."""

from __future__ import annotations

from expbench.failure_eval.counting import CoderEval, Part, evaluate
from expbench.failure_eval.sets import LabelledError, LabelledErrors, load_errors

__all__ = ["CoderEval", "LabelledError", "LabelledErrors", "Part", "evaluate", "load_errors"]
