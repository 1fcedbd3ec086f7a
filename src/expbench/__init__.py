"""Evaluate AI agents on complete research experiments, with scores that can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from expbench.export import RunTables

__version__ = "0.1.0"


def load(run: str | Path) -> RunTables:
    """The tables of the run in a folder: ``outcomes``, ``items``, ``claims``, ``usage`` (docs/data.md).

    Raises:
        NotFoundError: there is no run.
        DataError: its files are not what they should be.
    """
    from expbench.export import load as load_tables

    return load_tables(run)
