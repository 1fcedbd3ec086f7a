"""Configs, tables and result files shared by the scripts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path


def load_config(path: str | Path) -> dict:
    """Read a JSON config."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def study_parser(description: str, default_config: str) -> argparse.ArgumentParser:
    """The options that every study script has in common."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--config", default=default_config, help="JSON config of the study")
    parser.add_argument("--repeats", type=int, help="override the number of repetitions")
    parser.add_argument("--out", help="also write the results to this JSON file")
    return parser


def format_table(header: Sequence[str], rows: Sequence[Sequence[object]], digits: int = 4) -> str:
    """Align a table; floats are printed with ``digits`` decimals."""
    text = [[f"{v:.{digits}f}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    table = [list(header), *text]
    widths = [max(len(row[j]) for row in table) for j in range(len(header))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)) for row in table]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def save_json(path: str | Path | None, payload: object) -> None:
    """Write ``payload`` when a path is given."""
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(payload, indent=2) + "\n", encoding="utf-8")
