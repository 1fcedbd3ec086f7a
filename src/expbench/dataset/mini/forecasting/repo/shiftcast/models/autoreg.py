"""Autoregression on chosen lags, estimated by ordinary least squares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shiftcast.models.base import Forecaster, register


def lag_matrix(y: np.ndarray, lags: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Regressors ``y[t - lag]`` and targets ``y[t]`` for every t that has all lags."""
    start = max(lags)
    columns = [y[start - lag : y.size - lag] for lag in lags]
    return np.column_stack(columns), y[start:]


@register("ar")
class AutoRegression(Forecaster):
    """Subset AR with an intercept; multi-step forecasts are iterated (recursive)."""

    def __init__(self, lags: Sequence[int] = (1, 2, 12, 13)) -> None:
        self.lags = tuple(sorted(lags))

    def fit(self, history: np.ndarray) -> AutoRegression:
        y = np.asarray(history, dtype=float)
        features, target = lag_matrix(y, self.lags)
        design = np.column_stack([np.ones(target.size), features])
        if target.size <= design.shape[1]:
            raise ValueError(f"{y.size} values are too few for lags {self.lags}")
        self.coef_, *_ = np.linalg.lstsq(design, target, rcond=None)
        self.residuals_ = target - design @ self.coef_
        self._tail = y[-self.lags[-1] :]
        return self

    def predict(self, horizon: int) -> np.ndarray:
        values = self._tail.tolist()
        for _ in range(horizon):
            step = self.coef_[0]
            for weight, lag in zip(self.coef_[1:], self.lags):
                step += weight * values[-lag]
            values.append(float(step))
        return np.array(values[-horizon:])
