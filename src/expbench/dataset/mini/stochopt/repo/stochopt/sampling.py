"""Orders in which a finite sum is visited.

``epoch_indices`` yields one integer array of shape (n, replicas) for each epoch; row t holds
the summand that each replica visits at step t of that epoch.
"""

import numpy as np

ORDERS = ("replacement", "reshuffle", "shuffle_once", "cyclic")


def _permutations(n, replicas, rng):
    """One independent uniform permutation per column."""
    return np.argsort(rng.random((n, replicas)), axis=0)


def epoch_indices(order, n, epochs, replicas, rng):
    """Generate the visiting order of ``epochs`` passes over ``n`` summands.

    Args:
        order: "replacement" (i.i.d. uniform), "reshuffle" (a new permutation every epoch),
            "shuffle_once" (one permutation, kept for the whole run) or "cyclic" (0..n-1).
        n, epochs, replicas: sizes.
        rng: numpy Generator.
    """
    if order not in ORDERS:
        raise ValueError(f"unknown order {order!r}; known: {ORDERS}")
    fixed = None
    if order == "shuffle_once":
        fixed = _permutations(n, replicas, rng)
    elif order == "cyclic":
        fixed = np.tile(np.arange(n)[:, None], (1, replicas))
    for _ in range(epochs):
        if order == "replacement":
            yield rng.integers(0, n, size=(n, replicas))
        elif order == "reshuffle":
            yield _permutations(n, replicas, rng)
        else:
            yield fixed
