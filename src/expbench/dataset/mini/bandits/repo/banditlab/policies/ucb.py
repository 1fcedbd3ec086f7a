"""Upper-confidence-bound policies."""

from __future__ import annotations

import numpy as np

from banditlab.policies.base import Policy


class UCB1(Policy):
    """Index: mean + sigma * sqrt(scale * log(t) / n); arms without data come first."""

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, scale=2.0):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.scale = float(scale)

    def index(self) -> np.ndarray:
        width = self.sigma * np.sqrt(
            self.scale * np.log(max(self.t, 1)) / np.maximum(self.counts, 1.0)
        )
        return np.where(self.counts > 0, self.means() + width, np.inf)

    def select(self) -> np.ndarray:
        return self.index().argmax(axis=1)


class DiscountedUCB(Policy):
    """UCB on exponentially discounted statistics (Kocsis and Szepesvari style).

    Counts and sums are multiplied by ``gamma`` before every update, so an observation of
    age s has the weight gamma**s.
    """

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, scale=2.0, gamma=0.99):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.scale = float(scale)
        self.gamma = float(gamma)

    def update(self, arms, rewards) -> None:
        self.counts *= self.gamma
        self.sums *= self.gamma
        super().update(arms, rewards)

    def select(self) -> np.ndarray:
        seen = self.counts > 0
        safe = np.where(seen, self.counts, 1.0)
        total = np.maximum(self.counts.sum(axis=1, keepdims=True), 1.0)
        width = self.sigma * np.sqrt(self.scale * np.log(total) / safe)
        return np.where(seen, self.sums / safe + width, np.inf).argmax(axis=1)
