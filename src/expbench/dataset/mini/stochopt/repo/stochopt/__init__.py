"""Replica-vectorised stochastic optimisation experiments in plain numpy.

Every iterate is an array of shape ``(replicas, dim)``: independent repetitions of a run
advance together, so Monte Carlo averages are cheap even in pure Python loops.
"""

from stochopt.optimizers import build_optimizer
from stochopt.problems import (
    LeastSquares,
    LogisticRegression,
    NoisyQuadratic,
    make_least_squares,
    make_logistic,
)
from stochopt.schedules import build_schedule

__all__ = [
    "LeastSquares",
    "LogisticRegression",
    "NoisyQuadratic",
    "build_optimizer",
    "build_schedule",
    "make_least_squares",
    "make_logistic",
]
__version__ = "0.3.0"
