"""What a run looks like to people: a report to keep and tables for the terminal.

``write_report`` makes ``index.html`` (one page that needs no network), ``report.md``, ``table.tex`` and
``outcomes.csv``. The way through the modules::

    ReportInput --page.build_page--> Page (plain text and numbers) --write--> templates -> files
    material  figures, facts, groups, attempts, timeline               --table--> outcomes.csv

What an agent handed in, and what a judge quoted of it, is hostile text. Views hold it as plain
text; only the templates turn it into markup, every expression is escaped on its way out, and the
page's content security policy lets no script run but its own.
"""

from expbench.report.correcting import Correction, corrections
from expbench.report.effort import spent_by_stage
from expbench.report.inputs import ReportFiles, ReportInput
from expbench.report.material import material_of
from expbench.report.terminal import (
    RunSummaries,
    RunSummary,
    matrix_table,
    summary_json,
    task_table,
    terminal_table,
)
from expbench.report.write import write_report

__all__ = [
    "Correction",
    "ReportFiles",
    "ReportInput",
    "RunSummaries",
    "RunSummary",
    "corrections",
    "material_of",
    "matrix_table",
    "spent_by_stage",
    "summary_json",
    "task_table",
    "terminal_table",
    "write_report",
]
