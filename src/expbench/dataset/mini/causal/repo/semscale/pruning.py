"""From a causal order to a graph: regress on all predecessors, then drop weak edges."""

from __future__ import annotations

import numpy as np

RULES = ("tstat", "coef")


def regress_on_predecessors(data: np.ndarray, order: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """OLS (with intercept) of every variable on all variables before it in ``order``.

    Returns the coefficient matrix and the matrix of t statistics, indexed [cause, effect].
    """
    n, d = data.shape
    centred = data - data.mean(axis=0)
    coef = np.zeros((d, d))
    tstat = np.zeros((d, d))
    for position in range(1, d):
        target, before = order[position], order[:position]
        x, y = centred[:, before], centred[:, target]
        gram_inv = np.linalg.inv(x.T @ x)
        beta = gram_inv @ (x.T @ y)
        sigma2 = np.sum((y - x @ beta) ** 2) / (n - len(before) - 1)
        coef[before, target] = beta
        tstat[before, target] = beta / np.sqrt(sigma2 * np.diag(gram_inv))
    return coef, tstat


def prune_order(data: np.ndarray, order: list[int], rule: str, threshold: float) -> np.ndarray:
    """0/1 DAG compatible with ``order``.

    ``rule="tstat"`` keeps edges whose absolute t statistic is at least ``threshold``;
    ``rule="coef"`` keeps edges whose absolute regression coefficient is, in the units of the
    data as they are passed.
    """
    coef, tstat = regress_on_predecessors(data, order)
    if rule == "tstat":
        score = tstat
    elif rule == "coef":
        score = coef
    else:
        raise ValueError(f"unknown pruning rule {rule!r}; choose from {RULES}")
    return (np.abs(score) >= threshold).astype(int)
