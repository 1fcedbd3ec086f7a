"""The programs of the studies; ``{repeats}`` is filled in."""

GAPS = """\
import json
import numpy as np
from banditlab import GaussianBandit, make_policy, make_streams, simulate
from banditlab.environments import single_best
from banditlab.metrics import cumulative_regret, mean_and_error

SEED, ARMS, ROUNDS, RUNS = 11, 5, 1000, {repeats}
GAPS = [0.15, 0.3, 0.6, 1.2]
POLICIES = {
    "eps-greedy": ("epsilon-greedy", {"epsilon": 0.1}),
    "ucb1": ("ucb1", {"scale": 2.0}),
    "thompson": ("thompson", {"prior_mean": 0.0, "prior_std": 1.0}),
}
values = {}
for gap in GAPS:
    for label, (name, options) in POLICIES.items():
        streams = make_streams(SEED)
        env = GaussianBandit(single_best(RUNS, ARMS, gap, streams["layout"]), 1.0, streams["noise"])
        policy = make_policy(name, RUNS, ARMS, streams["policy"], sigma=1.0, **options)
        mean, error = mean_and_error(cumulative_regret(simulate(policy, env, ROUNDS)))
        values[f"{label}@{gap}"] = round(mean, 3)
        print(f"gap {gap:<5} {label:12s} regret {mean:8.2f} +- {error:.2f}")
print("RESULT " + json.dumps(values))
"""

BATCHES = """\
import json
import numpy as np
from banditlab import GaussianBandit, make_policy, make_streams
from banditlab.environments import shuffled

RUNS, ROUNDS, SIZES = {repeats}, 2000, [1, 50, 400]
OPTIONS = {"ucb1": {"scale": 2.0}, "epsilon-greedy": {"epsilon": 0.1}, "softmax": {"temperature": 0.2}}

def play(policy, env, size):
    total, pending = np.zeros(env.n_runs), []
    for t in range(ROUNDS):
        arms = np.full(env.n_runs, t) if t < env.n_arms else policy.select()
        total += env.regret(arms)
        pending.append((arms, env.pull(arms)))
        env.advance()
        if t < env.n_arms or (t - env.n_arms + 1) % size == 0:
            for pair in pending:
                policy.update(*pair)
            pending = []
    return total.mean()

values = {}
for size in SIZES:
    for name, options in OPTIONS.items():
        streams = make_streams(37)
        means = shuffled([1.0, 0.8, 0.6, 0.4, 0.2, 0.0], RUNS, streams["layout"])
        env = GaussianBandit(means, 0.5, streams["noise"])
        policy = make_policy(name, RUNS, 6, streams["policy"], sigma=0.5, **options)
        values[f"{name}@{size}"] = round(float(play(policy, env, size)), 3)
        print(f"batch {size:4d}  {name:15s} {values[f'{name}@{size}']:9.2f}")
print("RESULT " + json.dumps(values))
"""

BUDGET = """\
import json
import numpy as np
from recal.calibrators import make_calibrator
from recal.data import GaussianTask
from recal.metrics import brier
from recal.models import GaussianNB

REPEATS, SIZES = {repeats}, [20, 60, 200, 2000]
METHODS = ["none", "temperature", "platt", "beta", "isotonic"]
task = GaussianTask(dim=10, shift=0.3, rho=0.5, scales=[1.0, 1.5], prior=0.5)
x_test, y_test = task.sample(2000, 9)
scores = {}
for r in range(REPEATS):
    model = GaussianNB().fit(*task.sample(500, 1000 + r))
    test = model.decision(x_test)
    for n in SIZES:
        x, y = task.sample(n, 2000 + r)
        for method in METHODS:
            p = make_calibrator(method).fit(model.decision(x), y).predict(test)
            scores.setdefault(f"{method}@{n}", []).append(brier(p, y_test))
values = {key: round(float(np.mean(rows)), 5) for key, rows in scores.items()}
for n in SIZES:
    print(f"n={n:<5}", "  ".join(f"{m} {values[f'{m}@{n}']:.4f}" for m in METHODS))
print("RESULT " + json.dumps(values))
"""

