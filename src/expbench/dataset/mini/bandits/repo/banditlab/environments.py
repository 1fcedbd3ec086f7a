"""Bandit environments with Gaussian rewards, vectorised over runs."""

from __future__ import annotations

import numpy as np


class GaussianBandit:
    """Stationary bandit: arm ``k`` of run ``i`` pays ``N(means[i, k], sigma**2)``.

    Args:
        means: array of shape (n_runs, n_arms); use :func:`single_best` to build one.
        sigma: standard deviation of the rewards, shared by all arms.
        rng: generator of the reward noise. One normal number per run is drawn in every
            round, whatever arm is pulled, so that two policies that are given the same
            seed meet the same noise sequence.
    """

    def __init__(self, means: np.ndarray, sigma: float, rng: np.random.Generator):
        self.means = np.array(means, dtype=float)
        if self.means.ndim != 2:
            raise ValueError("means must have the shape (n_runs, n_arms)")
        self.sigma = float(sigma)
        self.rng = rng
        self.n_runs, self.n_arms = self.means.shape
        self._rows = np.arange(self.n_runs)
        self._best = self.means.max(axis=1)
        self.round = 0

    def pull(self, arms: np.ndarray) -> np.ndarray:
        """Draw one reward per run for the pulled ``arms`` (shape (n_runs,))."""
        noise = self.rng.standard_normal(self.n_runs)
        return self.means[self._rows, arms] + self.sigma * noise

    def regret(self, arms: np.ndarray) -> np.ndarray:
        """Pseudo-regret of the current round: best mean minus mean of the pulled arm."""
        return self._best - self.means[self._rows, arms]

    def advance(self) -> None:
        """Move on to the next round (a stationary bandit only counts it)."""
        self.round += 1


class SwitchingBandit(GaussianBandit):
    """Piecewise-stationary bandit with equally spaced, abrupt changes.

    The horizon is cut into ``n_changes + 1`` segments of ``horizon // (n_changes + 1)``
    rounds (the last one takes the remainder). The first segment assigns ``profile`` to
    the arms after a random rotation; at every change the assignment is rotated by a
    random offset from {1, ..., n_arms - 1}, independently in every run, so that the
    identity of the best arm always changes.

    Args:
        profile: the multiset of arm means, length n_arms.
        n_runs: number of independent runs.
        horizon: number of rounds.
        n_changes: number of changes inside the horizon; 0 gives a stationary bandit.
        sigma: standard deviation of the rewards.
        rng: generator of the reward noise.
        layout_rng: generator of the rotations.
    """

    def __init__(self, profile, n_runs, horizon, n_changes, sigma, rng, layout_rng):
        self.profile = np.asarray(profile, dtype=float)
        n_arms = self.profile.size
        self.segment = horizon // (n_changes + 1)
        self.n_changes = int(n_changes)
        self.layout_rng = layout_rng
        self._shift = layout_rng.integers(0, n_arms, size=n_runs)
        super().__init__(self._layout(), sigma, rng)

    def _layout(self) -> np.ndarray:
        k = self.profile.size
        return self.profile[(np.arange(k)[None, :] + self._shift[:, None]) % k]

    def change_points(self) -> list[int]:
        """First round of every segment but the first."""
        return [self.segment * (i + 1) for i in range(self.n_changes)]

    def advance(self) -> None:
        super().advance()
        if self.round % self.segment == 0 and self.round // self.segment <= self.n_changes:
            offset = self.layout_rng.integers(1, self.n_arms, size=self.n_runs)
            self._shift = (self._shift + offset) % self.n_arms
            self.means = self._layout()


def single_best(n_runs: int, n_arms: int, gap: float, rng: np.random.Generator) -> np.ndarray:
    """Means with one arm at ``gap`` and all others at 0; its position is random per run."""
    means = np.zeros((n_runs, n_arms))
    means[np.arange(n_runs), rng.integers(0, n_arms, size=n_runs)] = gap
    return means


def shuffled(profile, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """Means that are an independent random permutation of ``profile`` in every run."""
    return rng.permuted(np.tile(np.asarray(profile, dtype=float), (n_runs, 1)), axis=1)
