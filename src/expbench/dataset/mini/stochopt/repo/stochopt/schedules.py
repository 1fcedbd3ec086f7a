"""Learning-rate schedules: functions of (step, total_steps) that return a factor."""

import math


def constant(step, total):
    return 1.0


def linear(step, total):
    """From 1 down to 1/total."""
    return 1.0 - step / total


def cosine(step, total):
    return 0.5 * (1.0 + math.cos(math.pi * step / total))


def staircase(step, total, drops=3, factor=0.1):
    """Multiply by ``factor`` at ``drops`` equally spaced points."""
    return factor ** int((drops + 1) * step / total)


def inverse_sqrt(step, total):
    return 1.0 / math.sqrt(1.0 + step)


def inverse_time(step, total, offset=1.0):
    """offset / (offset + step)."""
    return offset / (offset + step)


_REGISTRY = {
    "constant": constant,
    "linear": linear,
    "cosine": cosine,
    "staircase": staircase,
    "inverse_sqrt": inverse_sqrt,
    "inverse_time": inverse_time,
}


def build_schedule(name, **options):
    """Return ``f(step, total) -> factor`` for a named schedule."""
    if name not in _REGISTRY:
        raise ValueError(f"unknown schedule {name!r}; known: {sorted(_REGISTRY)}")
    function = _REGISTRY[name]

    def schedule(step, total):
        return function(step, total, **options)

    return schedule
