"""Metrics of predictions."""

import numpy as np


def accuracy(y, predicted):
    return float((y == predicted).mean())


def confusion(y, predicted):
    """Counts (true negatives, false positives, false negatives, true positives)."""
    return tuple(int(((y == a) & (predicted == b)).sum()) for a in (0, 1) for b in (0, 1))


def f1(y, predicted):
    _, fp, fn, tp = confusion(y, predicted)
    return 2 * tp / (2 * tp + fp + fn)


def log_loss(y, p, eps=1e-3):
    p = np.clip(p, eps, 1 - eps)
    return float(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean())
