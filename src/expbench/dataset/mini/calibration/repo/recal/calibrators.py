"""Post-hoc recalibrators: ``fit(score, y)`` on log-odds and labels, ``predict(score)`` -> P(y=1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from recal.numerics import fit_logistic, sigmoid


class Identity:
    """No recalibration."""

    def fit(self, score: np.ndarray, y: np.ndarray) -> Identity:
        return self

    def predict(self, score: np.ndarray) -> np.ndarray:
        return sigmoid(score)


class Temperature:
    """``sigmoid(score / T)`` with one temperature ``T``, by maximum likelihood."""

    def __init__(self, max_inverse: float = 20.0) -> None:
        self.max_inverse = max_inverse

    def fit(self, score: np.ndarray, y: np.ndarray) -> Temperature:
        inverse = fit_logistic(score[:, None], y)[0]
        self.inverse_ = float(np.clip(inverse, 1.0 / self.max_inverse, self.max_inverse))
        return self

    @property
    def temperature_(self) -> float:
        return 1.0 / self.inverse_

    def predict(self, score: np.ndarray) -> np.ndarray:
        return sigmoid(score * self.inverse_)


class Platt:
    """``sigmoid(a * score + b)`` with Platt's smoothed targets."""

    def fit(self, score: np.ndarray, y: np.ndarray) -> Platt:
        design = np.column_stack([score, np.ones(len(score))])
        self.coef_ = fit_logistic(design, smooth_targets(y))
        return self

    def predict(self, score: np.ndarray) -> np.ndarray:
        return sigmoid(self.coef_[0] * score + self.coef_[1])


class Beta:
    """Beta calibration: a logistic model of ``log p``, ``-log(1 - p)`` and a constant."""

    def __init__(self, l2: float = 1e-3) -> None:
        self.l2 = l2

    @staticmethod
    def _design(score: np.ndarray) -> np.ndarray:
        log_p = -np.logaddexp(0.0, -score)
        log_q = -np.logaddexp(0.0, score)
        return np.column_stack([log_p, -log_q, np.ones(len(score))])

    def fit(self, score: np.ndarray, y: np.ndarray) -> Beta:
        self.coef_ = fit_logistic(self._design(score), smooth_targets(y), self.l2)
        return self

    def predict(self, score: np.ndarray) -> np.ndarray:
        return sigmoid(self._design(score) @ self.coef_)


class Histogram:
    """Histogram binning: equal-mass bins, each predicting its share of positives."""

    def __init__(self, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def fit(self, score: np.ndarray, y: np.ndarray) -> Histogram:
        k = min(self.n_bins, len(score))
        order = np.argsort(score, kind="stable")
        parts = np.array_split(order, k)
        self.value_ = np.array([y[part].mean() for part in parts])
        self.edge_ = np.array([0.5 * (score[a[-1]] + score[b[0]]) for a, b in pairwise(parts)])
        return self

    def predict(self, score: np.ndarray) -> np.ndarray:
        return self.value_[np.searchsorted(self.edge_, score, side="right")]


class Isotonic:
    """Isotonic regression by pooling adjacent violators, linear between block centres."""

    def fit(self, score: np.ndarray, y: np.ndarray) -> Isotonic:
        order = np.argsort(score, kind="stable")
        blocks: list[list[float]] = []  # [sum of y, count, sum of scores]
        for s, label in zip(score[order], y[order]):
            blocks.append([float(label), 1.0, float(s)])
            while (
                len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]
            ):
                last = blocks.pop()
                blocks[-1] = [a + b for a, b in zip(blocks[-1], last)]
        table = np.array(blocks)
        self.value_ = table[:, 0] / table[:, 1]
        self.centre_ = table[:, 2] / table[:, 1]
        return self

    def predict(self, score: np.ndarray) -> np.ndarray:
        return np.interp(score, self.centre_, self.value_)


def smooth_targets(y: np.ndarray) -> np.ndarray:
    """Platt's targets ``(n1 + 1) / (n1 + 2)`` and ``1 / (n0 + 2)`` in place of 1 and 0."""
    n1 = float(np.sum(y))
    n0 = float(len(y)) - n1
    return np.where(y == 1, (n1 + 1.0) / (n1 + 2.0), 1.0 / (n0 + 2.0))


CALIBRATORS = {
    "none": Identity,
    "temperature": Temperature,
    "platt": Platt,
    "beta": Beta,
    "histogram": Histogram,
    "isotonic": Isotonic,
}


def make_calibrator(name: str, **kwargs):
    """Build a recalibrator by its name in :data:`CALIBRATORS`."""
    if name not in CALIBRATORS:
        raise KeyError(f"unknown calibrator {name!r}; choose from {sorted(CALIBRATORS)}")
    return CALIBRATORS[name](**kwargs)
