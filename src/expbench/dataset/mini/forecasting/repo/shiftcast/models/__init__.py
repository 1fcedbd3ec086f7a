"""Forecasters and a registry that builds them by name."""

from shiftcast.models import autoreg, classical  # noqa: F401  (fills the registry)
from shiftcast.models.base import Forecaster, available, create, register

__all__ = ["Forecaster", "available", "create", "register"]
