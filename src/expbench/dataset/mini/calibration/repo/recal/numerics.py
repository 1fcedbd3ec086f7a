"""Small numerical helpers shared by models and calibrators."""

from __future__ import annotations

import numpy as np

EPS = 1e-12


def sigmoid(z: np.ndarray) -> np.ndarray:
    """Logistic function without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * np.asarray(z, dtype=float)))


def logit(p: np.ndarray, eps: float = EPS) -> np.ndarray:
    """Inverse of :func:`sigmoid`, with ``p`` clipped to ``[eps, 1 - eps]``."""
    p = np.clip(np.asarray(p, dtype=float), eps, 1.0 - eps)
    return np.log(p) - np.log1p(-p)


def fit_logistic(
    x: np.ndarray,
    target: np.ndarray,
    l2: np.ndarray | float = 0.0,
    max_iter: int = 60,
    tol: float = 1e-9,
) -> np.ndarray:
    """Weights of a logistic model by Newton's method with step halving.

    ``target`` may be soft (in [0, 1]).  ``l2`` is a penalty ``0.5 * l2 * w**2`` on the summed
    (not averaged) loss, one number or one per column.  No intercept is added.
    """
    n_col = x.shape[1]
    penalty = np.broadcast_to(np.asarray(l2, dtype=float), (n_col,))
    w = np.zeros(n_col)

    def loss(v: np.ndarray) -> float:
        z = x @ v
        return float(np.sum(np.logaddexp(0.0, z) - target * z) + 0.5 * np.sum(penalty * v**2))

    current = loss(w)
    for _ in range(max_iter):
        p = sigmoid(x @ w)
        grad = x.T @ (p - target) + penalty * w
        hess = (x * (p * (1.0 - p))[:, None]).T @ x + np.diag(penalty + 1e-10)
        step = np.linalg.solve(hess, grad)
        scale = 1.0
        while loss(w - scale * step) > current and scale > 1e-6:
            scale *= 0.5
        w = w - scale * step
        previous, current = current, loss(w)
        if abs(previous - current) < tol * (1.0 + abs(current)):
            break
    return w
