"""Execution: the submitted script, run again on a clean tree in a fresh sandbox."""

from expbench.execution.rerun import Conditions, execution_score, produced_score, rerun

__all__ = ["Conditions", "execution_score", "produced_score", "rerun"]
