"""Tables of columns, and what they can be turned into.

A table is plain lists by column name, which every data library takes, so reading a run needs none.
``frame`` asks for pandas and ``parquet`` for pyarrow (extra ``data``): both are what people who want a data
frame or Parquet have already, and too heavy for everybody else. CSV needs nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from expbench.errors import PrerequisiteError, UserError
from expbench.export.columns import TABLES, Column, Type, Value
from expbench.export.rows import ROWS
from expbench.report.text import printable
from expbench.runs import load as load_run
from expbench.runs import write_atomically

if TYPE_CHECKING:
    import pandas
    import pyarrow

Format = Literal["csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
_PANDAS: dict[Type, str] = {
    "text": "string",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "boolean",
}
_ARROW: dict[Type, str] = {
    "text": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool_",
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Table:
    """A table: ``columns`` by name, all of one length; ``schema`` says what is in them."""

    name: str
    schema: tuple[Column, ...]
    columns: Mapping[str, list[Value]]

    @classmethod
    def of(cls, name: str, rows: Iterable[Mapping[str, Value]]) -> Table:
        """The table of that name from rows; what a row does not have is missing."""
        schema, lines = TABLES[name], list(rows)
        found = {each.name: [line.get(each.name) for line in lines] for each in schema}
        return cls(name, schema, found)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def frame(self) -> pandas.DataFrame:
        """As a pandas data frame with types that can be missing. Raises PrerequisiteError."""
        try:
            import pandas
        except ImportError:
            raise _missing("Data frames need pandas") from None
        types = {each.name: _PANDAS[each.type] for each in self.schema}
        return pandas.DataFrame(dict(self.columns)).astype(types)

    def arrow(self) -> pyarrow.Table:
        """As an Arrow table. Raises PrerequisiteError."""
        try:
            import pyarrow
        except ImportError:
            raise _missing("Parquet needs pyarrow") from None
        fields = [(each.name, getattr(pyarrow, _ARROW[each.type])()) for each in self.schema]
        return pyarrow.table(dict(self.columns), schema=pyarrow.schema(fields))

    def csv(self) -> bytes:
        """As comma-separated values in UTF-8; missing values are empty, truth is ``true`` or ``false``.

        Invisible characters are shown as what they are, and a text that a spreadsheet would run as a formula
        gets an apostrophe in front.
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(map(_cell, row) for row in zip(*self.columns.values(), strict=True))
        return file.getvalue().encode()

    def parquet(self) -> bytes:
        """As a Parquet file. Raises PrerequisiteError."""
        table = self.arrow()
        from pyarrow import parquet

        file = io.BytesIO()
        parquet.write_table(table, file)
        return file.getvalue()


@dataclass(frozen=True)
class RunTables:
    """A run as tables: attempts, the judge's items, the conclusions' claims, requests to models."""

    name: str
    outcomes: Table
    items: Table
    claims: Table
    usage: Table

    @property
    def every(self) -> tuple[Table, ...]:
        """All tables."""
        return (self.outcomes, self.items, self.claims, self.usage)


def load(run: str | Path) -> RunTables:
    """The tables of the run in a folder.

    Raises:
        NotFoundError: there is no run.
        DataError: its files are not what they should be.
    """
    opened = load_run(Path(run))
    tables = {name: Table.of(name, rows(opened)) for name, rows in ROWS.items()}
    return RunTables(name=opened.manifest.name, **tables)


def write(tables: RunTables, folder: Path, kind: Format) -> list[Path]:
    """Write all tables into a folder, one file each; files of these names are replaced.

    Raises:
        UserError: it cannot be written.
        PrerequisiteError: Parquet is asked for without pyarrow.
    """
    contents = {
        folder / f"{table.name}.{kind}": table.csv() if kind == "csv" else table.parquet()
        for table in tables.every
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            write_atomically(path, content, sync=False)
    except OSError as error:
        raise UserError(
            f"{folder} cannot be written ({error.strerror}): choose another folder with --out."
        ) from None
    return list(contents)


def _cell(value: Value) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _missing(what: str) -> PrerequisiteError:
    return PrerequisiteError(f"{what}: install expbench with the extra `data`.")
