"""Effect estimators under misspecified nuisances, for several degrees of overlap."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from semscale.estimators import ESTIMATORS, clip_propensity
from semscale.metrics import bias_and_rmse
from semscale.reporting import config_parser, format_table, load_config
from semscale.treatment import (
    TRUE_ATE,
    fit_logistic,
    fit_outcome,
    make_treatment_data,
)


def run(cfg: dict) -> dict[tuple, dict[str, float]]:
    """Bias and RMSE for every (gamma, cell, floor, estimator)."""
    estimates: dict[tuple, list[float]] = {}
    for g_index, gamma in enumerate(cfg["gammas"]):
        for rep in range(cfg["reps"]):
            rng = np.random.default_rng([cfg["seed"], g_index, rep])
            sample = make_treatment_data(rng, cfg["n"], gamma)
            views = {"z": sample.z, "w": sample.w}
            propensity = {k: fit_logistic(x, sample.t) for k, x in views.items()}
            outcome = {k: fit_outcome(x, sample.t, sample.y) for k, x in views.items()}
            for cell, choice in cfg["cells"].items():
                m0, m1 = outcome[choice["outcome"]]
                for floor in cfg["floors"]:
                    e = clip_propensity(propensity[choice["propensity"]], floor)
                    for name in cfg["estimators"]:
                        value = ESTIMATORS[name](sample.t, sample.y, e, m0, m1)
                        estimates.setdefault((gamma, cell, floor, name), []).append(value)
    out = {}
    for key, values in estimates.items():
        bias, rmse = bias_and_rmse(np.array(values), TRUE_ATE)
        out[key] = {"bias": bias, "rmse": rmse}
    return out


def main() -> None:
    """Run the grid and print one table per propensity floor."""
    args = config_parser(__doc__, "configs/misspecification.json").parse_args()
    cfg = load_config(args.config)
    if args.reps is not None:
        cfg["reps"] = args.reps
    result = run(cfg)
    for floor in cfg["floors"]:
        print(f"propensity floor {floor}")
        rows = []
        for (gamma, cell, key_floor, name), s in result.items():
            if key_floor == floor:
                rows.append([gamma, cell, name, s["bias"], s["rmse"]])
        print(format_table(["gamma", "cell", "estimator", "bias", "RMSE"], rows), end="\n\n")
    if args.json:
        flat = {"/".join(map(str, key)): value for key, value in result.items()}
        print(json.dumps(flat))


if __name__ == "__main__":
    main()
