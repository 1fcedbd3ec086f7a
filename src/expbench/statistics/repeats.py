"""Several attempts at the same task: how often one of k would do, and how often all of k.

Both are unbiased: with c right of n attempts, the share of the subsets of k attempts that have at least
one right (pass@k; Chen et al. 2021, arXiv 2107.03374), or only right ones (pass^k; Yao et al. 2024,
arXiv 2406.12045). Averaging c/n to the power k instead would be biased.
"""

from __future__ import annotations

from math import comb


def pass_at_k(attempts: int, right: int, k: int) -> float:
    """The chance that at least one of ``k`` attempts is right. Raises ValueError."""
    _check(attempts, right, k)
    return 1.0 - comb(attempts - right, k) / comb(attempts, k)


def pass_all_k(attempts: int, right: int, k: int) -> float:
    """The chance that all of ``k`` attempts are right (pass^k). Raises ValueError."""
    _check(attempts, right, k)
    return comb(right, k) / comb(attempts, k)


def _check(attempts: int, right: int, k: int) -> None:
    if not (1 <= k <= attempts and 0 <= right <= attempts):
        raise ValueError(f"{k} of {attempts} attempts, {right} right: there is no such choice")
