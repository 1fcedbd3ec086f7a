"""The simulation: jobs wait in a list, the discipline chooses which one is next."""

import random

DISCIPLINES = {
    "fifo": lambda waiting, rng: 0,
    "lifo": lambda waiting, rng: len(waiting) - 1,
    "sjf": lambda waiting, rng: min(range(len(waiting)), key=lambda i: waiting[i][1]),
    "random": lambda waiting, rng: rng.randrange(len(waiting)),
}


def simulate(discipline, load, jobs, seed=None, warmup=200):
    """Waiting times of ``jobs`` jobs after the warm-up; services have mean 1.

    Without a seed every call is another sample.
    """
    rng = random.Random(seed)
    choose = DISCIPLINES[discipline]
    pick = random.Random(None if seed is None else seed + 1)
    waits, waiting = [], []
    clock, free = 0.0, 0.0
    arrival = rng.expovariate(load)
    while len(waits) < jobs + warmup:
        if not waiting and arrival > free:
            free = arrival
        while arrival <= free:
            waiting.append((arrival, rng.expovariate(1.0)))
            arrival += rng.expovariate(load)
        came, service = waiting.pop(choose(waiting, pick))
        waits.append(free - came)
        free += service
    return waits[warmup:]
