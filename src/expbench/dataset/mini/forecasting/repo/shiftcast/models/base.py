"""The forecaster interface and its registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

_REGISTRY: dict[str, type[Forecaster]] = {}


class Forecaster(ABC):
    """Fit on a one-dimensional history, then predict the values that follow it."""

    @abstractmethod
    def fit(self, history: np.ndarray) -> Forecaster:
        """Estimate the model and return ``self``."""

    @abstractmethod
    def predict(self, horizon: int) -> np.ndarray:
        """Point forecasts for lead times 1 .. ``horizon``."""


def register(name: str) -> Callable[[type[Forecaster]], type[Forecaster]]:
    """Class decorator that makes a forecaster available under ``name``."""

    def wrap(cls: type[Forecaster]) -> type[Forecaster]:
        _REGISTRY[name] = cls
        return cls

    return wrap


def create(name: str, **params) -> Forecaster:
    """Build an unfitted forecaster from its registered name."""
    if name not in _REGISTRY:
        raise KeyError(f"no forecaster {name!r}; known: {', '.join(available())}")
    return _REGISTRY[name](**params)


def available() -> list[str]:
    """Registered names in alphabetical order."""
    return sorted(_REGISTRY)
