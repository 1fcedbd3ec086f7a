"""Policy registry.

Policies are imported on first use, so a policy whose module is not installed does not
stop the others from working.
"""

from __future__ import annotations

from importlib import import_module

_REGISTRY = {
    "epsilon-greedy": "banditlab.policies.randomised:EpsilonGreedy",
    "softmax": "banditlab.policies.randomised:Softmax",
    "ucb1": "banditlab.policies.ucb:UCB1",
    "discounted-ucb": "banditlab.policies.ucb:DiscountedUCB",
    "sliding-window-ucb": "banditlab.policies.window:SlidingWindowUCB",
    "thompson": "banditlab.policies.randomised:GaussianThompson",
    "explore-then-commit": "banditlab.policies.commit:ExploreThenCommit",
}


def available() -> list[str]:
    """Names that :func:`make_policy` knows."""
    return sorted(_REGISTRY)


def make_policy(name: str, n_runs: int, n_arms: int, rng, **options):
    """Build the policy ``name``; ``options`` go to its constructor."""
    try:
        module, cls = _REGISTRY[name].split(":")
    except KeyError:
        raise ValueError(f"unknown policy {name!r}; known: {', '.join(available())}") from None
    return getattr(import_module(module), cls)(n_runs, n_arms, rng, **options)
