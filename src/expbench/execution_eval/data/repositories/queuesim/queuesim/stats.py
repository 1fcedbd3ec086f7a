"""Summaries of samples, without any library."""

import math
import random


def mean(values):
    return sum(values) / len(values)


def sd(values):
    middle = mean(values)
    return math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - 1))


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def bootstrap(values, draws=400, seed=0, level=0.95):
    """Percentile interval of the mean."""
    rng = random.Random(seed)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(draws))
    cut = int((1 - level) / 2 * draws)
    return means[cut], means[-cut - 1]


def welch(a, b):
    """Statistic and two-sided p value (normal approximation) of a difference of means."""
    error = math.sqrt(sd(a) ** 2 / len(a) + sd(b) ** 2 / len(b))
    z = (mean(a) - mean(b)) / error
    return z, math.erfc(abs(z) / math.sqrt(2))
