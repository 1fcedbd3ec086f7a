"""Accuracy by lead time of four forecasters after a structural break.

Usage: PYTHONPATH=. python scripts/run_horizon.py --config configs/horizon.json
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import shiftcast.models.ridge  # noqa: F401  (registers "ridge")
from shiftcast import create, make_panel, rolling_origin
from shiftcast.experiment import (
    format_table,
    load_config,
    origin_range,
    save_results,
    series_spec,
)


def lead_profile(
    panel: np.ndarray, name: str, params: dict[str, Any], config: dict[str, Any]
) -> np.ndarray:
    """MASE at every lead time, averaged over origins and series."""
    per_series = []
    for series in panel:
        test = rolling_origin(
            series,
            lambda: create(name, **params),
            origin_range(config["origins"]),
            config["horizon"],
            period=config["series"]["period"],
        )
        per_series.append(test.scaled_errors().mean(axis=0))
    return np.mean(per_series, axis=0)


def run(config: dict[str, Any]) -> dict[str, dict[str, list[float]]]:
    """MASE profiles of all models on all kinds of break."""
    spec = series_spec(config)
    results: dict[str, dict[str, list[float]]] = {}
    for kind in config["kinds"]:
        panel = make_panel(kind, config["n_series"], spec, config["seed"])
        results[kind] = {
            name: lead_profile(panel, name, params, config).tolist()
            for name, params in config["models"].items()
        }
    return results


def report(results: dict[str, dict[str, list[float]]], leads: list[int]) -> None:
    """Print MASE at the reported lead times, the order there and the mean."""
    for kind, profiles in results.items():
        print(f"\nMASE after a {kind} break")
        rows = [
            [name, *[profile[h - 1] for h in leads], float(np.mean(profile))]
            for name, profile in profiles.items()
        ]
        print(format_table(["model", *[f"h={h}" for h in leads], "mean"], rows))
        for h in leads:
            order = sorted(profiles, key=lambda name: profiles[name][h - 1])
            print(f"  order at h={h}: {' < '.join(order)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="configs/horizon.json")
    parser.add_argument("--n-series", type=int, dest="n_series")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--output", help="optional JSON file for the full profiles")
    args = parser.parse_args()
    config = load_config(args.config, n_series=args.n_series, seed=args.seed)
    results = run(config)
    report(results, config["report_leads"])
    if args.output:
        save_results(args.output, results)


if __name__ == "__main__":
    main()
