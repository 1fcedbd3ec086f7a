"""Rolling-origin evaluation of one forecaster on one series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shiftcast.metrics import mase, seasonal_scale
from shiftcast.models.base import Forecaster


@dataclass(frozen=True)
class Backtest:
    """Forecasts of one series; all arrays have one row per origin."""

    origins: np.ndarray
    forecasts: np.ndarray
    actuals: np.ndarray
    scales: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """Actual minus forecast, shape (origins, horizon)."""
        return self.actuals - self.forecasts

    def scaled_errors(self) -> np.ndarray:
        """Absolute errors over the seasonal scale of the history at each origin."""
        return mase(self.errors, self.scales)


def rolling_origin(
    series: np.ndarray,
    factory: Callable[[], Forecaster],
    origins: Sequence[int],
    horizon: int,
    *,
    period: int = 12,
    window: int | None = None,
) -> Backtest:
    """Refit at every origin and forecast the next ``horizon`` values.

    An origin ``t`` means that ``series[:t]`` is known. With ``window`` only the last
    ``window`` known values are used for fitting (all of them if fewer are known). The
    MASE scale always comes from the complete history ``series[:t]``, so that errors of
    different windows are comparable.
    """
    forecasts, actuals, scales = [], [], []
    for origin in origins:
        if origin + horizon > series.size:
            raise ValueError(f"origin {origin} leaves fewer than {horizon} values to compare")
        history = series[:origin]
        train = history if window is None else history[-window:]
        forecasts.append(factory().fit(train).predict(horizon))
        actuals.append(series[origin : origin + horizon])
        scales.append(seasonal_scale(history, period))
    return Backtest(
        origins=np.asarray(list(origins)),
        forecasts=np.stack(forecasts),
        actuals=np.stack(actuals),
        scales=np.asarray(scales),
    )
