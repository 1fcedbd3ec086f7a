"""``expbench export``: a run's data as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, RunArgument, do

EPILOG = "Example: expbench export runs/NAME --out tables"


def export(
    folder: RunArgument,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the files [default: NAME-tables, here].")
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="csv, or parquet (extra `data`).")] = "csv",
    json: JsonOption = False,
) -> None:
    """Write a run's outcomes, items, claims and usage as tables for other programs."""

    def body() -> int:
        from rich.console import Console

        from expbench.errors import NotFoundError
        from expbench.export import FORMATS, load, write

        chosen = next((each for each in FORMATS if each == kind), None)
        if chosen is None:
            raise NotFoundError(f"There is no format {kind!r}: choose csv or parquet.")
        tables = load(folder)
        files = write(tables, out or Path(folder.absolute().name + "-tables"), chosen)
        console = Console()
        if json:
            rows = {table.name: len(table) for table in tables.every}
            console.print_json(data={"files": [str(file) for file in files], "rows": rows})
            return 0
        for file, table in zip(files, tables.every, strict=True):
            console.print(
                f"{file}: {len(table)} rows", soft_wrap=True, highlight=False, markup=False
            )
        return 0

    do(body)
