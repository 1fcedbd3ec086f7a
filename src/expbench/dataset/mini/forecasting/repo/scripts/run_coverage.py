"""Coverage, width and Winkler score of 90 % intervals around an AR after a level jump.

Usage: PYTHONPATH=. python scripts/run_coverage.py --config configs/coverage.json
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from shiftcast import Backtest, create, make_panel, rolling_origin
from shiftcast.experiment import (
    format_table,
    load_config,
    origin_range,
    save_results,
    series_spec,
)
from shiftcast.intervals import ALPHA, METHODS, half_widths
from shiftcast.metrics import coverage, winkler

MEASURES = ("coverage", "width", "winkler")


def backtests(config: dict[str, Any]) -> list[Backtest]:
    """One backtest per series with an origin at every time step."""
    panel = make_panel(
        config["kind"], config["n_series"], series_spec(config), config["seed"]
    )
    model = config["model"]
    return [
        rolling_origin(
            series,
            lambda: create(model["name"], **model["params"]),
            origin_range(config["origins"]),
            config["horizon"],
        )
        for series in panel
    ]


def score(test: Backtest, method: str, rows: range, leads: tuple[int, ...]) -> np.ndarray:
    """Mean coverage, scaled width and scaled Winkler score, shape (3, leads)."""
    half = half_widths(METHODS[method], test.errors, rows, leads)
    picked, columns = list(rows), [lead - 1 for lead in leads]
    centre = test.forecasts[picked][:, columns]
    actual = test.actuals[picked][:, columns]
    scale = test.scales[picked][:, None]
    lower, upper = centre - half, centre + half
    return np.stack(
        [
            coverage(actual, lower, upper).mean(axis=0),
            (2.0 * half / scale).mean(axis=0),
            (winkler(actual, lower, upper, ALPHA) / scale).mean(axis=0),
        ]
    )


def run(config: dict[str, Any]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Scores by phase, method and measure; each a list over the lead times."""
    tests = backtests(config)
    leads = tuple(config["leads"])
    first = config["origins"]["first"]
    results: dict[str, dict[str, dict[str, list[float]]]] = {}
    for phase, bounds in config["phases"].items():
        rows = range(bounds["first"] - first, bounds["last"] - first + 1)
        results[phase] = {}
        for method in config["methods"]:
            mean = np.mean([score(test, method, rows, leads) for test in tests], axis=0)
            results[phase][method] = dict(zip(MEASURES, mean.tolist()))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="configs/coverage.json")
    parser.add_argument("--kind", help="another kind of break")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--output", help="optional JSON file for all scores")
    args = parser.parse_args()
    config = load_config(args.config, kind=args.kind, seed=args.seed)
    results = run(config)
    for phase, by_method in results.items():
        for measure in MEASURES:
            print(f"\n{measure}, {phase} phase")
            rows = [[method, *values[measure]] for method, values in by_method.items()]
            print(format_table(["method", *[f"h={h}" for h in config["leads"]]], rows))
    if args.output:
        save_results(args.output, results)


if __name__ == "__main__":
    main()
