"""Direct multi-step ridge regression on lagged values."""

from __future__ import annotations

import numpy as np

from shiftcast.models.base import Forecaster, register


@register("ridge")
class DirectRidge(Forecaster):
    """One ridge regression per lead time on the last ``n_lags`` values.

    For lead time h the target is ``y[t + h - 1]`` and the regressors are
    ``y[t - 1], ..., y[t - n_lags]``. All values of a row are first reduced by the mean of
    its ``n_lags`` regressors, so that the forecast follows the local level; there is no
    intercept. The penalty is ``penalty * rows`` on the squared coefficients.
    """

    def __init__(self, n_lags: int = 24, penalty: float = 1.0) -> None:
        self.n_lags = n_lags
        self.penalty = penalty

    def fit(self, history: np.ndarray) -> DirectRidge:
        self._y = np.asarray(history, dtype=float)
        if self._y.size < 2 * self.n_lags:
            raise ValueError(f"ridge needs at least {2 * self.n_lags} values")
        return self

    def predict(self, horizon: int) -> np.ndarray:
        y, p = self._y, self.n_lags
        windows = np.lib.stride_tricks.sliding_window_view(y, p)[:, ::-1]
        means = windows.mean(axis=1)
        centred = windows - means[:, None]
        forecasts = np.empty(horizon)
        for h in range(1, horizon + 1):
            rows = y.size - p - h + 1
            design = centred[:rows]
            target = y[p + h - 1 :] - means[:rows]
            gram = design.T @ design + self.penalty * rows * np.eye(p)
            weights = np.linalg.solve(gram, design.T @ target)
            forecasts[h - 1] = means[-1] + centred[-1] @ weights
        return forecasts
