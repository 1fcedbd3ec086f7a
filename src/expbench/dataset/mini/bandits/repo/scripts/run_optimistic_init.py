"""Optimistic initial values for the purely greedy policy.

Usage: PYTHONPATH=. python scripts/run_optimistic_init.py
"""

from __future__ import annotations

import argparse

from banditlab.environments import GaussianBandit, shuffled
from banditlab.io import load_config
from banditlab.metrics import optimal_share
from banditlab.policies.randomised import EpsilonGreedy
from banditlab.runner import make_streams, simulate


def final_share(cfg: dict, initial: float) -> tuple[float, float]:
    """Best-arm share in the first and in the last 100 rounds."""
    streams = make_streams(cfg["seed"])
    profile = cfg["profile"]
    env = GaussianBandit(
        shuffled(profile, cfg["n_runs"], streams["layout"]), cfg["sigma"], streams["noise"]
    )
    policy = EpsilonGreedy(
        cfg["n_runs"],
        len(profile),
        streams["policy"],
        sigma=cfg["sigma"],
        epsilon=0.0,
        optimism=initial,
        prior_weight=cfg["prior_weight"],
    )
    trace = simulate(policy, env, cfg["horizon"])
    return optimal_share(trace, 0, 100), optimal_share(trace, cfg["horizon"] - 100)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/optimistic_init.json")
    cfg = load_config(parser.parse_args().config)
    print("initial value | first 100 | last 100 rounds (best-arm share)")
    for initial in cfg["initial_values"]:
        early, late = final_share(cfg, initial)
        print(f"{initial:13.1f} | {early:9.2f} | {late:8.2f}")


if __name__ == "__main__":
    main()
