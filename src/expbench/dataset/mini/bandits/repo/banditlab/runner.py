"""The simulation loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Trace:
    """What happened in a simulation; both arrays have the shape (horizon, n_runs)."""

    regret: np.ndarray
    optimal: np.ndarray


def make_streams(seed: int) -> dict[str, np.random.Generator]:
    """Independent generators for reward noise, arm layout and policy randomness.

    Use the same ``seed`` for all policies of a comparison: they then see the same
    layouts and the same noise (common random numbers).
    """
    return {
        "noise": np.random.default_rng([seed, 0]),
        "layout": np.random.default_rng([seed, 1]),
        "policy": np.random.default_rng([seed, 2]),
    }


def simulate(policy, env, horizon: int) -> Trace:
    """Let ``policy`` play ``env`` for ``horizon`` rounds with immediate feedback."""
    regret = np.empty((horizon, env.n_runs))
    for t in range(horizon):
        arms = policy.select()
        regret[t] = env.regret(arms)
        policy.update(arms, env.pull(arms))
        env.advance()
    return Trace(regret=regret, optimal=regret <= 1e-12)
