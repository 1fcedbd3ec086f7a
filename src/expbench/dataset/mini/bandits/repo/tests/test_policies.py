import numpy as np
import pytest

from banditlab import GaussianBandit, make_policy, make_streams, simulate
from banditlab.environments import single_best
from banditlab.io import override
from banditlab.metrics import mean_and_error, phase_share

ALWAYS_THERE = ["epsilon-greedy", "softmax", "ucb1", "discounted-ucb", "thompson"]


def play(name, seed=0, **options):
    streams = make_streams(seed)
    env = GaussianBandit(single_best(30, 3, 2.0, streams["layout"]), 0.5, streams["noise"])
    policy = make_policy(name, 30, 3, streams["policy"], sigma=0.5, **options)
    return policy, simulate(policy, env, 60)


@pytest.mark.parametrize("name", ALWAYS_THERE)
def test_policy_is_reproducible_and_better_than_chance(name):
    policy, first = play(name)
    _, second = play(name)
    assert np.array_equal(first.regret, second.regret)
    assert policy.t == 60
    assert first.optimal.mean() > 1 / 3


def test_unknown_policy():
    with pytest.raises(ValueError, match="unknown policy"):
        make_policy("oracle", 1, 2, np.random.default_rng(0))


def test_ucb_tries_every_arm_first():
    policy = make_policy("ucb1", 4, 3, np.random.default_rng(0))
    for arm in range(3):
        assert (policy.select() == arm).all()
        policy.update(policy.select(), np.zeros(4))
    assert np.isfinite(policy.index()).all()


def test_thompson_posterior_is_conjugate():
    policy = make_policy("thompson", 1, 2, np.random.default_rng(0), sigma=2.0)
    for reward in (1.0, 3.0, 2.0, 2.0):
        policy.update(np.array([0]), np.array([reward]))
    mean, std = policy.posterior()
    assert mean[0].tolist() == pytest.approx([1.0, 0.0])
    assert std[0].tolist() == pytest.approx([np.sqrt(0.5), 1.0])


def test_discounting_forgets():
    policy = make_policy("discounted-ucb", 1, 2, np.random.default_rng(0), gamma=0.5)
    for _ in range(3):
        policy.update(np.array([1]), np.array([1.0]))
    assert policy.counts[0].tolist() == pytest.approx([0.0, 1.75])


def test_metrics():
    mean, error = mean_and_error(np.array([1.0, 3.0]))
    assert (mean, error) == (2.0, 1.0)
    _, trace = play("ucb1")
    assert phase_share(trace, 20, 10, 20) >= phase_share(trace, 20, 0, 10)


def test_override_refuses_unknown_keys():
    config = {"a": 1, "b": {"c": [1, 2]}}
    assert override(config, ["a=2.5", "b.c=[3]"]) == {"a": 2.5, "b": {"c": [3]}}
    with pytest.raises(KeyError):
        override(config, ["d=1"])
