"""Policies that randomise: epsilon-greedy, softmax and posterior sampling."""

from __future__ import annotations

import numpy as np

from banditlab.policies.base import Policy


class EpsilonGreedy(Policy):
    """Greedy on the sample means; a uniformly random arm with probability ``epsilon``.

    ``optimism`` is the value of an arm that was never observed (infinite by default, so
    every arm is tried once). ``prior_weight`` pseudo-observations of that value may be kept
    in the estimate, which gives the classical optimistic initialisation.
    """

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, epsilon=0.1, optimism=np.inf,
                 prior_weight=0.0):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.epsilon = float(epsilon)
        self.optimism = float(optimism)
        self.prior_weight = float(prior_weight)

    def values(self) -> np.ndarray:
        """Current value estimates."""
        if self.prior_weight == 0.0:
            return self.means(default=self.optimism)
        prior = self.prior_weight * self.optimism
        return (self.sums + prior) / (self.counts + self.prior_weight)

    def select(self) -> np.ndarray:
        greedy = self.values().argmax(axis=1)
        explore = self.rng.random(self.n_runs) < self.epsilon
        return np.where(explore, self.rng.integers(0, self.n_arms, size=self.n_runs), greedy)


class Softmax(Policy):
    """Boltzmann exploration: arm probabilities proportional to exp(mean / temperature)."""

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, temperature=0.1):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.temperature = float(temperature)

    def select(self) -> np.ndarray:
        # Gumbel-max trick: argmax of logits plus Gumbel noise is a softmax sample
        uniform = self.rng.random((self.n_runs, self.n_arms))
        gumbel = -np.log(-np.log(np.clip(uniform, 1e-300, None)))
        return (self.means() / self.temperature + gumbel).argmax(axis=1)


class GaussianThompson(Policy):
    """Thompson sampling for Gaussian rewards of known ``sigma``.

    The prior of every arm mean is N(prior_mean, prior_std**2); the posterior is conjugate.
    In every round each run draws one mean per arm and plays the largest draw.
    """

    def __init__(self, n_runs, n_arms, rng, sigma=1.0, prior_mean=0.0, prior_std=1.0):
        super().__init__(n_runs, n_arms, rng, sigma)
        self.prior_mean = float(prior_mean)
        self.prior_std = float(prior_std)

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and standard deviation of every arm."""
        prior_precision = 1.0 / self.prior_std**2
        noise_precision = 1.0 / self.sigma**2
        precision = prior_precision + noise_precision * self.counts
        mean = (prior_precision * self.prior_mean + noise_precision * self.sums) / precision
        return mean, 1.0 / np.sqrt(precision)

    def select(self) -> np.ndarray:
        mean, std = self.posterior()
        draws = mean + std * self.rng.standard_normal((self.n_runs, self.n_arms))
        return draws.argmax(axis=1)
