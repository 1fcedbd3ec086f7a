"""Grid search for the learning rate."""

import numpy as np


def power_of_two_grid(low, high):
    """2**low, 2**(low + 1), ..., 2**high."""
    return [2.0**k for k in range(low, high + 1)]


def tune_learning_rate(evaluate, grid):
    """Evaluate every rate and keep the best.

    Args:
        evaluate: function lr -> final loss (may return nan or inf after divergence).
        grid: learning rates to try.

    Returns:
        (best_lr, best_loss, losses); diverged runs count as infinite.
    """
    losses = np.array([evaluate(lr) for lr in grid], dtype=float)
    losses[~np.isfinite(losses)] = np.inf
    best = int(np.argmin(losses))
    if not np.isfinite(losses[best]):
        raise RuntimeError("every learning rate diverged")
    return grid[best], float(losses[best]), losses


def at_edge(best_lr, grid):
    """True if the winner sits on the border of the grid (the grid is then too short)."""
    return best_lr in (grid[0], grid[-1])
