"""Window study: how long should a sliding-window UCB remember on a changing bandit?

Usage: PYTHONPATH=. python scripts/run_window_study.py [--config configs/window_study.json]
"""

from __future__ import annotations

import argparse

import numpy as np

from banditlab.environments import SwitchingBandit
from banditlab.io import load_config, save, table
from banditlab.metrics import mean_and_error
from banditlab.policies.ucb import UCB1
from banditlab.policies.window import SlidingWindowUCB
from banditlab.runner import make_streams, simulate


def learners(settings: dict) -> dict:
    """Constructors by label: one per window length, and plain UCB1 without forgetting."""
    built = {}
    for window in settings["windows"]:
        built[f"window-{window}"] = (
            SlidingWindowUCB, {"window": window, "scale": settings["scale"]}
        )
    built["no-window"] = (UCB1, {"scale": settings["scale"]})
    return built


def evaluate(cls, options: dict, n_changes: int, world: dict, replication: dict) -> tuple:
    """Mean cumulative regret, standard error and best-arm share of one learner."""
    runs, n_arms, sigma = replication["runs"], len(world["profile"]), world["sigma"]
    streams = make_streams(replication["seed"])
    bandit = SwitchingBandit(
        world["profile"], runs, world["horizon"], n_changes, sigma,
        streams["noise"], streams["layout"],
    )
    learner = cls(runs, n_arms, streams["policy"], sigma=sigma, **options)
    trace = simulate(learner, bandit, world["horizon"])
    mean, error = mean_and_error(trace.regret.sum(axis=0))
    return mean, error, float(np.mean(trace.optimal))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="configs/window_study.json")
    parser.add_argument("--runs", type=int, help="override the number of runs")
    parser.add_argument("--out", help="write the results to this JSON file")
    args = parser.parse_args()

    config = load_config(args.config)
    world, replication = config["environment"], config["replication"]
    if args.runs:
        replication["runs"] = args.runs
    zoo = learners(config["learner"])

    results: dict = {}
    for n_changes in world["changes"]:
        segment = world["horizon"] // (n_changes + 1)
        rows = []
        for label, (cls, options) in zoo.items():
            mean, error, share = evaluate(cls, options, n_changes, world, replication)
            rows.append([label, mean, error, f"{share:.3f}"])
            results.setdefault(label, {})[str(n_changes)] = {
                "regret": mean, "stderr": error, "optimal_share": share
            }
        print(f"\n{n_changes} changes (segments of {segment} rounds)")
        print(table(["learner", "regret", "stderr", "best-arm"], rows))
        best = min(rows, key=lambda row: row[1])
        baseline = results["no-window"][str(n_changes)]["regret"]
        worse = [row[0] for row in rows if row[1] > baseline]
        print(f"lowest regret: {best[0]}; worse than no-window: {', '.join(worse) or 'none'}")
    if args.out:
        save(args.out, results)


if __name__ == "__main__":
    main()
