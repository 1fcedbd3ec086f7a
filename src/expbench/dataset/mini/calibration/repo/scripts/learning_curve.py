"""Warm-up study: uncalibrated naive Bayes and logistic regression against training size."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recal.data import GaussianTask
from recal.io import format_table, load_config, save_json, study_parser
from recal.metrics import brier
from recal.models import BASE_MODELS
from recal.numerics import sigmoid


def excess_brier(cfg: dict, model: str, n_train: int) -> tuple[float, float]:
    """Mean Brier score and its excess over that of the exact posterior."""
    task = GaussianTask(**cfg["task"])
    x_test, y_test = task.sample(cfg["n_test"], cfg["seed_test"])
    optimum = brier(sigmoid(task.log_odds(x_test)), y_test)
    values = []
    for r in range(cfg["repeats"]):
        fitted = BASE_MODELS[model]().fit(*task.sample(n_train, cfg["seed_train"] + r))
        values.append(brier(sigmoid(fitted.decision(x_test)), y_test))
    mean = float(np.mean(values))
    return mean, mean - optimum


def main() -> None:
    args = study_parser(__doc__, str(ROOT / "configs" / "learning_curve.json")).parse_args()
    cfg = load_config(args.config)
    if args.repeats:
        cfg["repeats"] = args.repeats
    rows = [
        [model, n, *excess_brier(cfg, model, n)]
        for model in cfg["models"]
        for n in cfg["train_sizes"]
    ]
    print(format_table(["model", "n_train", "brier", "excess"], rows))
    save_json(args.out, rows)


if __name__ == "__main__":
    main()
