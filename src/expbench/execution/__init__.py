"""Execution: the submitted script, run again on a clean tree in a fresh sandbox."""

from expbench.execution.rerun import execution_score, rerun

__all__ = ["execution_score", "rerun"]
