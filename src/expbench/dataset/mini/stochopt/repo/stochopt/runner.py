"""Training loops shared by the experiments."""

import numpy as np

from stochopt.sampling import epoch_indices
from stochopt.schedules import constant


def run_quadratic(
    problem, optimizer, lr, steps, batch_size, replicas, seed, schedule=constant, average=None
):
    """Run one optimiser on a noisy quadratic.

    The generator ``default_rng(seed)`` serves the gradient noise only, so runs with equal
    seeds and shapes see the same noise. Diverging replicas are left to overflow quietly.

    Returns:
        Array (steps + 1,): noise-free loss averaged over replicas, before each step and at the
        end (of the running average if ``average`` is given, then only from its first value on).
    """
    rng = np.random.default_rng(seed)
    w = problem.initial_point(replicas)
    optimizer.reset(w.shape)
    history = np.empty(steps + 1)
    history[0] = problem.loss(w).mean()
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(steps):
            grad = problem.gradient(w, batch_size, rng)
            w = optimizer.step(w, grad, lr * schedule(step, steps))
            point = w
            if average is not None:
                average.update(w)
                point = w if average.value is None else average.value
            history[step + 1] = problem.loss(point).mean()
    return history


def run_finite_sum(problem, optimizer, lr, epochs, order, replicas, seed, schedule=constant):
    """Run single-example updates on a finite sum, yielding the iterate after every epoch.

    The start is w = 0; ``default_rng(seed)`` drives the visiting order. The schedule is
    evaluated at every step.
    """
    rng = np.random.default_rng(seed)
    w = np.zeros((replicas, problem.dim))
    optimizer.reset(w.shape)
    total = epochs * problem.n
    step = 0
    for indices in epoch_indices(order, problem.n, epochs, replicas, rng):
        for index in indices:
            grad = problem.sample_gradient(w, index)
            w = optimizer.step(w, grad, lr * schedule(step, total))
            step += 1
        yield w.copy()
