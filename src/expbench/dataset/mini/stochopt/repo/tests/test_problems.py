import unittest

import numpy as np

from stochopt.metrics import mean_log10, steps_to_target, suboptimality
from stochopt.problems import NoisyQuadratic, make_least_squares, make_logistic


def numerical_gradient(problem, w, step=1e-6):
    gradient = np.zeros_like(w)
    for k in range(w.shape[1]):
        shift = np.zeros_like(w)
        shift[:, k] = step
        gradient[:, k] = (problem.loss(w + shift) - problem.loss(w - shift)) / (2.0 * step)
    return gradient


class FiniteSums(unittest.TestCase):
    def setUp(self):
        self.problems = [make_least_squares(30, 4, seed=1), make_logistic(30, 4, seed=1)]
        self.w = np.random.default_rng(2).standard_normal((3, 4))

    def test_full_gradient(self):
        for problem in self.problems:
            np.testing.assert_allclose(
                problem.full_gradient(self.w), numerical_gradient(problem, self.w), atol=1e-6
            )

    def test_sample_gradients_average_to_the_full_gradient(self):
        for problem in self.problems:
            total = sum(problem.sample_gradient(self.w, np.full(3, i)) for i in range(problem.n))
            np.testing.assert_allclose(total / problem.n, problem.full_gradient(self.w))

    def test_minimiser_is_stationary(self):
        for problem in self.problems:
            gradient = problem.full_gradient(problem.minimiser()[None, :])
            self.assertLess(np.abs(gradient).max(), 1e-10)

    def test_suboptimality_is_positive(self):
        for problem in self.problems:
            self.assertTrue(np.all(suboptimality(problem, self.w, problem.minimiser()) > 0.0))


class Quadratic(unittest.TestCase):
    def test_initial_loss_is_half_the_dimension(self):
        problem = NoisyQuadratic.power_law(8, exponent=1.3)
        np.testing.assert_allclose(problem.loss(problem.initial_point(2)), 4.0)

    def test_noise_scales_with_batch_size(self):
        problem = NoisyQuadratic([1.0, 0.25], noise_std=3.0)
        w = np.zeros((20000, 2))
        noise = problem.gradient(w, 9, np.random.default_rng(0))
        np.testing.assert_allclose(noise.std(axis=0), [1.0, 0.5], rtol=0.03)

    def test_rejects_flat_directions(self):
        with self.assertRaises(ValueError):
            NoisyQuadratic([1.0, 0.0])


class Metrics(unittest.TestCase):
    def test_mean_log10(self):
        self.assertAlmostEqual(mean_log10([1e-2, 1e-4]), -3.0)

    def test_steps_to_target(self):
        self.assertEqual(steps_to_target([3.0, 2.0, 1.0], 2.0), 1)
        self.assertIsNone(steps_to_target([3.0, 2.0], 0.5))


if __name__ == "__main__":
    unittest.main()
