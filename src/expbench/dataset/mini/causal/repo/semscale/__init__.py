"""Causal discovery and effect estimation on synthetic structural equation models."""

__version__ = "0.3.0"
