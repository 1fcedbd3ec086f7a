"""Run with ``python -m unittest discover tests`` from the root."""

import unittest

import numpy as np

from recal.calibrators import CALIBRATORS, Histogram, Isotonic, Temperature, make_calibrator
from recal.data import make_scores
from recal.numerics import logit


class TestCalibrators(unittest.TestCase):
    def setUp(self):
        p, self.true, self.y = make_scores(6000, seed=11, sharpness=3.0)
        self.score = logit(p)

    def test_outputs_are_probabilities(self):
        for name in CALIBRATORS:
            p = make_calibrator(name).fit(self.score, self.y).predict(self.score)
            self.assertTrue(np.all((p >= 0) & (p <= 1)), name)

    def test_temperature_is_recovered(self):
        model = Temperature().fit(self.score, self.y)
        self.assertAlmostEqual(model.temperature_, 3.0, delta=0.25)

    def test_isotonic_is_monotone(self):
        model = Isotonic().fit(self.score, self.y)
        grid = np.linspace(-12, 12, 200)
        self.assertTrue(np.all(np.diff(model.predict(grid)) >= 0))

    def test_isotonic_pools_violators(self):
        model = Isotonic().fit(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1]))
        np.testing.assert_allclose(model.value_, [0.0, 0.5, 1.0])

    def test_histogram_with_few_examples(self):
        model = Histogram(n_bins=10).fit(np.array([-1.0, 0.0, 2.0]), np.array([0, 1, 1]))
        np.testing.assert_allclose(model.predict(np.array([-5.0, 0.1, 9.0])), [0, 1, 1])

    def test_unknown_name(self):
        with self.assertRaises(KeyError):
            make_calibrator("vector")


if __name__ == "__main__":
    unittest.main()
