"""Evaluate AI agents on complete research experiments, with scores that can be believed."""

__version__ = "0.1.0"
