"""Tasks: the released data set, the embedded mini suite, and the suites made of them."""

from expbench.dataset.suites import (
    SUITES,
    Oracle,
    Suite,
    load_suite,
    load_version,
    oracle,
    shipped_tree,
    suite_of,
)

__all__ = [
    "SUITES",
    "Oracle",
    "Suite",
    "load_suite",
    "load_version",
    "oracle",
    "shipped_tree",
    "suite_of",
]
