"""Tests of the SEM simulator and of the discovery building blocks."""

import numpy as np

from semscale.lingam import direction_matrix, lingam_order
from semscale.metrics import order_divergence, precision_recall_f1, shd, skeleton_errors
from semscale.pruning import prune_order, regress_on_predecessors
from semscale.sem import make_instance, random_dag, standardise, topological_order
from semscale.skeleton import fisher_z_pvalue, partial_correlation, pc_skeleton


def chain(n, noise_seed=0):
    """x0 -> x1 -> x2 with uniform noise."""
    e = np.random.default_rng(noise_seed).uniform(-1, 1, size=(n, 3))
    x = e.copy()
    x[:, 1] += 2.0 * x[:, 0]
    x[:, 2] += 2.0 * x[:, 1]
    return x


def test_random_dag_is_acyclic():
    for seed in range(5):
        adj = random_dag(np.random.default_rng(seed), 9, 4.0)
        order = topological_order(adj)
        assert order_divergence(adj, order) == 0


def test_samples_are_nested():
    args = (6, 2.0, 0.5, 1.5)
    small = make_instance(np.random.default_rng(1), 20, *args)
    large = make_instance(np.random.default_rng(1), 50, *args)
    assert np.allclose(small.data, large.data[:20])


def test_partial_correlation_of_a_chain_vanishes():
    corr = np.corrcoef(chain(20000), rowvar=False)
    assert abs(partial_correlation(corr, 0, 2)) > 0.5
    assert abs(partial_correlation(corr, 0, 2, (1,))) < 0.03


def test_fisher_z():
    assert abs(fisher_z_pvalue(0.0, 100, 0) - 1.0) < 1e-12
    assert fisher_z_pvalue(0.5, 100, 1) < 1e-6


def test_pc_skeleton_of_a_chain():
    skeleton = pc_skeleton(chain(2000), alpha=0.001)
    assert skeleton.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_lingam_on_a_chain():
    x = chain(3000)[:, [2, 0, 1]]
    assert lingam_order(x) == [1, 2, 0]
    m = direction_matrix(x)
    assert np.allclose(m, -m.T)


def test_pruning_and_t_statistics():
    x = chain(3000)
    expected = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert prune_order(x, [0, 1, 2], "coef", 0.5).tolist() == expected
    t_raw = regress_on_predecessors(x, [0, 1, 2])[1]
    t_std = regress_on_predecessors(standardise(x), [0, 1, 2])[1]
    assert np.allclose(t_raw, t_std)


def test_graph_metrics():
    true = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    est = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]])
    assert shd(true, est) == 1
    assert precision_recall_f1(true, est) == (0.5, 0.5, 0.5)
    assert skeleton_errors(true, est + est.T)["f1"] == 1.0
