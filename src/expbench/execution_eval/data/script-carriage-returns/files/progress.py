import sys
import time

from queuesim import mean, simulate

means = []
for seed in range(40):
    means.append(mean(simulate("sjf", 0.8, 3000, seed)))
    sys.stdout.write(f"\r{seed + 1:3d}/40 |{'#' * (seed // 2):20s}| {2.5 * (seed + 1):5.1f}%")
    sys.stdout.flush()
print(f"\nSJF at load 0.8: mean wait {mean(means):.3f} over {len(means)} seeds")
