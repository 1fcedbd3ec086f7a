"""A run's data for other programs: plain columns, data frames, CSV and Parquet.

::

    Run --rows--> lines of outcomes, items, claims, usage --tables--> Table --> frame, csv, parquet
                  columns: the schema of each, documented in docs/data.md
"""

from expbench.export.columns import TABLES, Column
from expbench.export.tables import FORMATS, Format, RunTables, Table, load, write

__all__ = ["FORMATS", "TABLES", "Column", "Format", "RunTables", "Table", "load", "write"]
