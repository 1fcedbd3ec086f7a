"""Summary statistics over replicas, plain-text tables and one-line summaries."""

import json

import numpy as np


def suboptimality(problem, w, optimum):
    """Loss of each replica minus the loss at ``optimum`` (a vector)."""
    return problem.loss(w) - problem.loss(optimum[None, :])[0]


def mean_log10(values):
    """Mean over replicas of log10(values), i.e. the log of their geometric mean."""
    return float(np.mean(np.log10(values)))


def standard_error(values):
    values = np.asarray(values, dtype=float)
    return float(np.std(values, ddof=1) / np.sqrt(values.size))


def steps_to_target(history, target):
    """First index whose loss is at most ``target``, or None."""
    hits = np.flatnonzero(np.asarray(history) <= target)
    return int(hits[0]) if hits.size else None


def format_table(header, rows):
    """Align a list of rows (sequences of str) under ``header``."""
    table = [list(header)] + [list(row) for row in rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in table]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def print_summary(label, values):
    """Print ``label`` and a JSON object of rounded numbers on one line."""
    rounded = {key: float(f"{value:.6g}") for key, value in values.items()}
    print(label, json.dumps(rounded, sort_keys=True))
