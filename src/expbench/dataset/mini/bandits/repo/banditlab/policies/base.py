"""Base class of all policies."""

from __future__ import annotations

import numpy as np


class Policy:
    """Keeps pull counts and reward sums for ``n_runs`` independent learners.

    ``select`` returns the arm of every run and must not change the statistics;
    ``update`` takes one observed (arm, reward) pair per run. ``self.t`` is the number of
    observations that were fed to ``update`` so far.
    """

    def __init__(self, n_runs: int, n_arms: int, rng: np.random.Generator, sigma: float = 1.0):
        self.n_runs = n_runs
        self.n_arms = n_arms
        self.rng = rng
        self.sigma = float(sigma)
        self.t = 0
        self.counts = np.zeros((n_runs, n_arms))
        self.sums = np.zeros((n_runs, n_arms))
        self._rows = np.arange(n_runs)

    def means(self, default: float = 0.0) -> np.ndarray:
        """Sample means; ``default`` for arms without an observation."""
        safe = np.maximum(self.counts, 1.0)
        return np.where(self.counts > 0, self.sums / safe, default)

    def select(self) -> np.ndarray:
        raise NotImplementedError

    def update(self, arms: np.ndarray, rewards: np.ndarray) -> None:
        self.counts[self._rows, arms] += 1.0
        self.sums[self._rows, arms] += rewards
        self.t += 1
