"""The two data sets and their splits."""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "data"


def load(name):
    """Points of shape (n, 2) and labels of shape (n,)."""
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    x = np.array([[float(r["x1"]), float(r["x2"])] for r in rows])
    return x, np.array([int(r["label"]) for r in rows])


def split(x, y, seed, share=0.3):
    """A random split into training and test points."""
    order = np.random.default_rng(seed).permutation(len(x))
    n_test = int(round(share * len(x)))
    test, train = order[:n_test], order[n_test:]
    return x[train], y[train], x[test], y[test]
