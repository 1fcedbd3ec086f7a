import csv
import sys

from stochopt import NoisyQuadratic, build_optimizer
from stochopt.runner import run_quadratic

problem = NoisyQuadratic.power_law(20)
out = csv.writer(sys.stdout)
out.writerow(["rule", "batch_size", "final_loss"])
for batch in (1, 64, 4096):
    for rule in ("sgd", "nesterov", "adam"):
        best = min(run_quadratic(problem, build_optimizer(rule), lr, 100, batch, 64, 0)[-1]
                   for lr in (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625))
        out.writerow([rule, batch, f"{best:.5g}"])