WINDOWS = """\
import json
import numpy as np
from shiftcast import SeriesSpec, create, make_panel, rolling_origin
from shiftcast.metrics import mase

SERIES, SEED, HORIZON = {repeats}, 23, 12
WINDOWS = {"48": 48, "72": 72, "120": 120, "all": None}
values = {}
for kind in ("level", "slope"):
    panel = make_panel(kind, SERIES, SeriesSpec(), SEED)
    for distance in (12, 48, 108):
        for label, window in WINDOWS.items():
            errors = []
            for series in panel:
                test = rolling_origin(
                    series, lambda: create("ar", lags=(1, 12)), [180 + distance], HORIZON, window=window
                )
                errors.append(mase(test.actuals - test.forecasts, test.scales).mean())
            values[f"{label}@{kind}-{distance}"] = round(float(np.mean(errors)), 4)
        print(kind, distance, {w: values[f"{w}@{kind}-{distance}"] for w in WINDOWS})
print("RESULT " + json.dumps(values))
"""

RULES = """\
import json
import numpy as np
from stochopt.optimizers import build_optimizer
from stochopt.problems import NoisyQuadratic
from stochopt.runner import run_quadratic

REPLICAS = {repeats}
RULES = {"sgd": {}, "nesterov": {"momentum": 0.9}, "adagrad": {"eps": 1e-8},
         "adam": {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}}
problem = NoisyQuadratic.power_law(50, 1.0, 1.0)
values = {}
for batch in (1, 128, 16384):
    for name, options in RULES.items():
        losses = []
        for k in range(-6, 2):
            history = run_quadratic(problem, build_optimizer(name, **options), lr=2.0**k, steps=100,
                                    batch_size=batch, replicas=REPLICAS, seed=0)
            losses.append(history[-1] if np.isfinite(history[-1]) else np.inf)
        values[f"{name}@{batch}"] = float(f"{min(losses):.5g}")
        print(f"batch {batch:6d} {name:10s} loss {min(losses):.5g} at lr 2^{int(np.argmin(losses)) - 6}")
print("RESULT " + json.dumps(values))
"""

ORDERS = """\
import json
from stochopt.averaging import TailAverage
from stochopt.metrics import suboptimality
from stochopt.optimizers import build_optimizer
from stochopt.problems import make_least_squares
from stochopt.runner import run_finite_sum

REPLICAS, EPOCHS = {repeats}, 80
problem = make_least_squares(100, 10, condition=10.0, noise=0.5, seed=0)
optimum, smooth = problem.minimiser(), problem.smoothness()
values = {}
for factor in (0.05, 0.4):
    for order in ("replacement", "reshuffle", "shuffle_once", "cyclic"):
        tail, last = TailAverage(40), None
        for last in run_finite_sum(problem, build_optimizer("sgd"), factor / smooth, EPOCHS, order,
                                   1 if order == "cyclic" else REPLICAS, 1):
            tail.update(last)
        values[f"{order}@{factor}/L"] = float(f"{suboptimality(problem, last, optimum).mean():.5g}")
        averaged = suboptimality(problem, tail.value, optimum).mean()
        print(f"{factor}/L {order:13s} last {values[f'{order}@{factor}/L']:.3e} tail {averaged:.3e}")
print("RESULT " + json.dumps(values))
"""

ERRORS = """\
import json
import numpy as np
from semscale.metrics import skeleton_errors
from semscale.sem import make_instance
from semscale.skeleton import pc_skeleton

REPS, SIZES = {repeats}, [100, 400, 1600]
values = {}
for ratio in (0.0, 0.25, 1.0):
    for alpha in (0.05, 0.001):
        for n in SIZES:
            f1 = []
            for rep in range(REPS):
                rng = np.random.default_rng([37, rep])
                inst = make_instance(rng, n, 10, 2.0, 0.5, 1.5, noise="gaussian")
                noise = np.random.default_rng([37, rep, 5]).standard_normal(inst.data.shape)
                seen = inst.data + np.sqrt(ratio) * inst.data.std(axis=0) * noise
                f1.append(skeleton_errors(inst.adj, pc_skeleton(seen, alpha, 2))["f1"])
            values[f"alpha={alpha}@ratio={ratio} n={n}"] = round(float(np.mean(f1)), 4)
            print(ratio, alpha, n, values[f"alpha={alpha}@ratio={ratio} n={n}"])
print("RESULT " + json.dumps(values))
"""
