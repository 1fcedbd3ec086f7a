"""sMAPE of combinations of four forecasters on series without a break.

Usage: PYTHONPATH=. python scripts/run_combination.py --config configs/combination.json
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from shiftcast import create, make_panel, rolling_origin
from shiftcast.combine import equal_mean, inverse_error_weights, median, weighted
from shiftcast.experiment import format_table, load_config, origin_range, series_spec
from shiftcast.metrics import smape


def run(config: dict) -> dict[str, float]:
    """Mean sMAPE over the series for every member and combination."""
    panel = make_panel(config["kind"], config["n_series"], series_spec(config), config["seed"])
    horizon = config["horizon"]
    collected: dict[str, list[float]] = {}
    for series in panel:
        past, forecasts, actual = [], {}, None
        for name in config["members"]:
            factory = partial(create, name)
            warm = rolling_origin(
                series, factory, origin_range(config["weight_origins"]), horizon
            )
            test = rolling_origin(series, factory, origin_range(config["test_origins"]), horizon)
            past.append(warm.errors)
            forecasts[name], actual = test.forecasts, test.actuals
        stack = np.stack(list(forecasts.values()))
        weights = inverse_error_weights(np.stack(past), power=config["power"])
        forecasts["mean"] = equal_mean(stack)
        forecasts["median"] = median(stack)
        forecasts["inverse-error"] = weighted(stack, weights)
        for name, values in forecasts.items():
            collected.setdefault(name, []).append(smape(actual, values))
    return {name: float(np.mean(values)) for name, values in collected.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="configs/combination.json")
    parser.add_argument("--power", type=float, help="exponent of the inverse-error weights")
    args = parser.parse_args()
    results = run(load_config(args.config, power=args.power))
    print(format_table(["forecast", "sMAPE"], [[k, v] for k, v in results.items()], digits=2))


if __name__ == "__main__":
    main()
