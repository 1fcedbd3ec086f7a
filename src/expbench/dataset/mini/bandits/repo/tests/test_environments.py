import numpy as np
import pytest

from banditlab.environments import GaussianBandit, SwitchingBandit, shuffled, single_best


def test_single_best_has_one_positive_arm_per_run():
    means = single_best(50, 4, 0.7, np.random.default_rng(0))
    assert means.shape == (50, 4)
    assert np.allclose(means.sum(axis=1), 0.7)
    assert len(set(means.argmax(axis=1))) == 4


def test_regret_is_distance_to_the_best_mean():
    env = GaussianBandit(np.array([[0.0, 1.0], [2.0, 0.5]]), 1.0, np.random.default_rng(0))
    assert env.regret(np.array([0, 1])).tolist() == [1.0, 1.5]


def test_means_must_be_two_dimensional():
    with pytest.raises(ValueError):
        GaussianBandit(np.zeros(3), 1.0, np.random.default_rng(0))


def test_best_arm_moves_at_every_change():
    env = SwitchingBandit(
        [1.0, 0.0, 0.0], 20, 30, 2, 0.1, np.random.default_rng(1), np.random.default_rng(2)
    )
    assert env.change_points() == [10, 20]
    best = []
    for _ in range(30):
        best.append(env.means.argmax(axis=1))
        env.advance()
    assert (best[0] == best[9]).all()
    assert (best[9] != best[10]).all()
    assert (best[19] != best[20]).all()
    assert (best[20] == best[29]).all()


def test_shuffled_keeps_the_profile():
    means = shuffled([0.1, 0.2, 0.3], 10, np.random.default_rng(3))
    assert np.allclose(np.sort(means, axis=1), [0.1, 0.2, 0.3])
