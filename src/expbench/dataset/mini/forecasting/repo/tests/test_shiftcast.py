"""Unit tests: series, forecasters, rolling origins, metrics and combinations.

Run from the root of the repository: ``PYTHONPATH=. python -m unittest discover -s tests``
"""

import unittest

import numpy as np

from shiftcast import available, create, rolling_origin
from shiftcast.combine import equal_mean, inverse_error_weights, median, weighted
from shiftcast.metrics import coverage, mase, seasonal_scale, smape, winkler
from shiftcast.series import KINDS, SeriesSpec, make_panel


class SeriesTest(unittest.TestCase):
    def test_panels_are_reproducible(self):
        spec = SeriesSpec(length=60, break_at=30)
        for kind in KINDS:
            np.testing.assert_array_equal(
                make_panel(kind, 3, spec, seed=1), make_panel(kind, 3, spec, seed=1)
            )

    def test_kinds_agree_before_the_break(self):
        spec = SeriesSpec(length=60, break_at=30)
        stable = make_panel("stable", 2, spec, seed=4)
        for kind in KINDS[1:]:
            other = make_panel(kind, 2, spec, seed=4)
            np.testing.assert_allclose(other[:, :30], stable[:, :30])
            self.assertGreater(np.abs(other[:, 31:] - stable[:, 31:]).max(), 0.1)

    def test_level_jump_size(self):
        spec = SeriesSpec(length=60, break_at=30, jump=7.0)
        gap = make_panel("level", 4, spec, seed=2) - make_panel("stable", 4, spec, seed=2)
        np.testing.assert_allclose(np.abs(gap[:, 30:]), 7.0)

    def test_unknown_kind(self):
        with self.assertRaises(ValueError):
            make_panel("cliff", 1, SeriesSpec(), seed=0)


class ModelTest(unittest.TestCase):
    def setUp(self):
        t = np.arange(96)
        self.series = 50.0 + 0.5 * t + 4.0 * np.sin(2.0 * np.pi * t / 12)

    def test_core_models_are_registered(self):
        for name in ("ar", "holtwinters", "sdrift", "snaive"):
            self.assertIn(name, available())

    def test_seasonal_naive_repeats_the_last_year(self):
        forecast = create("snaive").fit(self.series).predict(15)
        np.testing.assert_allclose(forecast[:12], self.series[-12:])
        np.testing.assert_allclose(forecast[12:], self.series[-12:-9])

    def test_drift_is_exact_without_noise(self):
        forecast = create("sdrift").fit(self.series[:72]).predict(24)
        np.testing.assert_allclose(forecast, self.series[72:])

    def test_autoregression_is_exact_without_noise(self):
        forecast = create("ar", lags=(1, 12, 13)).fit(self.series[:72]).predict(12)
        np.testing.assert_allclose(forecast, self.series[72:84], atol=1e-6)

    def test_window_limits_the_training_data(self):
        seen = []

        class Spy:
            def fit(self, history):
                seen.append(history.size)
                return self

            def predict(self, horizon):
                return np.zeros(horizon)

        rolling_origin(self.series, Spy, [40, 60, 80], 6, window=50)
        self.assertEqual(seen, [40, 50, 50])

    def test_scale_uses_the_whole_history(self):
        test = rolling_origin(self.series, lambda: create("snaive"), [60], 6, window=24)
        self.assertAlmostEqual(float(test.scales[0]), 6.0, places=6)


class MetricsTest(unittest.TestCase):
    def test_scale_and_mase(self):
        scale = seasonal_scale(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), period=2)
        self.assertEqual(scale, 2.0)
        np.testing.assert_allclose(mase(np.array([[4.0, -1.0]]), np.array([scale])), [[2, 0.5]])

    def test_smape(self):
        self.assertAlmostEqual(smape(np.array([50.0]), np.array([150.0])), 100.0)

    def test_interval_measures(self):
        actual = np.array([0.0, 5.0])
        low, high = np.array([-1.0, 1.0]), np.array([1.0, 3.0])
        np.testing.assert_array_equal(coverage(actual, low, high), [1.0, 0.0])
        np.testing.assert_allclose(winkler(actual, low, high, alpha=0.5), [2.0, 10.0])

    def test_combinations(self):
        stack = np.array([[1.0, 1.0], [2.0, 5.0], [9.0, 6.0]])
        np.testing.assert_allclose(equal_mean(stack), [4.0, 4.0])
        np.testing.assert_allclose(median(stack), [2.0, 5.0])
        weights = inverse_error_weights(np.array([[1.0], [4.0]]))
        np.testing.assert_allclose(weights, [0.8, 0.2])
        np.testing.assert_allclose(weighted(stack[:2], weights), [1.2, 1.8])


if __name__ == "__main__":
    unittest.main()
