"""Scores of estimated graphs and of effect estimates."""

from __future__ import annotations

import numpy as np


def precision_recall_f1(true: np.ndarray, est: np.ndarray) -> tuple[float, float, float]:
    """Precision, recall and F1 of the directed edges of a 0/1 adjacency matrix.

    An empty estimate (or an empty truth) scores 0, except that two empty graphs score 1.
    """
    hits = float(np.sum((true == 1) & (est == 1)))
    n_true, n_est = float(true.sum()), float(est.sum())
    if n_true == 0 and n_est == 0:
        return 1.0, 1.0, 1.0
    precision = hits / n_est if n_est else 0.0
    recall = hits / n_true if n_true else 0.0
    total = n_true + n_est
    return precision, recall, 2.0 * hits / total


def shd(true: np.ndarray, est: np.ndarray) -> int:
    """Structural Hamming distance; a reversed edge counts once."""
    diff = np.abs(true - est)
    diff = diff + diff.T
    diff[diff > 1] = 1
    return int(np.sum(np.triu(diff, 1)))


def skeleton_errors(true_adj: np.ndarray, est_skeleton: np.ndarray) -> dict[str, float]:
    """F1 of an undirected skeleton and the counts of extra and missing edges."""
    true = np.triu(((true_adj + true_adj.T) > 0).astype(int), 1)
    est = np.triu(est_skeleton, 1)
    return {
        "f1": precision_recall_f1(true, est)[2],
        "extra": float(np.sum((est == 1) & (true == 0))),
        "missing": float(np.sum((est == 0) & (true == 1))),
    }


def order_divergence(true_adj: np.ndarray, order: list[int]) -> int:
    """Number of true edges that point backwards in ``order``."""
    position = np.empty(len(order), dtype=int)
    position[np.asarray(order)] = np.arange(len(order))
    causes, effects = np.nonzero(true_adj)
    return int(np.sum(position[causes] > position[effects]))


def bias_and_rmse(estimates: np.ndarray, truth: float) -> tuple[float, float]:
    """Mean error and root mean squared error over repetitions."""
    error = np.asarray(estimates, dtype=float) - truth
    return float(error.mean()), float(np.sqrt(np.mean(error**2)))
