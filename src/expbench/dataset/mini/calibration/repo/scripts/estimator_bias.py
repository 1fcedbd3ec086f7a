"""Study 2: bias and RMSE of calibration-error estimators when the true error is known."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recal.data import make_scores
from recal.io import format_table, load_config, save_json, study_parser
from recal.metrics import ece, ece_sweep, rms_ce, true_ce


def estimators(cfg: dict) -> dict:
    """Name -> (estimator of ``(p, y)``, norm of the true error that it targets)."""
    bins = cfg["bins"]
    table = {
        "width": (lambda p, y: ece(p, y, bins, "width"), 1),
        "mass": (lambda p, y: ece(p, y, bins, "mass"), 1),
        "sweep": (lambda p, y: ece_sweep(p, y, cfg["sweep_max_bins"]), 1),
        "debiased": (lambda p, y: rms_ce(p, y, bins, "mass", debias=True), 2),
    }
    return {name: table[name] for name in cfg["estimators"]}


def reference(cfg: dict, kind: dict) -> dict[int, float]:
    """True L1 and L2 calibration error of a classifier, from one large sample."""
    p, true, _ = make_scores(
        cfg["reference_size"], cfg["reference_seed"], spread=cfg["spread"], **kind
    )
    return {order: true_ce(p, true, order) for order in (1, 2)}


def errors(cfg: dict, kind: dict, size: int, truth: dict[int, float]) -> np.ndarray:
    """Estimate minus truth, shape ``(repeats, estimators)``."""
    out = []
    for r in range(cfg["repeats"]):
        p, _, y = make_scores(size, cfg["first_seed"] + r, spread=cfg["spread"], **kind)
        out.append([f(p, y) - truth[order] for f, order in estimators(cfg).values()])
    return np.array(out)


def main() -> None:
    args = study_parser(__doc__, str(ROOT / "configs" / "estimator_bias.json")).parse_args()
    cfg = load_config(args.config)
    if args.repeats:
        cfg["repeats"] = args.repeats

    names = cfg["estimators"]
    summary: dict = {}
    for label, kind in cfg["classifiers"].items():
        truth = reference(cfg, kind)
        print(f"\n{label}: true L1 error {truth[1]:.4f}, true L2 error {truth[2]:.4f}")
        bias_rows, rmse_rows = [], []
        for size in cfg["sizes"]:
            err = errors(cfg, kind, size, truth)
            bias = err.mean(axis=0)
            rmse = np.sqrt((err**2).mean(axis=0))
            least = names[int(np.abs(bias).argmin())], names[int(rmse.argmin())]
            bias_rows.append([size, *map(float, bias), least[0]])
            rmse_rows.append([size, *map(float, rmse), least[1]])
        print("mean bias (estimate - truth)")
        print(format_table(["n_test", *names, "least"], bias_rows))
        print("root-mean-square error")
        print(format_table(["n_test", *names, "least"], rmse_rows))
        summary[label] = {"truth": truth, "bias": bias_rows, "rmse": rmse_rows}
    save_json(args.out, summary)


if __name__ == "__main__":
    main()
