"""Seasonal naive forecasts and additive Holt-Winters smoothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from shiftcast.models.base import Forecaster, register


@register("snaive")
class SeasonalNaive(Forecaster):
    """Repeat the last observed period."""

    def __init__(self, period: int = 12) -> None:
        self.period = period

    def fit(self, history: np.ndarray) -> SeasonalNaive:
        self._last = np.asarray(history, dtype=float)[-self.period :]
        return self

    def predict(self, horizon: int) -> np.ndarray:
        return np.resize(self._last, horizon)


@register("sdrift")
class SeasonalDrift(Forecaster):
    """Last period plus the mean seasonal difference of the history per elapsed period."""

    def __init__(self, period: int = 12) -> None:
        self.period = period

    def fit(self, history: np.ndarray) -> SeasonalDrift:
        history = np.asarray(history, dtype=float)
        self._last = history[-self.period :]
        self._drift = float(np.mean(history[self.period :] - history[: -self.period]))
        return self

    def predict(self, horizon: int) -> np.ndarray:
        periods = 1 + np.arange(horizon) // self.period
        return np.resize(self._last, horizon) + self._drift * periods


@register("holtwinters")
class HoltWinters(Forecaster):
    """Additive season and damped additive trend; constants from a grid search.

    The smoothing constants are those of the Cartesian grid with the smallest sum of
    squared one-step errors after two warm-up periods; all grid points are filtered at
    once. Start values: the mean of the first period (level), the mean seasonal difference
    of the first two periods divided by the period (trend), and the first period minus its
    mean (season).
    """

    def __init__(
        self,
        period: int = 12,
        alphas: Sequence[float] = (0.1, 0.3, 0.5, 0.8),
        betas: Sequence[float] = (0.01, 0.1),
        gammas: Sequence[float] = (0.05, 0.2, 0.5),
        phi: float = 0.98,
    ) -> None:
        self.period = period
        self.grid = np.array(list(product(alphas, betas, gammas)))
        self.phi = phi

    def fit(self, history: np.ndarray) -> HoltWinters:
        y = np.asarray(history, dtype=float)
        m, phi = self.period, self.phi
        if y.size < 3 * m:
            raise ValueError("Holt-Winters needs at least three periods")
        alpha, beta, gamma = self.grid.T
        n_grid = alpha.size
        level = np.full(n_grid, y[:m].mean())
        trend = np.full(n_grid, (y[m : 2 * m].mean() - y[:m].mean()) / m)
        season = np.tile((y[:m] - y[:m].mean())[:, None], (1, n_grid))
        sse = np.zeros(n_grid)
        for t in range(m, y.size):
            base = level + phi * trend
            slot = t % m
            error = y[t] - base - season[slot]
            if t >= 2 * m:
                sse += error**2
            level = base + alpha * error
            trend = phi * trend + alpha * beta * error
            season[slot] += gamma * (1.0 - alpha) * error
        best = int(np.argmin(sse))
        self.params_ = dict(zip(("alpha", "beta", "gamma"), self.grid[best].tolist()))
        self._level, self._trend = level[best], trend[best]
        self._season = season[:, best]
        self._n = y.size
        return self

    def predict(self, horizon: int) -> np.ndarray:
        steps = np.arange(1, horizon + 1)
        damp = np.cumsum(self.phi**steps)
        slots = (self._n + steps - 1) % self.period
        return self._level + damp * self._trend + self._season[slots]
