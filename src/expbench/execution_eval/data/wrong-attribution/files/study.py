import numpy as np

from banditlab.environments import GaussianBandit, single_best
from banditlab.metrics import cumulative_regret, mean_and_error, optimal_share
from banditlab.policies import make_policy
from banditlab.runner import make_streams, simulate

for name, options in (("epsilon-greedy", {"epsilon": 0.1}), ("ucb1", {}), ("thompson", {})):
    s = make_streams(4)
    env = GaussianBandit(single_best(200, 5, 0.5, s["layout"]), 0.5, s["noise"])
    trace = simulate(make_policy(name, 200, 5, s["policy"], **options), env, 1000)
    mean, error = mean_and_error(cumulative_regret(trace))
    print(f"{name:16s} regret {mean:6.2f} (s.e. {error:.2f})  best arm in last 200 rounds {optimal_share(trace, 800):.3f}")
