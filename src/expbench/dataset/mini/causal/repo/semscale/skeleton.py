"""Undirected skeletons from conditional-independence tests (PC, order-independent variant)."""

from __future__ import annotations

from itertools import combinations
from statistics import NormalDist

import numpy as np


def partial_correlation(corr: np.ndarray, i: int, j: int, cond: tuple[int, ...] = ()) -> float:
    """Partial correlation of variables ``i`` and ``j`` given ``cond``."""
    if not cond:
        return float(corr[i, j])
    idx = np.array((i, j, *cond))
    precision = np.linalg.inv(corr[idx[:, None], idx])
    return float(-precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]))


def fisher_z_pvalue(r: float, n: int, n_cond: int) -> float:
    """Two-sided p-value of Fisher's z test for a (partial) correlation ``r``."""
    r = min(max(r, -0.9999999), 0.9999999)
    z = np.sqrt(max(n - n_cond - 3, 1)) * abs(np.arctanh(r))
    return 2.0 * NormalDist().cdf(-float(z))


def pc_skeleton(data: np.ndarray, alpha: float, max_cond: int = 2) -> np.ndarray:
    """Symmetric 0/1 skeleton by level-wise edge removal.

    At level ``k`` every remaining edge is tested given all size-``k`` subsets of the
    neighbours of either end point, as they were at the start of the level ("stable" PC). An
    edge is removed when one p-value exceeds ``alpha``.
    """
    n, d = data.shape
    corr = np.corrcoef(data, rowvar=False)
    skeleton = np.ones((d, d), dtype=int) - np.eye(d, dtype=int)
    for level in range(max_cond + 1):
        neighbours = [tuple(int(v) for v in np.flatnonzero(skeleton[i])) for i in range(d)]
        for i, j in combinations(range(d), 2):
            if not skeleton[i, j]:
                continue
            seen = set()
            for a, b in ((i, j), (j, i)):
                pool = [v for v in neighbours[a] if v != b]
                seen.update(combinations(pool, level))
            for cond in sorted(seen):
                p = fisher_z_pvalue(partial_correlation(corr, i, j, cond), n, level)
                if p > alpha:
                    skeleton[i, j] = skeleton[j, i] = 0
                    break
    return skeleton
