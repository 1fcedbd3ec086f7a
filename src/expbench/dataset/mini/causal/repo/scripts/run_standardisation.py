"""Order-based discovery on raw and on standardised data, with two pruning rules."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from semscale.lingam import lingam_order
from semscale.metrics import order_divergence, precision_recall_f1, shd
from semscale.ordering import r2_order, random_order, variance_order
from semscale.pruning import prune_order
from semscale.reporting import config_parser, format_table, load_config
from semscale.sem import make_instance, standardise


def find_order(name: str, data: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Causal order of the columns of ``data`` by the named method."""
    if name == "variance":
        return variance_order(data)
    if name == "r2":
        return r2_order(data)
    if name == "lingam":
        return lingam_order(data)
    if name == "random":
        return random_order(rng, data.shape[1])
    raise ValueError(f"unknown order {name!r}")


def run(cfg: dict) -> dict[tuple, dict[str, float]]:
    """Mean F1, SHD and backward edges for every (n, scale, order, pruning rule)."""
    scores: dict[tuple, list[tuple]] = {}
    for n in cfg["sample_sizes"]:
        for rep in range(cfg["reps"]):
            rng = np.random.default_rng([cfg["seed"], rep])
            inst = make_instance(
                rng, n, cfg["d"], cfg["expected_degree"], cfg["weight_low"], cfg["weight_high"],
                cfg["noise"], cfg["noise_scale_low"], cfg["noise_scale_high"],
            )  # fmt: skip
            for scale in cfg["scales"]:
                data = standardise(inst.data) if scale == "standardised" else inst.data
                for name in cfg["orders"]:
                    order_rng = np.random.default_rng([cfg["seed"], rep, 1])
                    order = find_order(name, data, order_rng)
                    backward = order_divergence(inst.adj, order)
                    for rule, threshold in cfg["pruning"].items():
                        est = prune_order(data, order, rule, threshold)
                        f1 = precision_recall_f1(inst.adj, est)[2]
                        row = (f1, shd(inst.adj, est), backward)
                        scores.setdefault((n, scale, name, rule), []).append(row)
    out = {}
    for key, rows in scores.items():
        f1, dist, backward = np.mean(np.array(rows, dtype=float), axis=0)
        out[key] = {"f1": float(f1), "shd": float(dist), "backward": float(backward)}
    return out


def main() -> None:
    """Run the grid and print one table per pruning rule."""
    args = config_parser(__doc__, "configs/standardisation.json").parse_args()
    cfg = load_config(args.config)
    if args.reps is not None:
        cfg["reps"] = args.reps
    result = run(cfg)
    for rule, threshold in cfg["pruning"].items():
        print(f"pruning rule {rule} (threshold {threshold})")
        rows = []
        for (n, scale, name, key_rule), s in result.items():
            if key_rule == rule:
                rows.append([n, scale, name, s["f1"], s["shd"], s["backward"]])
        print(format_table(["n", "scale", "order", "F1", "SHD", "backward"], rows), end="\n\n")
    if args.json:
        flat = {"/".join(map(str, key)): value for key, value in result.items()}
        print(json.dumps(flat))


if __name__ == "__main__":
    main()
