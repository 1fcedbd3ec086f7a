"""Random linear structural equation models (SEMs).

Conventions used in the whole package: ``weights[i, j]`` is the coefficient of the edge
``i -> j`` and is zero when there is none; ``adj`` is the 0/1 version of ``weights``; data
matrices have one row per sample and one column per variable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NOISE_KINDS = ("gaussian", "uniform", "laplace")


@dataclass
class Instance:
    """A sampled SEM together with one data set drawn from it."""

    adj: np.ndarray
    weights: np.ndarray
    data: np.ndarray


def random_dag(rng: np.random.Generator, d: int, expected_degree: float) -> np.ndarray:
    """Erdos-Renyi DAG on ``d`` nodes with the given expected total degree per node."""
    order = rng.permutation(d)
    coin = rng.random((d, d)) < expected_degree / (d - 1)
    adj = np.zeros((d, d), dtype=int)
    for a in range(d):
        for b in range(a + 1, d):
            if coin[a, b]:
                adj[order[a], order[b]] = 1
    return adj


def random_weights(
    rng: np.random.Generator, adj: np.ndarray, low: float, high: float
) -> np.ndarray:
    """Edge coefficients with magnitudes uniform in [low, high] and random signs."""
    magnitude = rng.uniform(low, high, size=adj.shape)
    sign = np.where(rng.random(adj.shape) < 0.5, -1.0, 1.0)
    return adj * magnitude * sign


def draw_noise(rng: np.random.Generator, n: int, d: int, kind: str) -> np.ndarray:
    """Independent zero-mean, unit-variance noise of the named kind."""
    if kind == "gaussian":
        return rng.standard_normal((n, d))
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=(n, d))
    if kind == "laplace":
        return rng.laplace(0.0, 1.0 / np.sqrt(2.0), size=(n, d))
    raise ValueError(f"unknown noise kind {kind!r}; choose from {NOISE_KINDS}")


def topological_order(adj: np.ndarray) -> list[int]:
    """A causal order of the nodes (Kahn's algorithm, smallest index first)."""
    indegree = adj.sum(axis=0).astype(int)
    ready = [j for j in range(adj.shape[0]) if indegree[j] == 0]
    order: list[int] = []
    while ready:
        node = min(ready)
        ready.remove(node)
        order.append(node)
        for child in np.flatnonzero(adj[node]):
            indegree[child] -= 1
            if indegree[child] == 0:
                ready.append(int(child))
    if len(order) != adj.shape[0]:
        raise ValueError("the graph has a cycle")
    return order


def simulate(weights: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Propagate a noise matrix through the SEM."""
    data = noise.copy()
    for node in topological_order((weights != 0).astype(int)):
        parents = np.flatnonzero(weights[:, node])
        if parents.size:
            data[:, node] += data[:, parents] @ weights[parents, node]
    return data


def make_instance(
    rng: np.random.Generator,
    n: int,
    d: int,
    expected_degree: float,
    weight_low: float,
    weight_high: float,
    noise: str = "gaussian",
    noise_scale_low: float = 1.0,
    noise_scale_high: float = 1.0,
) -> Instance:
    """Draw a graph, coefficients, noise scales and a data set, in this order, from ``rng``.

    The noise standard deviations are uniform in [noise_scale_low, noise_scale_high].
    """
    adj = random_dag(rng, d, expected_degree)
    weights = random_weights(rng, adj, weight_low, weight_high)
    scales = rng.uniform(noise_scale_low, noise_scale_high, size=d)
    data = simulate(weights, draw_noise(rng, n, d, noise) * scales)
    return Instance(adj=adj, weights=weights, data=data)


def standardise(data: np.ndarray) -> np.ndarray:
    """Columns shifted to mean 0 and scaled to (population) standard deviation 1."""
    return (data - data.mean(axis=0)) / data.std(axis=0)
