"""Synthetic binary problems whose true class posterior is known in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recal.numerics import sigmoid


@dataclass(frozen=True)
class GaussianTask:
    """Two Gaussian classes with equicorrelated features.

    Class ``c`` has mean ``c * shift`` in every feature, standard deviation ``scales[c]`` and
    correlation ``rho`` between any two features.  ``rho > 0`` violates the independence that
    naive Bayes assumes; ``scales[0] != scales[1]`` makes the posterior quadratic in the features.
    """

    dim: int = 10
    shift: float = 0.5
    rho: float = 0.3
    scales: tuple[float, float] = (1.0, 1.0)
    prior: float = 0.5

    def sample(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw ``n`` examples; returns ``(x, y)`` of shapes ``(n, dim)`` and ``(n,)``."""
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < self.prior).astype(int)
        common = rng.standard_normal((n, 1))
        own = rng.standard_normal((n, self.dim))
        noise = np.sqrt(self.rho) * common + np.sqrt(1.0 - self.rho) * own
        scale = np.asarray(self.scales)[y][:, None]
        return self.shift * y[:, None] + scale * noise, y

    def log_odds(self, x: np.ndarray) -> np.ndarray:
        """Exact log-odds ``log P(y=1|x) - log P(y=0|x)``."""
        dens = [self._log_density(x, c) for c in (0, 1)]
        return np.log(self.prior) - np.log1p(-self.prior) + dens[1] - dens[0]

    def _log_density(self, x: np.ndarray, c: int) -> np.ndarray:
        z = (x - c * self.shift) / self.scales[c]
        # The inverse of (1-rho) I + rho 11' by the Sherman-Morrison formula.
        inner = (z**2).sum(axis=1)
        total = z.sum(axis=1) ** 2
        shrink = self.rho / (1.0 - self.rho + self.dim * self.rho)
        quad = (inner - shrink * total) / (1.0 - self.rho)
        return -0.5 * quad - self.dim * np.log(self.scales[c])


def make_scores(
    n: int, seed: int, *, sharpness: float = 1.0, offset: float = 0.0, spread: float = 2.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of a hypothetical classifier whose miscalibration is known.

    The true log-odds ``t`` are normal with standard deviation ``spread``; the classifier reports
    ``sharpness * t + offset``.  ``sharpness > 1`` is over-confident, ``(1, 0)`` is calibrated.

    Returns ``(reported, true, y)``: reported probability, true probability and label.
    """
    rng = np.random.default_rng(seed)
    t = spread * rng.standard_normal(n)
    true = sigmoid(t)
    y = (rng.random(n) < true).astype(int)
    return sigmoid(sharpness * t + offset), true, y
