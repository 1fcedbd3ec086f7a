"""Several runs that were begun at once: a folder of ordinary runs, one for each agent with each model.

Each run is whole by itself, so every command that takes a run takes one of them; ``matrix.json`` in the
folder above names them in order, so that the folder can be gone on with as one. :mod:`expbench.crossing`
begins them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from expbench.errors import DataError, NotFoundError
from expbench.paths import RunPaths
from expbench.runs import Run, load
from expbench.schema import Record


class Matrix(Record):
    """The file: when it was made, and the folders of its runs."""

    format: Literal[1] = 1
    created: str
    runs: tuple[str, ...]


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
