"""Gap sweep: final regret of five stationary policies as a function of the gap.

Usage: PYTHONPATH=. python scripts/run_gap_sweep.py [--config configs/gap_sweep.json]
"""

from __future__ import annotations

import argparse

from banditlab import GaussianBandit, make_policy, make_streams, simulate
from banditlab.environments import single_best
from banditlab.io import load_config, override, save, table
from banditlab.metrics import cumulative_regret, mean_and_error, optimal_share


def run_cell(cfg: dict, name: str, options: dict, gap: float) -> dict:
    """Simulate one policy at one gap."""
    streams = make_streams(cfg["seed"])
    means = single_best(cfg["n_runs"], cfg["n_arms"], gap, streams["layout"])
    env = GaussianBandit(means, cfg["sigma"], streams["noise"])
    policy = make_policy(
        name, cfg["n_runs"], cfg["n_arms"], streams["policy"], sigma=cfg["sigma"], **options
    )
    trace = simulate(policy, env, cfg["horizon"])
    mean, error = mean_and_error(cumulative_regret(trace))
    return {"regret": mean, "stderr": error, "optimal_share": optimal_share(trace)}


def sweep(cfg: dict) -> dict:
    """All policies at all gaps: {label: {gap: cell}}."""
    results = {}
    for label, (name, options) in cfg["policies"].items():
        results[label] = {str(gap): run_cell(cfg, name, options, gap) for gap in cfg["gaps"]}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="configs/gap_sweep.json")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", help="write the results to this JSON file")
    args = parser.parse_args()

    cfg = override(load_config(args.config), args.set)
    results = sweep(cfg)

    gaps = [str(gap) for gap in cfg["gaps"]]
    print(f"mean cumulative regret after {cfg['horizon']} rounds, {cfg['n_runs']} runs")
    print(table(["gap"] + gaps, [[p] + [c[g]["regret"] for g in gaps] for p, c in results.items()]))
    print("standard errors")
    print(table(["gap"] + gaps, [[p] + [c[g]["stderr"] for g in gaps] for p, c in results.items()]))
    for gap in gaps:
        order = sorted(results, key=lambda label: results[label][gap]["regret"])
        print(f"gap {gap}: " + " < ".join(order))
    for label, cells in results.items():
        hardest = max(gaps, key=lambda g: cells[g]["regret"])
        print(f"{label}: largest regret at gap {hardest}")
    if args.out:
        save(args.out, results)


if __name__ == "__main__":
    main()
