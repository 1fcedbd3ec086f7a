"""PC skeletons with different caps on the size of the conditioning set."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from semscale.metrics import skeleton_errors
from semscale.reporting import config_parser, format_table, load_config
from semscale.sem import make_instance
from semscale.skeleton import pc_skeleton


def run(cfg: dict) -> dict[int, dict[str, float]]:
    """Mean skeleton F1, extra and missing edges for every cap."""
    scores: dict[int, list[tuple]] = {cap: [] for cap in cfg["caps"]}
    for rep in range(cfg["reps"]):
        rng = np.random.default_rng([cfg["seed"], rep])
        inst = make_instance(
            rng, cfg["n"], cfg["d"], cfg["expected_degree"], cfg["weight_low"],
            cfg["weight_high"], cfg["noise"],
        )  # fmt: skip
        for cap in cfg["caps"]:
            s = skeleton_errors(inst.adj, pc_skeleton(inst.data, cfg["alpha"], cap))
            scores[cap].append((s["f1"], s["extra"], s["missing"]))
    out = {}
    for cap, rows in scores.items():
        f1, extra, missing = np.mean(np.array(rows), axis=0)
        out[cap] = {"f1": float(f1), "extra": float(extra), "missing": float(missing)}
    return out


def main() -> None:
    """Run the sweep and print the table of experiments/README.md."""
    args = config_parser(__doc__, "configs/cap_sweep.json").parse_args()
    cfg = load_config(args.config)
    if args.reps is not None:
        cfg["reps"] = args.reps
    result = run(cfg)
    rows = [[cap, s["f1"], s["extra"], s["missing"]] for cap, s in result.items()]
    print(format_table(["max_cond", "F1", "extra", "missing"], rows))
    if args.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
