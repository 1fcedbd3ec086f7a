import unittest

import numpy as np

from stochopt.averaging import ExponentialAverage, TailAverage
from stochopt.config import parse_override
from stochopt.optimizers import build_optimizer
from stochopt.problems import NoisyQuadratic, make_least_squares
from stochopt.runner import run_finite_sum, run_quadratic
from stochopt.sampling import ORDERS, epoch_indices
from stochopt.schedules import build_schedule


class Optimizers(unittest.TestCase):
    def test_zero_momentum_is_sgd(self):
        problem = NoisyQuadratic.power_law(5)
        expected = run_quadratic(problem, build_optimizer("sgd"), 0.3, 20, 2, 3, seed=4)
        for name in ("heavy_ball", "nesterov"):
            rule = build_optimizer(name, momentum=0.0)
            np.testing.assert_allclose(run_quadratic(problem, rule, 0.3, 20, 2, 3, 4), expected)

    def test_first_adaptive_step_is_the_sign(self):
        grad = np.array([[4.0, -0.01]])
        for name in ("adagrad", "adam"):
            rule = build_optimizer(name)
            rule.reset(grad.shape)
            step = rule.step(np.zeros_like(grad), grad, 0.1)
            np.testing.assert_allclose(step, [[-0.1, 0.1]], rtol=1e-5)

    def test_unknown_name(self):
        with self.assertRaises(ValueError):
            build_optimizer("lion")


class Sampling(unittest.TestCase):
    def epochs(self, order):
        return list(epoch_indices(order, 6, 3, 4, np.random.default_rng(0)))

    def test_shapes(self):
        for order in ORDERS:
            for block in self.epochs(order):
                self.assertEqual(block.shape, (6, 4))

    def test_permutations(self):
        for order in ("reshuffle", "shuffle_once", "cyclic"):
            for block in self.epochs(order):
                np.testing.assert_array_equal(
                    np.sort(block, axis=0), np.tile(np.arange(6)[:, None], (1, 4))
                )

    def test_repetition(self):
        first, second, _ = self.epochs("shuffle_once")
        np.testing.assert_array_equal(first, second)
        first, second, _ = self.epochs("reshuffle")
        self.assertFalse(np.array_equal(first, second))

    def test_one_iterate_per_epoch(self):
        problem = make_least_squares(6, 2)
        runs = list(run_finite_sum(problem, build_optimizer("sgd"), 0.01, 3, "cyclic", 4, 0))
        self.assertEqual(len(runs), 3)
        self.assertEqual(runs[-1].shape, (4, 2))


class SchedulesAndAverages(unittest.TestCase):
    def test_schedules_start_at_one(self):
        for name in ("constant", "linear", "cosine", "staircase", "inverse_sqrt", "inverse_time"):
            self.assertAlmostEqual(build_schedule(name)(0, 10), 1.0)

    def test_staircase(self):
        schedule = build_schedule("staircase", drops=1, factor=0.5)
        self.assertEqual([schedule(k, 4) for k in range(4)], [1.0, 1.0, 0.5, 0.5])

    def test_tail_average(self):
        average = TailAverage(start=1)
        for value in (9.0, 1.0, 2.0, 3.0):
            average.update(np.array([value]))
        np.testing.assert_allclose(average.value, [2.0])

    def test_exponential_average(self):
        average = ExponentialAverage(0.5)
        average.update(np.array([2.0]))
        average.update(np.array([4.0]))
        np.testing.assert_allclose(average.value, [3.0])

    def test_override(self):
        self.assertEqual(parse_override("steps=20"), ("steps", 20))
        self.assertEqual(parse_override("name=abc"), ("name", "abc"))


if __name__ == "__main__":
    unittest.main()
