"""SVRG and SAGA for finite sums, vectorised over replicas.

Both count cost in passes: n evaluations of the gradient of a single summand.
"""

import numpy as np


def svrg_passes(outer, inner_steps, n):
    """Cost of ``outer`` rounds: one full gradient and two evaluations per inner step."""
    return outer * (1.0 + 2.0 * inner_steps / n)


def svrg(problem, lr, outer, inner_steps, replicas, seed):
    """SVRG from w = 0; the snapshot is the last inner iterate of the round before.

    Args:
        problem: finite sum with ``sample_gradient`` and ``full_gradient``.
        lr: constant step size.
        outer: number of snapshots.
        inner_steps: single-example updates after each snapshot.
        replicas, seed: every inner loop draws its indices i.i.d. uniformly, all at once.
    """
    rng = np.random.default_rng(seed)
    w = np.zeros((replicas, problem.dim))
    for _ in range(outer):
        snapshot = w.copy()
        anchor = problem.full_gradient(snapshot)
        for index in rng.integers(0, problem.n, size=(inner_steps, replicas)):
            fresh = problem.sample_gradient(w, index)
            stale = problem.sample_gradient(snapshot, index)
            w = w - lr * (fresh - stale + anchor)
    return w


def saga(problem, lr, passes, replicas, seed):
    """SAGA from w = 0 with a table of all gradients at w = 0 (this costs the first pass)."""
    rng = np.random.default_rng(seed)
    w = np.zeros((replicas, problem.dim))
    everyone = np.arange(replicas)
    columns = [problem.sample_gradient(w, np.full(replicas, i)) for i in range(problem.n)]
    table = np.stack(columns, axis=1)
    mean = table.mean(axis=1)
    updates = (passes - 1) * problem.n
    for index in rng.integers(0, problem.n, size=(updates, replicas)):
        fresh = problem.sample_gradient(w, index)
        stale = table[everyone, index]
        w = w - lr * (fresh - stale + mean)
        mean = mean + (fresh - stale) / problem.n
        table[everyone, index] = fresh
    return w
