"""UCB on a sliding window of the most recent rounds."""

from __future__ import annotations

import numpy as np

from banditlab.policies.base import Policy


class SlidingWindowUCB(Policy):
    """Index: windowed mean + sigma * sqrt(scale * log(min(t, window)) / windowed count).

    A ring buffer of the last ``window`` (arm, reward) pairs of every run is kept; the pair
    that falls out of the window is subtracted again. An arm without an observation inside
    the window has an infinite index; ties go to the lowest arm number.
    """

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, scale=2.0, window=200):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.scale = float(scale)
        self.window = int(window)
        self._arms = np.zeros((self.window, n_runs), dtype=np.int64)
        self._rewards = np.zeros((self.window, n_runs))

    def update(self, arms, rewards) -> None:
        slot = self.t % self.window
        if self.t >= self.window:
            self.counts[self._rows, self._arms[slot]] -= 1.0
            self.sums[self._rows, self._arms[slot]] -= self._rewards[slot]
        self._arms[slot] = arms
        self._rewards[slot] = rewards
        super().update(arms, rewards)

    def select(self) -> np.ndarray:
        horizon = max(min(self.t, self.window), 1)
        width = self.sigma * np.sqrt(
            self.scale * np.log(horizon) / np.maximum(self.counts, 1.0)
        )
        return np.where(self.counts > 0, self.means() + width, np.inf).argmax(axis=1)
