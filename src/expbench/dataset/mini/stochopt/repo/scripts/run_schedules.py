"""Final loss of plain SGD under several learning-rate schedules (noisy quadratic)."""

import argparse

from stochopt.averaging import ExponentialAverage
from stochopt.config import add_config_arguments, load_config
from stochopt.metrics import format_table, print_summary
from stochopt.optimizers import build_optimizer
from stochopt.problems import NoisyQuadratic
from stochopt.runner import run_quadratic
from stochopt.schedules import build_schedule


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_config_arguments(parser, "configs/schedules.json")
    parser.add_argument("--ema", type=float, help="evaluate an exponential average, e.g. 0.95")
    args = parser.parse_args()
    config = load_config(args.config, args.set)
    problem = NoisyQuadratic.power_law(
        config["dim"], config["spectrum_exponent"], config["noise_std"]
    )
    final = {}
    rows = []
    for name, options in config["schedules"].items():
        history = run_quadratic(
            problem,
            build_optimizer("sgd"),
            config["lr"],
            config["steps"],
            config["batch_size"],
            config["replicas"],
            config["seed"],
            schedule=build_schedule(name, **options),
            average=None if args.ema is None else ExponentialAverage(args.ema),
        )
        final[name] = history[-1]
        middle = history[config["steps"] // 2]
        rows.append([name, f"{middle:.3f}", f"{history[-1]:.3f}"])
    print(format_table(["schedule", "half way", "final"], rows))
    if args.summary:
        print_summary(args.summary, final)


if __name__ == "__main__":
    main()
