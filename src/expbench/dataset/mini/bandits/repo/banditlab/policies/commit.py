"""Explore-then-commit."""

from __future__ import annotations

import numpy as np

from banditlab.policies.base import Policy


class ExploreThenCommit(Policy):
    """Pulls the arms in turn until each has ``pulls_per_arm`` observations, then commits.

    The arm with the largest sample mean at the end of the exploration is played in all
    later rounds; what is observed after the commitment is ignored.
    """

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, pulls_per_arm=50):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.budget = int(pulls_per_arm) * n_arms
        self.committed = None

    def select(self) -> np.ndarray:
        if self.t < self.budget:
            return np.full(self.n_runs, self.t % self.n_arms)
        if self.committed is None:
            self.committed = self.means().argmax(axis=1)
        return self.committed
