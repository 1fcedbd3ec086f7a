"""Environments of tasks: their packages, installed once, seen read-only by every sandbox.

``plans`` decides from a recipe what is to be had here, ``building`` makes it, ``shelf`` keeps what was
made. Code of packages runs only in sandboxes: wheels are unpacked, and what has none is built inside.
"""

from expbench.environments.building import build
from expbench.environments.index import IndexAccess
from expbench.environments.interpreters import Interpreter, Places, interpreters
from expbench.environments.plans import EnvironmentPlan, own_names, plan
from expbench.environments.shelf import Environment, EnvironmentRecord, Freed, Installed, Shelf

__all__ = [
    "Environment",
    "EnvironmentPlan",
    "EnvironmentRecord",
    "Freed",
    "IndexAccess",
    "Installed",
    "Interpreter",
    "Places",
    "Shelf",
    "build",
    "interpreters",
    "own_names",
    "plan",
]
