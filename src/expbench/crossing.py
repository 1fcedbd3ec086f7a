"""Several agents and models at once: every agent with every model, each pair a run in a folder of all.

What the folder is stands in :mod:`expbench.matrix`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from expbench.agents import get_agent
from expbench.errors import PrerequisiteError, UserError
from expbench.matrix import Matrix, is_matrix
from expbench.paths import RunPaths
from expbench.planning import Options, plan
from expbench.runs import Run, create, write_atomically

_NAME = re.compile(r"[^A-Za-z0-9.]+")


def pairs(agents: Sequence[str], models: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Every agent with every model; one that asks no model only once, without any.

    Raises:
        UserError: an agent or model is named twice, or an agent needs a model and none is named.
    """
    for names, option in ((agents, "--agent"), (models, "--model")):
        if twice := {name for name in names if list(names).count(name) > 1}:
            raise UserError(f"{option} {min(twice)} is given twice: one run is made for each pair.")
    found: list[tuple[str, str]] = []
    for agent in agents:
        asking = get_agent(agent).needs_model and models
        found += [(agent, model) for model in (models if asking else ("",))]
    return tuple(found)


def create_matrix(
    options: Options, agents: Sequence[str], models: Sequence[str]
) -> list[tuple[Run, Options]]:
    """Plan all runs, then make their folders in ``options.out``.

    Raises:
        UserError: what would stop one of them; then no folder is made.
    """
    chosen = [
        replace(options, agent=agent, model=model, out=options.out / folder_name(agent, model))
        for agent, model in pairs(agents, models)
    ]
    names = [each.out.name for each in chosen]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UserError(
            f"Two of these agents and models would have the folder {min(twice)}: give one a run of its own."
        )
    manifests = [plan(each) for each in chosen]
    _make(
        options.out, Matrix(created=datetime.now(UTC).isoformat("T", "seconds"), runs=tuple(names))
    )
    return [
        (create(each.out, manifest), each) for each, manifest in zip(chosen, manifests, strict=True)
    ]


def folder_name(agent: str, model: str) -> str:
    """The folder of one pair, ``react+openai-gpt-5``."""
    words = [_NAME.sub("-", name).strip("-.") for name in (agent, model) if name]
    return "+".join(word[-60:].strip("-.") for word in words)


def _make(root: Path, matrix: Matrix) -> None:
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        hint = f"continue it with `expbench resume {root}` or " if is_matrix(root) else ""
        raise UserError(f"{root} is not empty: {hint}choose another folder with --out.")
    try:
        root.mkdir(parents=True, exist_ok=True)
        write_atomically(RunPaths(root).matrix, matrix.model_dump_json(indent=1).encode() + b"\n")
    except OSError as error:
        raise PrerequisiteError(
            f"{root} cannot be written ({error.strerror}): choose another folder with --out."
        ) from None
