"""How much calibration data does each recalibrator need?

One repetition trains a naive Bayes model, draws one calibration set per size and scores every
recalibrator on a fixed test set.  Means over repetitions are what the paper reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recal.calibrators import make_calibrator
from recal.data import GaussianTask
from recal.metrics import brier, ece, log_loss
from recal.models import GaussianNB

METRICS = ("brier", "log_loss", "ece")


@dataclass
class BudgetConfig:
    """Settings of the study; see ``configs/`` for the values used in the paper."""

    task: dict = field(default_factory=dict)
    methods: list[str] = field(default_factory=lambda: ["none", "temperature"])
    sizes: list[int] = field(default_factory=lambda: [100])
    n_train: int = 500
    n_test: int = 2000
    repeats: int = 10
    histogram_bins: int = 10
    ece_bins: int = 15
    clip: float = 1e-4
    seed_train: int = 1000
    seed_calib: int = 2000
    seed_test: int = 9


def build(name: str, cfg: BudgetConfig):
    """Recalibrator ``name`` with the study's settings."""
    return make_calibrator(name, **({"n_bins": cfg.histogram_bins} if name == "histogram" else {}))


def evaluate(p: np.ndarray, y: np.ndarray, cfg: BudgetConfig) -> tuple[float, float, float]:
    """Brier score, clipped log loss and equal-mass ECE of one set of predictions."""
    return brier(p, y), log_loss(p, y, cfg.clip), ece(p, y, cfg.ece_bins, "mass")


def run_study(cfg: BudgetConfig) -> dict[str, np.ndarray]:
    """Return for every metric an array of means, shape ``(sizes, methods)``."""
    task = GaussianTask(**cfg.task)
    x_test, y_test = task.sample(cfg.n_test, cfg.seed_test)
    scores = np.zeros((cfg.repeats, len(cfg.sizes), len(cfg.methods), len(METRICS)))
    for r in range(cfg.repeats):
        model = GaussianNB().fit(*task.sample(cfg.n_train, cfg.seed_train + r))
        test_score = model.decision(x_test)
        for i, size in enumerate(cfg.sizes):
            x_cal, y_cal = task.sample(size, cfg.seed_calib + r)
            cal_score = model.decision(x_cal)
            for j, name in enumerate(cfg.methods):
                p = build(name, cfg).fit(cal_score, y_cal).predict(test_score)
                scores[r, i, j] = evaluate(p, y_test, cfg)
    mean = scores.mean(axis=0)
    return {metric: mean[..., k] for k, metric in enumerate(METRICS)}


def winners(table: np.ndarray, methods: list[str]) -> list[str]:
    """Best (lowest) method for every size."""
    return [methods[j] for j in table.argmin(axis=1)]


def first_size_below(
    table: np.ndarray, sizes: list[int], methods: list[str], name: str, rival: str
) -> int | None:
    """Smallest size from which ``name`` stays better than ``rival``."""
    better = table[:, methods.index(name)] < table[:, methods.index(rival)]
    for i, size in enumerate(sizes):
        if better[i:].all():
            return size
    return None
