"""Causal direction from non-Gaussianity (a small DirectLiNGAM).

The dependence between a candidate cause and the residual of the other variable is judged by
the likelihood ratio of the two directions, with the maximum-entropy approximation of
differential entropy.
"""

from __future__ import annotations

import numpy as np

from semscale.sem import standardise

_K1 = 79.047
_K2 = 7.4129
_GAMMA = 0.37457


def entropy(u: np.ndarray) -> np.ndarray:
    """Approximate differential entropy along axis 0 of standardised variables."""
    gauss = 0.5 * (1.0 + np.log(2.0 * np.pi))
    log_cosh = np.mean(np.logaddexp(u, -u) - np.log(2.0), axis=0)
    skewed = np.mean(u * np.exp(-0.5 * u**2), axis=0)
    return gauss - _K1 * (log_cosh - _GAMMA) ** 2 - _K2 * skewed**2


def direction_matrix(data: np.ndarray) -> np.ndarray:
    """``m[i, j] > 0`` when the data favour ``i -> j`` over ``j -> i`` (antisymmetric)."""
    x = standardise(data)
    n, d = x.shape
    corr = (x.T @ x) / n
    h = entropy(x)
    # residual[:, i, j]: x_i after regression on x_j, rescaled to unit variance
    scale = np.sqrt(np.maximum(1.0 - corr**2, 1e-12))
    residual = (x[:, :, None] - x[:, None, :] * corr[None, :, :]) / scale[None, :, :]
    hr = entropy(residual.reshape(n, d * d)).reshape(d, d)
    m = (h[None, :] + hr) - (h[:, None] + hr.T)
    np.fill_diagonal(m, 0.0)
    return m


def lingam_order(data: np.ndarray) -> list[int]:
    """Causal order: repeatedly take the most exogenous variable and regress it out."""
    x = standardise(data)
    remaining = list(range(x.shape[1]))
    order: list[int] = []
    while len(remaining) > 1:
        m = direction_matrix(x[:, remaining])
        badness = np.sum(np.minimum(m, 0.0) ** 2, axis=1)
        root = remaining[int(np.argmin(badness))]
        order.append(root)
        remaining.remove(root)
        cause = x[:, root]
        for j in remaining:
            x[:, j] -= cause * (cause @ x[:, j]) / (cause @ cause)
    return order + remaining
