"""SVRG inner-loop length, SAGA and reshuffled SGD at an equal budget of gradient passes."""

import argparse

from stochopt.config import add_config_arguments, load_config
from stochopt.metrics import format_table, mean_log10, print_summary, suboptimality
from stochopt.optimizers import build_optimizer
from stochopt.problems import make_logistic
from stochopt.runner import run_finite_sum
from stochopt.variance_reduced import saga, svrg, svrg_passes


def reshuffled_sgd(problem, lr, config):
    """Last iterate of constant-step SGD after ``budget_passes`` reshuffled epochs."""
    epochs = config["budget_passes"]
    w = None
    for w in run_finite_sum(
        problem,
        build_optimizer("sgd"),
        lr,
        epochs,
        "reshuffle",
        config["replicas"],
        config["seed"],
    ):
        pass
    return w


def outer_rounds(inner_steps, n, budget):
    """Number of SVRG rounds that spend the budget exactly."""
    rounds = round(budget / svrg_passes(1, inner_steps, n))
    if abs(svrg_passes(rounds, inner_steps, n) - budget) > 1e-9:
        raise ValueError(f"inner length {inner_steps} does not divide the budget {budget}")
    return rounds


def run_ridge(lam, config):
    """All methods at one ridge parameter: {method: mean log10 suboptimality}."""
    problem = make_logistic(
        config["n"],
        config["dim"],
        condition=config["condition"],
        lam=lam,
        flip=config["flip"],
        seed=config["data_seed"],
    )
    optimum = problem.minimiser()
    smoothness = problem.smoothness()
    print(f"ridge {lam:g}: L = {smoothness:.4f}, L / ridge = {smoothness / lam:.0f}")

    def score(w):
        return mean_log10(suboptimality(problem, w, optimum))

    budget = config["budget_passes"]
    replicas, seed = config["replicas"], config["seed"]
    scores = {"sgd": score(reshuffled_sgd(problem, config["sgd_step_factor"] / smoothness, config))}
    for step_factor in config["step_factors"]:
        lr = step_factor / smoothness
        tag = f"s{step_factor:.2f}"
        scores[f"saga_{tag}"] = score(saga(problem, lr, budget, replicas, seed))
        for inner_factor in config["inner_factors"]:
            inner_steps = int(inner_factor * problem.n)
            rounds = outer_rounds(inner_steps, problem.n, budget)
            w = svrg(problem, lr, rounds, inner_steps, replicas, seed)
            scores[f"svrg{inner_factor:g}n_{tag}"] = score(w)
    return scores


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_config_arguments(parser, "configs/variance_reduction.json")
    args = parser.parse_args()
    config = load_config(args.config, args.set)
    results = {lam: run_ridge(lam, config) for lam in config["ridge"]}
    methods = list(results[config["ridge"][0]])
    rows = [[m, *(f"{results[lam][m]:.2f}" for lam in config["ridge"])] for m in methods]
    print("mean log10 suboptimality")
    print(format_table(["method", *(f"ridge {lam:g}" for lam in config["ridge"])], rows))
    if args.summary:
        values = {f"{m}_r{lam:g}": results[lam][m] for lam in config["ridge"] for m in methods}
        print_summary(args.summary, values)


if __name__ == "__main__":
    main()
