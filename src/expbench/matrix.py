"""Several agents and models at once: a folder of ordinary runs, one for each pair.

Each run is whole by itself, so every command that takes a run takes one of them; ``matrix.json`` in the
folder above names them in order, so that the folder can be gone on with as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from expbench.agents import get_agent
from expbench.errors import DataError, NotFoundError, PrerequisiteError, UserError
from expbench.paths import RunPaths
from expbench.planning import Options, plan
from expbench.runs import Run, create, load, write_atomically
from expbench.schema import Record

_NAME = re.compile(r"[^A-Za-z0-9.]+")


class Matrix(Record):
    """The file: when it was made, and the folders of its runs."""

    format: Literal[1] = 1
    created: str
    runs: tuple[str, ...]


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


def is_matrix(root: Path) -> bool:
    """Whether a folder holds several runs made at once."""
    return RunPaths(root).matrix.is_file()


def load_matrix(root: Path) -> list[Run]:
    """The runs of a folder, in order. Raises as :func:`matrix_folders` does, and DataError for a run."""
    return [load(folder) for folder in matrix_folders(root)]


def matrix_folders(root: Path) -> list[Path]:
    """The folders of the runs in a folder, in order; one that a kill left without its own is named.

    Raises:
        NotFoundError: a run's folder is not there.
        DataError: the file is damaged.
    """
    try:
        matrix = Matrix.model_validate_json(RunPaths(root).matrix.read_bytes())
    except OSError as error:
        raise DataError(f"{RunPaths(root).matrix} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "top"
        raise DataError(f"{RunPaths(root).matrix} is damaged at {where}.") from None
    if missing := [name for name in matrix.runs if not (root / name).is_dir()]:
        raise NotFoundError(
            f"{root / missing[0]} is missing: give the runs that are there one by one, or begin anew."
        )
    return [root / name for name in matrix.runs]


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
