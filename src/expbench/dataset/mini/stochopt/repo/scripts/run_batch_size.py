"""Batch size against update rule on the noisy quadratic, learning rates tuned per cell."""

import argparse

from stochopt.config import add_config_arguments, load_config
from stochopt.metrics import format_table, print_summary
from stochopt.optimizers import build_optimizer
from stochopt.problems import NoisyQuadratic
from stochopt.runner import run_quadratic
from stochopt.tuning import at_edge, power_of_two_grid, tune_learning_rate


def evaluate_cell(problem, name, options, batch_size, config):
    """Tune one (optimiser, batch size) cell; returns (best_lr, best_loss, losses)."""

    def final_loss(lr):
        history = run_quadratic(
            problem,
            build_optimizer(name, **options),
            lr=lr,
            steps=config["steps"],
            batch_size=batch_size,
            replicas=config["replicas"],
            seed=config["seed"],
        )
        return history[-1]

    grid = power_of_two_grid(config["lr_log2_low"], config["lr_log2_high"])
    best_lr, best_loss, losses = tune_learning_rate(final_loss, grid)
    if at_edge(best_lr, grid):
        print(f"warning: {name} at batch {batch_size} chose the grid's border {best_lr}")
    return best_lr, best_loss, losses


def run(config):
    """All cells: {(batch_size, optimizer): (lr, loss)}."""
    problem = NoisyQuadratic.power_law(
        config["dim"], config["spectrum_exponent"], config["noise_std"]
    )
    cells = {}
    for batch_size in config["batch_sizes"]:
        for name, options in config["optimizers"].items():
            lr, loss, _ = evaluate_cell(problem, name, options, batch_size, config)
            cells[batch_size, name] = (lr, loss)
    return cells


def report(cells, config):
    """Print the table of tuned final losses and the ranking at every batch size."""
    names = list(config["optimizers"])
    rows = []
    for batch_size in config["batch_sizes"]:
        row = [str(batch_size)]
        for name in names:
            lr, loss = cells[batch_size, name]
            row.append(f"{loss:.4g} (lr {lr:g})")
        rows.append(row)
    print(format_table(["batch", *names], rows))
    for batch_size in config["batch_sizes"]:
        order = sorted(names, key=lambda name: cells[batch_size, name][1])
        ratio = cells[batch_size, order[1]][1] / cells[batch_size, order[0]][1]
        print(f"batch {batch_size}: {' < '.join(order)}; second / first = {ratio:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_config_arguments(parser, "configs/batch_size.json")
    args = parser.parse_args()
    config = load_config(args.config, args.set)
    cells = run(config)
    report(cells, config)
    if args.summary:
        values = {}
        for (batch_size, name), (lr, loss) in cells.items():
            values[f"loss_{name}_b{batch_size}"] = loss
            values[f"lr_{name}_b{batch_size}"] = lr
        print_summary(args.summary, values)


if __name__ == "__main__":
    main()
