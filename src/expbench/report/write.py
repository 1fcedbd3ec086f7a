"""Writes a report's folder, all of it or nothing.

The files are made in a folder beside the destination and moved in its place when they are complete.
An old report is replaced; a folder that holds anything else is refused, since replacing deletes.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import shutil
import zlib
from pathlib import Path

from expbench.errors import DataError
from expbench.redaction import redacted
from expbench.report.inputs import ReportFiles, ReportInput
from expbench.report.page import Page, build_page
from expbench.report.table import outcomes_csv
from expbench.report.templating import html_templates, latex_templates, markdown_templates

_PACKAGE = "expbench.report"
_LEVEL = 3
"""Of compression: the next one takes half as long again for a page that is 5 % smaller."""


def write_report(run: ReportInput, dest: Path) -> ReportFiles:
    """Write ``index.html``, ``report.md``, ``table.tex`` and ``outcomes.csv`` to the folder ``dest``.

    Raises :class:`InfrastructureError` when the run's attempts are not accounted for, and
    :class:`DataError` when ``dest`` holds something that is not a report.
    """
    dest = dest.resolve()
    final = ReportFiles(dest)
    _refuse_foreign(final)
    page = build_page(run)
    texts = {
        final.html.name: render_html(page),
        final.markdown.name: render_markdown(page),
        final.latex.name: render_latex(page),
        final.csv.name: outcomes_csv(run),
    }
    token = secrets.token_hex(4)
    fresh = dest.with_name(f".{dest.name}.{token}.new")
    fresh.mkdir(parents=True)
    try:
        for name, text in texts.items():
            (fresh / name).write_text(redacted(text), encoding="utf-8", newline="\n")
        swap(fresh, dest, dest.with_name(f".{dest.name}.{token}.old"))
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return final


def render_html(page: Page) -> str:
    """The page as one HTML file that loads nothing."""
    environment = html_templates(_PACKAGE)
    environment.filters["packed"] = _packed
    script = environment.get_template("report.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("index.html").render(page=page, script_digest=digest)


def render_markdown(page: Page) -> str:
    """The report without the submissions' texts, as Markdown."""
    environment = markdown_templates(_PACKAGE)
    return environment.get_template("report.md").render(page=page)


def render_latex(page: Page) -> str:
    """The run as a row of the publication's Table 1."""
    return latex_templates(_PACKAGE).get_template("report.tex").render(page=page)


def _packed(body: str) -> str:
    """A part of the page, compressed; its secrets are hidden before, since nobody finds them afterwards."""
    return base64.b64encode(zlib.compress(redacted(body).encode(), level=_LEVEL)).decode()


def _refuse_foreign(files: ReportFiles) -> None:
    if not files.root.exists():
        return
    own = {path.name for path in (files.html, files.markdown, files.latex, files.csv)}
    if not files.root.is_dir() or {path.name for path in files.root.iterdir()} - own:
        raise DataError(f"{files.root} holds something that is not a report; name another folder")


def swap(fresh: Path, dest: Path, old: Path) -> None:
    """Put ``fresh`` in the place of ``dest``, and the old one back if that fails."""
    if not dest.exists():
        fresh.rename(dest)
        return
    dest.rename(old)
    try:
        fresh.rename(dest)
    except OSError:
        old.rename(dest)
        raise
    shutil.rmtree(old)
