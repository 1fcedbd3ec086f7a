"""A single server queue with exponential arrivals and services."""

from queuesim.server import DISCIPLINES, simulate
from queuesim.stats import bootstrap, mean, percentile, sd, welch

__all__ = ["DISCIPLINES", "bootstrap", "mean", "percentile", "sd", "simulate", "welch"]
