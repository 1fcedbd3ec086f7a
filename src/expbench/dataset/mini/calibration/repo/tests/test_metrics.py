"""Run with ``python -m unittest discover tests`` from the root."""

import unittest

import numpy as np

from recal.data import GaussianTask
from recal.metrics import brier, ece, ece_sweep, log_loss, rms_ce, true_ce
from recal.models import SubspaceEnsemble
from recal.numerics import sigmoid


class TestMetrics(unittest.TestCase):
    def test_constant_prediction(self):
        p = np.full(8, 0.25)
        y = np.array([1, 1, 0, 0, 0, 0, 0, 0])
        for scheme in ("width", "mass"):
            self.assertAlmostEqual(ece(p, y, 1, scheme), 0.0)
        self.assertAlmostEqual(brier(p, y), 0.1875)
        self.assertEqual(ece_sweep(p, np.zeros(8, int), 1), 0.25)

    def test_log_loss_is_clipped(self):
        loss = log_loss(np.array([0.0, 1.0]), np.array([1, 0]), eps=0.01)
        self.assertAlmostEqual(loss, -np.log(0.01))

    def test_debiasing_lowers_the_estimate(self):
        rng = np.random.default_rng(2)
        p = rng.random(300)
        y = (rng.random(300) < p).astype(int)
        self.assertLess(rms_ce(p, y, debias=True), rms_ce(p, y))

    def test_true_ce(self):
        self.assertAlmostEqual(true_ce(np.array([0.1, 0.5]), np.array([0.4, 0.1]), 2), 0.125**0.5)


class TestModels(unittest.TestCase):
    def test_exact_posterior_matches_frequencies(self):
        task = GaussianTask(dim=4, rho=0.4, scales=(1.0, 2.0), prior=0.4)
        x, y = task.sample(40000, seed=1)
        self.assertLess(ece(sigmoid(task.log_odds(x)), y, 10, "mass"), 0.02)

    def test_smaller_ensemble_is_a_prefix(self):
        x, y = GaussianTask().sample(200, seed=3)
        small = SubspaceEnsemble(2, seed=5).fit(x, y).member_decisions(x)
        large = SubspaceEnsemble(4, seed=5).fit(x, y).member_decisions(x)
        np.testing.assert_array_equal(small, large[:2])


if __name__ == "__main__":
    unittest.main()
