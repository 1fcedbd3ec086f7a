"""Writes a board's folder, all of it or nothing.

The files are made in a folder beside the destination and moved in its place when they are complete. An old
board is replaced; a folder that holds anything else is refused, since replacing deletes.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from expbench.board.board import Board
from expbench.board.record import record
from expbench.board.rendering import Extra, render_html, render_latex, render_markdown
from expbench.board.table import outcomes_csv
from expbench.errors import PrerequisiteError, UserError
from expbench.redaction import redacted
from expbench.report import ReportFiles
from expbench.report.write import swap

REPORTS = "runs"
"""The folder of runs' own reports, where they could not be written beside the runs."""


@dataclass(frozen=True)
class BoardFiles(ReportFiles):
    """The files of a board's folder: those of a report, and its numbers."""

    @property
    def data(self) -> Path:
        return self.root / "leaderboard.json"


def write_board(board: Board | None, dest: Path, extra: Extra | None = None) -> BoardFiles:
    """Write the page, ``report.md``, ``table.tex``, ``outcomes.csv`` and ``leaderboard.json``.

    Args:
        board: ``None`` where nothing could be taken in; ``extra`` says what was refused.

    Raises:
        UserError: ``dest`` holds something that is no board.
        PrerequisiteError: it cannot be written.
    """
    files = BoardFiles(dest.absolute())
    check_own(files)
    made = record(board, extra.sources, extra.refused) if extra else record(board)
    texts = {
        files.html.name: render_html(board, extra),
        files.markdown.name: render_markdown(board, extra),
        files.latex.name: render_latex(board),
        files.csv.name: outcomes_csv(board.standings if board else ()),
        files.data.name: made.model_dump_json(indent=1) + "\n",
    }
    try:
        _replace(files, texts)
    except OSError as error:
        raise PrerequisiteError(
            f"{dest} cannot be written ({error.strerror}): choose another folder with --out."
        ) from None
    return files


def check_own(files: BoardFiles) -> None:
    """Refuse a folder whose files are another's. Raises UserError."""
    own = {each.name for each in (files.html, files.markdown, files.latex, files.csv, files.data)}
    root = files.root
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise UserError(f"{root} is no folder: choose another with --out.")
    if root.exists() and (strange := {path.name for path in root.iterdir()} - own - {REPORTS}):
        raise UserError(
            f"{root} holds something that is no board ({min(strange)!r}): choose another folder with --out."
        )


def _replace(files: BoardFiles, texts: Mapping[str, str]) -> None:
    dest, token = files.root, secrets.token_hex(4)
    fresh = dest.with_name(f".{dest.name}.{token}.new")
    fresh.mkdir(parents=True)
    try:
        for name, text in texts.items():
            (fresh / name).write_text(redacted(text), encoding="utf-8", newline="\n")
        if (dest / REPORTS).is_dir():
            shutil.copytree(dest / REPORTS, fresh / REPORTS, symlinks=True)
        swap(fresh, dest, dest.with_name(f".{dest.name}.{token}.old"))
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
